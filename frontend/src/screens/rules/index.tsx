/** Rules: what is decided without a person, tried before it is switched on. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import { kindNamed } from "@/api/kinds";
import { useMay } from "@/app/session";
import {
  Button,
  Confirm,
  Dialog,
  Empty,
  Failure,
  Menu,
  Panel,
  ScreenHead,
  Skeleton,
  Status,
  Switch,
  Time,
  toast,
  toastError,
  whole,
} from "@/kit";
import { describe } from "@/screens/curate/filters";
import { type Draft, filterOf, type Rule, RuleForm } from "./RuleForm";
import "./rules.css";
import { common } from "@/texts/common";
import { texts } from "@/texts/rules";

const RULES = ["rules"] as const;

export default function Rules() {
  const queries = useQueryClient();
  const mayCurate = useMay("curate");
  const [editing, setEditing] = useState<Rule | "new" | null>(null);
  const [removing, setRemoving] = useState<Rule | null>(null);
  const [shown, setShown] = useState<Rule | null>(null);
  const rules = useQuery({ queryKey: RULES, queryFn: () => read("/rules") });
  const again = () => queries.invalidateQueries({ queryKey: RULES });

  async function attempt(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      toastError(error);
      return false;
    } finally {
      await again();
    }
  }

  async function save(draft: Draft): Promise<void> {
    const isNew = editing === "new" || editing === null;
    const { kind, ...changes } = draft;
    const isDone = await attempt(() =>
      isNew
        ? write("POST", "/rules", { body: draft })
        : write("PATCH", "/rules/{rule_id}", {
            path: { rule_id: editing.id },
            body: changes,
            headers: { "If-Match": editing.etag },
          }),
    );
    if (!isDone) return;
    setEditing(null);
    toast({
      kind: "good",
      text: texts.screen.ruleIsSavedFor(draft.name, kind.replace("_", " ")),
    });
  }

  const flip = (rule: Rule) => (isOn: boolean) =>
    void attempt(() =>
      write("PATCH", "/rules/{rule_id}", {
        path: { rule_id: rule.id },
        body: { is_enabled: isOn },
        headers: { "If-Match": rule.etag },
      }),
    );

  async function run(rule: Rule) {
    await attempt(async () => {
      const done = await write("POST", "/rules/{rule_id}/run", { path: { rule_id: rule.id } });
      toast({
        kind: "good",
        text: done.finished
          ? texts.screen.decidedOn(rule.name, done.changed)
          : texts.screen.isRunning(rule.name),
        action:
          done.action_id && done.changed
            ? { name: common.undo, run: () => undo(done.action_id as string) }
            : undefined,
      });
    });
  }

  async function undo(action: string) {
    const isDone = await attempt(() =>
      write("POST", "/actions/{action_id}/undo", { path: { action_id: action } }),
    );
    if (isDone) toast({ text: texts.screen.rulesDecisionWasUndone });
    await queries.invalidateQueries({ queryKey: ["rule-actions"] });
  }

  return (
    <div className="screen">
      <ScreenHead
        title={texts.screen.rules}
        about={texts.screen.rulesDecideOnNewRecordsAutomatically}
        actions={
          mayCurate && (
            <Button look="primary" icon="plus" onClick={() => setEditing("new")}>
              {texts.screen.newRule}
            </Button>
          )
        }
      />
      {rules.error ? (
        <Failure error={rules.error} retry={() => void rules.refetch()} />
      ) : !rules.data ? (
        <Skeleton lines={6} />
      ) : rules.data.length === 0 ? (
        <Empty
          icon="rules"
          title={texts.screen.noRulesYet}
          actions={
            mayCurate && (
              <Button look="primary" icon="plus" onClick={() => setEditing("new")}>
                {texts.screen.createARule}
              </Button>
            )
          }
        >
          <p>{texts.screen.withoutRules}</p>
        </Empty>
      ) : (
        <ul className="stack">
          {rules.data.map((rule) => (
            <li key={rule.id}>
              <Panel className={rule.is_enabled ? "" : "rule-off"}>
                <div className="row wrap rule">
                  <Switch
                    label={texts.screen.rule(rule.name)}
                    on={rule.is_enabled}
                    onChange={flip(rule)}
                    disabled={!mayCurate}
                  />
                  <div className="grow">
                    <h2 className="foreign">{rule.name}</h2>
                    <p className="soft foreign">
                      {kindNamed(rule.kind)?.title ?? rule.kind}:{" "}
                      {rule.conditions.map((one) => describe(filterOf(one))).join(", and ") ||
                        texts.screen.allOfThem}
                      {rule.best_first && texts.screen.bestPagesOnly}
                    </p>
                  </div>
                  <Status status={rule.status} field={kindNamed(rule.kind)?.status} />
                  <div className="rule-count small soft">
                    <strong className="number">{whole(rule.decided)}</strong> {texts.screen.decided}
                    <div className="faint">
                      {rule.last_decided_at ? (
                        <Time at={rule.last_decided_at} />
                      ) : (
                        texts.screen.never
                      )}
                    </div>
                  </div>
                  <Menu
                    label={texts.screen.actionsFor(rule.name)}
                    shown=""
                    icon="more"
                    look="quiet"
                    align="right"
                    items={[
                      {
                        name: texts.screen.showItsDecisions,
                        icon: "eye",
                        run: () => setShown(rule),
                      },
                      ...(mayCurate
                        ? ([
                            { name: texts.screen.runNow, icon: "play", run: () => void run(rule) },
                            { name: texts.screen.edit, icon: "edit", run: () => setEditing(rule) },
                            "line",
                            {
                              name: common.delete,
                              icon: "trash",
                              danger: true,
                              run: () => setRemoving(rule),
                            },
                          ] as const)
                        : []),
                    ]}
                  />
                </div>
              </Panel>
            </li>
          ))}
        </ul>
      )}
      {editing && (
        <RuleForm
          rule={editing === "new" ? null : editing}
          onSave={save}
          onClose={() => setEditing(null)}
        />
      )}
      {removing && (
        <Confirm
          title={texts.screen.deleteTheRule(removing.name)}
          action={common.delete}
          danger
          onClose={() => setRemoving(null)}
          onConfirm={() => {
            void attempt(() =>
              write("DELETE", "/rules/{rule_id}", { path: { rule_id: removing.id } }),
            );
            setRemoving(null);
          }}
        >
          <p>{texts.screen.itsDecisionsStay}</p>
        </Confirm>
      )}
      {shown && <RuleActions rule={shown} undo={undo} onClose={() => setShown(null)} />}
    </div>
  );
}

function RuleActions({
  rule,
  undo,
  onClose,
}: {
  rule: Rule;
  undo: (action: string) => Promise<void>;
  onClose: () => void;
}) {
  const actions = useQuery({
    queryKey: ["rule-actions", rule.id],
    queryFn: () => read("/rules/{rule_id}/actions", { path: { rule_id: rule.id } }),
  });
  return (
    <Dialog title={texts.screen.decisionsOf(rule.name)} wide onClose={onClose}>
      {actions.error ? (
        <Failure error={actions.error} retry={() => void actions.refetch()} />
      ) : !actions.data ? (
        <Skeleton lines={5} />
      ) : actions.data.items.length === 0 ? (
        <p className="soft">{texts.screen.nothingYet}</p>
      ) : (
        <ul className="rule-actions">
          {actions.data.items.map((action) => (
            <li key={action.id} className="row">
              <span className="grow">
                <Time at={action.created_at} />: {texts.screen.records(action.changed)}{" "}
                <Status status={action.status} field={kindNamed(action.kind)?.status} />
                {action.queued > 0 && (
                  <span className="soft small"> {texts.screen.queued(whole(action.queued))}</span>
                )}
              </span>
              {action.undone_at ? (
                <span className="faint small">{texts.screen.undone}</span>
              ) : (
                action.is_undoable && (
                  <Button small icon="undo" onClick={() => void undo(action.id)}>
                    {common.undo}
                  </Button>
                )
              )}
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}
