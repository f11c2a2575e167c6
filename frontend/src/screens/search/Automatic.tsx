/** The automatic path: rules that take what searches find to verified contacts. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import { type Kind, kinds } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { Checkbox, Panel, toast, toastError } from "@/kit";
import { texts as format } from "@/texts/format";
import { texts } from "@/texts/search";

type Rule = Schemas["RuleOut"];

const RULES = ["rules"] as const;

const LIST = new Intl.ListFormat(format.language);

const ruleName = (kind: Kind): string => `Automatic: ${kind.many}`;

/** The kinds that are decided about where nobody does. */
const decided = (): readonly Kind[] => kinds().filter(({ unattended }) => unattended !== null);

export function Automatic() {
  const queries = useQueryClient();
  const rules = useQuery({ queryKey: RULES, queryFn: () => read("/rules") });
  const known = rules.data ?? [];
  const ruleOf = (kind: Kind) => known.find(({ name }) => name === ruleName(kind));
  const isOn = decided().every((kind) => ruleOf(kind)?.is_enabled);
  const turn = useMutation({
    mutationFn: (on: boolean) =>
      Promise.all(decided().map((kind) => switched(kind, ruleOf(kind), on))),
    onSuccess: (_, on) =>
      toast({
        kind: "good",
        text: on ? texts.automatic.newRecordsAreTakenOn : texts.automatic.youDecideAgain,
      }),
    onError: (error) => toastError(error),
    onSettled: () => queries.invalidateQueries({ queryKey: RULES }),
  });
  if (!rules.data) return null;
  return (
    <Panel title={texts.automatic.automatic}>
      <Checkbox
        label={texts.automatic.takeNewPlacesAllTheWay}
        checked={isOn}
        disabled={turn.isPending}
        onChange={(event) => turn.mutate(event.target.checked)}
      />
      <p className="small soft">
        {texts.automatic.rulesThenSelectTheOfEvery(LIST.format(decided().map(({ many }) => many)))}
      </p>
      <p className="small">
        <Link to="/rules">{texts.automatic.seeTheRules}</Link>
      </p>
    </Panel>
  );
}

/** Switch a kind's rule on or off; it is made when it is first needed. */
async function switched(kind: Kind, rule: Rule | undefined, isOn: boolean): Promise<unknown> {
  if (rule) {
    return write("PATCH", "/rules/{rule_id}", {
      path: { rule_id: rule.id },
      body: { is_enabled: isOn },
      headers: { "If-Match": rule.etag },
    });
  }
  if (!isOn) return undefined;
  return write("POST", "/rules", {
    body: {
      name: ruleName(kind),
      kind: kind.name as Schemas["RuleIn"]["kind"],
      conditions: [...(kind.unattended ?? [])],
      status: kind.on ?? "",
    },
  });
}
