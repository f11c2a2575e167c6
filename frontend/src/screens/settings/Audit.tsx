/** Who changed what, and when. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Button, Failure, Panel, Skeleton, said, Table, Time, whole } from "@/kit";
import { texts } from "@/texts/settings";
import { happened } from "./happened";

type Entry = Schemas["AuditOut"];
export function Audit() {
  const audit = useInfiniteQuery({
    queryKey: ["audit"],
    queryFn: ({ pageParam }) => read("/audit", { query: { cursor: pageParam, limit: 100 } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  if (audit.error) return <Failure error={audit.error} retry={() => void audit.refetch()} />;
  if (!audit.data) return <Skeleton lines={8} />;
  return (
    <Panel flush title={texts.audit.audit} about={texts.audit.writtenOnce}>
      <Table
        label={texts.audit.audit}
        rows={audit.data.pages.flatMap(({ items }) => items)}
        keyOf={(entry) => entry.id}
        columns={[
          { name: texts.audit.when, show: (entry) => <Time at={entry.created_at} /> },
          {
            name: texts.audit.who,
            show: (entry) => <span className="foreign">{entry.actor}</span>,
          },
          {
            name: texts.audit.what,
            show: (entry) => happened(entry.action, entry.subject, entry.details),
          },
          {
            name: texts.audit.details,
            minor: true,
            show: (entry) => <span className="small soft foreign">{shortened(entry.details)}</span>,
          },
        ]}
      />
      {audit.hasNextPage && (
        <div className="row settings-more">
          <Button busy={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
            {texts.audit.earlier}
          </Button>
        </div>
      )}
    </Panel>
  );
}

const LONGEST = 160;
const COUNTS: Record<string, (count: string) => string> = texts.audit.counts;

function shortened(details: Entry["details"]): string {
  const entries = Object.entries(details ?? {}).filter(
    // That nothing was queued, or that it was a command, says nothing.
    ([name, value]) => !name.endsWith("_id") && name !== "command" && value !== 0,
  );
  const written = entries
    .map(([name, value]) => COUNTS[name]?.(whole(Number(value))) ?? said({ [name]: value }))
    .join("; ");
  return written.length > LONGEST ? `${written.slice(0, LONGEST)}…` : written;
}
