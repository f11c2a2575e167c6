/** What was written to a CRM, the latest first, and what could not be. */
import { useQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import { recordScreen } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { Badge, Empty, Failure, Panel, Skeleton, Table, Time } from "@/kit";
import { texts } from "@/texts/connections";
import { useLabelsThere } from "./fields";
import type { CrmConnection } from "./shown";

const LISTS: Record<string, string> = { company: "companies", person: "contacts" };

type Written = Pick<Schemas["SyncRecordOut"], "kind" | "record_id" | "their_id" | "label">;

/** The lead by its name; one that is gone here only has its number there. */
export function Lead({ of: { kind, record_id: id, their_id: number, label } }: { of: Written }) {
  return (
    <Link to={recordScreen(LISTS[kind] ?? "companies", id)}>
      <span className="foreign">{label ?? texts.log.numbered(kind, number ?? "–")}</span>
    </Link>
  );
}

export interface WritesProps {
  connection: CrmConnection;
  /** Changes when there may be more. */
  version: number;
}

export function Writes({ connection, version }: WritesProps) {
  const { id } = connection;
  const labelOf = useLabelsThere(connection);
  const path = { connection_id: id };
  const log = useQuery({
    queryKey: ["crm-log", id, version],
    queryFn: () => read("/connections/{connection_id}/log", { path }),
    placeholderData: (before) => before,
  });
  if (log.error) return <Failure error={log.error} retry={() => void log.refetch()} />;
  if (!log.data) return <Skeleton lines={6} />;
  if (log.data.items.length === 0) return <Empty icon="list" title={texts.log.nothing} />;
  return (
    <Panel flush title={texts.parts.log}>
      <Table
        label={texts.parts.log}
        rows={log.data.items}
        keyOf={(one) => one.id}
        columns={[
          { name: texts.log.when, show: ({ created_at }) => <Time at={created_at} /> },
          {
            name: texts.log.record,
            show: (one) => <Lead of={one} />,
          },
          {
            name: texts.log.what,
            show: ({ is_new, undone_at }) => (
              <>
                <Badge>{is_new ? texts.log.made : texts.log.changed}</Badge>{" "}
                {undone_at && <Badge tone="warn">{texts.log.undone}</Badge>}
              </>
            ),
          },
          {
            name: texts.log.values,
            show: ({ kind, is_new, before, after }) => (
              <ul className="small foreign">
                {Object.entries(after).map(([field, value]) => (
                  <li key={field}>
                    {labelOf(kind, field)}: {!is_new && `${String(before[field] ?? "–")} → `}
                    {String(value ?? "–")}
                  </li>
                ))}
              </ul>
            ),
          },
        ]}
      />
    </Panel>
  );
}

export function Problems({ connection, version }: WritesProps) {
  const { id } = connection;
  const labelOf = useLabelsThere(connection);
  const path = { connection_id: id };
  const problems = useQuery({
    queryKey: ["crm-problems", id, version],
    queryFn: () => read("/connections/{connection_id}/problems", { path }),
    placeholderData: (before) => before,
  });
  if (problems.error)
    return <Failure error={problems.error} retry={() => void problems.refetch()} />;
  if (!problems.data) return <Skeleton lines={6} />;
  if (problems.data.items.length === 0) return <Empty icon="check" title={texts.problems.none} />;
  return (
    <Panel flush title={texts.parts.problems}>
      <Table
        label={texts.parts.problems}
        rows={problems.data.items}
        keyOf={(one) => one.id}
        columns={[
          {
            name: texts.log.record,
            show: (one) => <Lead of={one} />,
          },
          { name: texts.list.state, show: ({ state }) => texts.states[state] ?? state },
          {
            name: texts.problems.why,
            show: ({ kind, problem }) => (
              <span className="foreign">
                {Object.entries(problem)
                  .map(([field, why]) => `${labelOf(kind, field)}: ${String(why)}`)
                  .join("; ")}
              </span>
            ),
          },
        ]}
      />
    </Panel>
  );
}
