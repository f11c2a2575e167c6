/** Who changed what, and when. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Button, Failure, Panel, Skeleton, said, Table, Time } from "@/kit";
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
            show: (entry) => happened(entry.action, entry.subject),
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

function shortened(details: Entry["details"]): string {
  const entries = Object.entries(details ?? {}).filter(([name]) => !name.endsWith("_id"));
  const written = entries.length ? said(Object.fromEntries(entries)) : "";
  return written.length > LONGEST ? `${written.slice(0, LONGEST)}…` : written;
}
