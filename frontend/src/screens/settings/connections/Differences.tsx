/** What holds another value in the CRM, and was left: whose is to stand, a person says. */
import { useQuery } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import { Badge, Button, Empty, Failure, Panel, Skeleton, Table } from "@/kit";
import { texts } from "@/texts/connections";
import { useChange } from "../change";
import { useLabelsThere } from "./fields";
import { Lead, type WritesProps } from "./Writes";

interface Differing {
  ours: unknown;
  theirs: unknown;
  asks?: boolean;
  answer?: string;
}

export function Differences({ connection, version }: WritesProps) {
  const { id } = connection;
  const labelOf = useLabelsThere(connection);
  const path = { connection_id: id };
  const key = ["crm-differences", id, String(version)];
  const { change, busy } = useChange(["crm-differences"]);
  const differences = useQuery({
    queryKey: key,
    queryFn: () => read("/connections/{connection_id}/differences", { path }),
    placeholderData: (before) => before,
  });
  if (differences.error)
    return <Failure error={differences.error} retry={() => void differences.refetch()} />;
  if (!differences.data) return <Skeleton lines={6} />;
  const rows = differences.data.items.flatMap((record) =>
    Object.entries(record.differs as Record<string, Differing>).map(([field, values]) => ({
      ...values,
      field,
      record,
    })),
  );
  if (rows.length === 0) return <Empty icon="check" title={texts.differences.none} />;
  const answer = (record_id: string, field: string, given: "ours" | "theirs") =>
    change(() =>
      write("POST", "/connections/{connection_id}/differences", {
        path,
        body: { record_id, field, answer: given },
      }),
    );
  return (
    <Panel flush title={texts.parts.differences}>
      <Table
        label={texts.parts.differences}
        rows={rows}
        keyOf={({ record, field }) => `${record.id} ${field}`}
        columns={[
          {
            name: texts.log.record,
            show: ({ record }) => <Lead of={record} />,
          },
          {
            name: texts.comparison.field,
            show: ({ record, field }) => labelOf(record.kind, field),
          },
          {
            name: texts.differences.here,
            show: ({ ours }) => <span className="foreign">{String(ours ?? "–")}</span>,
          },
          {
            name: texts.differences.there,
            show: ({ theirs }) => <span className="foreign">{String(theirs ?? "–")}</span>,
          },
          {
            name: texts.differences.whose,
            show: ({ record, field, asks, answer: said }) => (
              <div className="row wrap">
                {asks && <Badge tone="warn">{texts.differences.asks}</Badge>}
                {said === "theirs" && <Badge>{texts.differences.leftAsItIs}</Badge>}
                <Button busy={busy} onClick={() => void answer(record.record_id, field, "ours")}>
                  {texts.differences.ours}
                </Button>
                {said !== "theirs" && (
                  <Button
                    busy={busy}
                    onClick={() => void answer(record.record_id, field, "theirs")}
                  >
                    {texts.differences.theirs}
                  </Button>
                )}
              </div>
            ),
          },
        ]}
      />
    </Panel>
  );
}
