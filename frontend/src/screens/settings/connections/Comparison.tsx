/** What a run would write, compared with what is there now, with what it takes and how long. */
import { useState } from "react";
import { recordScreen } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { Button, duration, Table, whole } from "@/kit";
import { texts } from "@/texts/connections";
import { useFieldsThere } from "./fields";
import type { CrmConnection } from "./shown";

/** Each has a dozen fields: of hundreds nobody finds the button below. */
const SHOWN_FIRST = 5;

interface Change {
  from: unknown;
  to: unknown;
}
interface Sample {
  id: string;
  their_id: string | null;
  changes: Record<string, Change>;
}

interface ComparisonProps {
  connection: CrmConnection;
  kind: "companies" | "contacts";
  compared: Schemas["CrmDifferenceOut"];
}

/** What goes along with the leads, below them: it is of the other kind. */
export function Comparison({ connection, kind, compared }: ComparisonProps) {
  const { along, total, price, seconds } = compared;
  const takes = Object.entries(price).flatMap(([meter, units]) =>
    units > 0 ? [texts.comparison.unit(Math.ceil(units), meter)] : [],
  );
  return (
    <section className="stack" aria-label={texts.comparison.title}>
      <p className="soft">
        {texts.comparison.takes(
          [...new Set(takes)].join(" and "),
          seconds < 1 ? null : duration(seconds),
        )}
      </p>
      {total > compared.compared && (
        <p className="soft">{texts.comparison.compared(whole(compared.compared), whole(total))}</p>
      )}
      <Changes connection={connection} kind={kind} compared={compared} />
      {along && (
        <>
          <h3>{texts.comparison.along[along.kind]}</h3>
          <Changes
            connection={connection}
            kind={kind === "companies" ? "contacts" : "companies"}
            compared={along}
          />
        </>
      )}
    </section>
  );
}

function Changes({ connection, kind, compared }: ComparisonProps) {
  const schema = useFieldsThere(connection, compared.kind);
  const labelOf = (name: string) =>
    schema.data?.fields.find((one) => one.name === name)?.label ?? name;
  const samples = compared.samples as unknown as readonly Sample[];
  const [isAll, setAll] = useState(false);
  const shown = isAll ? samples : samples.slice(0, SHOWN_FIRST);
  const lines = shown.flatMap((sample) =>
    Object.entries(sample.changes).map(([field, change], place) => ({
      ...sample,
      ...change,
      field,
      isFirst: place === 0,
    })),
  );
  return (
    <>
      <p role="status">
        {texts.comparison.summary({
          creates: whole(compared.creates),
          updates: whole(compared.updates),
          unchanged: whole(compared.unchanged),
          refused: whole(compared.refused),
        })}
      </p>
      {compared.matched > 0 && <p>{texts.comparison.matched(whole(compared.matched))}</p>}
      {Object.keys(compared.kept).length > 0 && (
        <p className="soft">
          {texts.comparison.kept(
            Object.entries(compared.kept)
              .map(([field, count]) => `${labelOf(field)} (${whole(count)})`)
              .join(", "),
          )}
        </p>
      )}
      {lines.length > 0 && (
        <Table
          label={texts.comparison.fieldsOf(kind)}
          rows={lines}
          keyOf={({ id, field }) => `${id} ${field}`}
          columns={[
            {
              name: texts.comparison.lead,
              // Once for each: its other fields follow below.
              show: ({ id, changes, their_id, isFirst }) =>
                isFirst && (
                  <Link to={recordScreen(kind, id)}>
                    <span className="foreign">{String(changes.name?.to ?? their_id ?? "–")}</span>
                  </Link>
                ),
            },
            { name: texts.comparison.field, show: ({ field }) => labelOf(field) },
            {
              name: texts.comparison.there,
              show: ({ from }) => <span className="foreign soft">{String(from ?? "–")}</span>,
            },
            {
              name: texts.comparison.written,
              show: ({ to }) => <strong className="foreign">{String(to ?? "–")}</strong>,
            },
          ]}
        />
      )}
      {samples.length > shown.length && (
        <Button small onClick={() => setAll(true)}>
          {texts.comparison.showAll(samples.length)}
        </Button>
      )}
    </>
  );
}
