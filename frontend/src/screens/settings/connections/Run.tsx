/** Which leads are written: seen as they would stand there, compared with what is there, then sent. */
import { useState } from "react";
import { write } from "@/api/client";
import { kindNamed } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { Button, Panel, Select, Table, toastError } from "@/kit";
import { conditionOf, fieldWord, readFilter } from "@/screens/curate/filters";
import { texts } from "@/texts/connections";
import { useChange } from "../change";
import { Comparison } from "./Comparison";
import { CONNECTIONS, type CrmConnection } from "./shown";

type Kind = "companies" | "contacts";
interface Preview {
  id: string;
  refusal: string | null;
  values: readonly { field: string; label: string; value: unknown }[];
  unmatched: Record<string, string>;
}
const KINDS: readonly Kind[] = ["companies", "contacts"];
const EVERYBODY = "";

export function Run({ connection }: { connection: CrmConnection }) {
  const path = { connection_id: connection.id };
  const { change, busy } = useChange(CONNECTIONS);
  const [kind, setKind] = useState<Kind>("companies");
  const [filter, setFilter] = useState(EVERYBODY);
  const [isAsking, setAsking] = useState(false);
  const [shown, setShown] = useState<readonly Preview[] | null>(null);
  const [compared, setCompared] = useState<Schemas["CrmDifferenceOut"] | null>(null);
  const found = kindNamed(kind);
  const condition = readFilter(filter);
  const leads = { kind, filter: condition ? [conditionOf(condition)] : [] };

  function forget() {
    setShown(null);
    setCompared(null);
  }

  async function ask(work: () => Promise<void>) {
    setAsking(true);
    try {
      await work();
    } catch (error) {
      toastError(error);
    }
    setAsking(false);
  }

  const preview = () =>
    ask(async () => {
      const answer = await write("POST", "/connections/{connection_id}/preview", {
        path,
        body: leads,
      });
      setCompared(null);
      setShown(answer.items);
    });
  const compare = () =>
    ask(async () => {
      const answer = await write("POST", "/connections/{connection_id}/difference", {
        path,
        body: leads,
      });
      setShown(null);
      setCompared(answer);
    });

  async function run() {
    const body = { ...leads, again: false };
    const queued = await change(
      () => write("POST", "/connections/{connection_id}/run", { path, body }),
      texts.run.queued,
    );
    if (queued) forget();
  }

  return (
    <Panel title={texts.parts.run} about={texts.run.about}>
      <div className="stack">
        <div className="crm-choice">
          <Select
            label={texts.run.what}
            value={kind}
            options={KINDS.map((value) => ({ value, label: kindNamed(value)?.title ?? value }))}
            onChange={({ target }) => {
              setKind(target.value as Kind);
              setFilter(EVERYBODY);
              forget();
            }}
          />
          <Select
            label={texts.run.which}
            value={filter}
            options={[
              { value: EVERYBODY, label: texts.run.all },
              ...(found?.quickFilters ?? []).map((one) => ({
                value: one.filter,
                label: one.title,
              })),
            ]}
            onChange={({ target }) => {
              setFilter(target.value);
              forget();
            }}
          />
        </div>
        <div className="row wrap">
          <Button busy={isAsking} onClick={() => void preview()}>
            {texts.run.preview}
          </Button>
          <Button busy={isAsking} onClick={() => void compare()}>
            {texts.run.compare}
          </Button>
          {/* Nobody writes into a CRM before they have seen what. */}
          <Button look="primary" busy={busy} disabled={!compared} onClick={() => void run()}>
            {texts.run.write}
          </Button>
        </div>
        {compared && <Comparison connection={connection} kind={kind} compared={compared} />}
        {shown && (
          <Table
            label={texts.run.asTheyWouldStand}
            rows={shown}
            keyOf={({ id }) => id}
            columns={[
              ...labelsOf(shown).map((label) => ({
                name: label,
                show: ({ values }: Preview) => <Value value={heldIn(values, label)} />,
              })),
              {
                name: texts.run.notes,
                show: ({ refusal, unmatched }) => (
                  <>
                    {refusal && <p className="bad foreign">{refusal}</p>}
                    {Object.entries(unmatched).map(([name, value]) => (
                      <p key={name} className="small soft foreign">
                        {texts.run.noOption(fieldWord(name), value)}
                      </p>
                    ))}
                  </>
                ),
              },
            ]}
          />
        )}
      </div>
    </Panel>
  );
}

/** Every field that one of them has a value for, as it is called there. */
const labelsOf = (shown: readonly Preview[]): string[] => [
  ...new Set(shown.flatMap(({ values }) => values.map(({ label }) => label))),
];

const heldIn = (values: Preview["values"], label: string): unknown =>
  values.find((one) => one.label === label)?.value;

function Value({ value }: { value: unknown }) {
  return <span className="foreign held">{String(value ?? "–")}</span>;
}
