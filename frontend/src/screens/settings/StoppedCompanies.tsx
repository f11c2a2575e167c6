/** The companies that must not be contacted, which their status says, each lifted from here. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import { recordScreen } from "@/api/kinds";
import { Link } from "@/app/router";
import { Button, Failure, Panel, phoneShown, Skeleton, Table, Time } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
import { useChange } from "./change";

const STOPPED = ["suppressions", "companies"] as const;
const PAGE = 50;

export function StoppedCompanies() {
  const { change, busy } = useChange(STOPPED);
  const stopped = useInfiniteQuery({
    queryKey: STOPPED,
    queryFn: ({ pageParam }) =>
      read("/suppressions/companies", { query: { after: pageParam, limit: PAGE } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_after,
  });
  const rows = stopped.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Panel flush title={texts.stopped.title} about={texts.stopped.about}>
      {stopped.error ? (
        <Failure error={stopped.error} retry={() => void stopped.refetch()} />
      ) : !stopped.data ? (
        <Skeleton lines={3} />
      ) : rows.length === 0 ? (
        <p className="settings-none small soft">{texts.stopped.none}</p>
      ) : (
        <Table
          label={texts.stopped.title}
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              name: texts.stopped.company,
              show: ({ id, name, domain }) => (
                <Link to={recordScreen("companies", id)}>
                  <span className="foreign">{name ?? domain ?? texts.stopped.unnamed}</span>
                </Link>
              ),
            },
            {
              name: texts.stopped.alsoStopped,
              minor: true,
              show: ({ domain, phone }) => (
                <span className="foreign soft">
                  {[domain, phone && phoneShown(phone)].filter(Boolean).join(" · ") || "–"}
                </span>
              ),
            },
            {
              name: texts.stopped.by,
              minor: true,
              show: ({ by }) => <span className="foreign">{by ?? "–"}</span>,
            },
            {
              name: common.since,
              minor: true,
              show: ({ since }) => (since ? <Time at={since} /> : "–"),
            },
            {
              name: common.actions,
              show: ({ id }) => (
                <Button
                  small
                  busy={busy}
                  onClick={() =>
                    void change(
                      () =>
                        write("DELETE", "/suppressions/companies/{company_id}", {
                          path: { company_id: id },
                        }),
                      texts.stopped.isLifted,
                    )
                  }
                >
                  {texts.stopped.lift}
                </Button>
              ),
            },
          ]}
        />
      )}
      {stopped.hasNextPage && (
        <div className="row settings-more">
          <Button busy={stopped.isFetchingNextPage} onClick={() => void stopped.fetchNextPage()}>
            {texts.suppressions.showMore}
          </Button>
        </div>
      )}
    </Panel>
  );
}
