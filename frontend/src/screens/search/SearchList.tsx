import { Link } from "@/app/router";
import { causeOf, Empty, Failure, Meter, money, Panel, Skeleton, Status, short, Time } from "@/kit";
import { texts } from "@/texts/search";
import { kindOf, LIVE, placeOf, type Search, searchScreen, titleOf, useSearches } from "./data";

/** Every search, the newest first; those that run show how far they are. */
export function SearchList() {
  const { data, error, refetch } = useSearches();
  return (
    <Panel
      title={texts.searchList.searches}
      about={data ? said(data.items, data.total.count) : undefined}
      flush
    >
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Skeleton lines={5} />
      ) : data.items.length === 0 ? (
        <Empty icon="search" title={texts.searchList.noSearchesYet}>
          {texts.searchList.enterABusinessType}
        </Empty>
      ) : (
        <ul className="searches">
          {data.items.map((search) => (
            <SearchRow key={search.id} search={search} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function said(items: readonly Search[], total: number): string {
  const running = items.filter((search) => LIVE.has(search.status)).length;
  return texts.searchList.counted(total, running);
}

function SearchRow({ search }: { search: Search }) {
  const { progress } = search;
  const made = progress.requests ?? 0;
  const left = progress.requests_left ?? 0;
  return (
    <li>
      <Link to={searchScreen(search.id, search.source)} className="search-line">
        <div className="row apart">
          <span className="cut">
            <strong className="foreign">{kindOf(search)}</strong>{" "}
            <span className="soft foreign">{placeOf(search)}</span>
          </span>
          <Status status={search.status} />
        </div>
        {LIVE.has(search.status) && (
          <Meter
            label={texts.searchList.requestsMade}
            total={Math.max(made + left, 1)}
            parts={[{ value: made, tone: "accent" }]}
          />
        )}
        <div className="row wrap small soft">
          <span className="number">
            {texts.searchList.foundNew(short(search.found_count), short(search.new_count))}
          </span>
          <span>{titleOf(search.source)}</span>
          {Number(search.spent) > 0 && (
            <span>{texts.searchList.spent(money(Number(search.spent)))}</span>
          )}
          <span>
            <Time at={search.created_at} />
          </span>
        </div>
        {search.error && <div className="small bad foreign">{causeOf(search.error)}</div>}
      </Link>
    </li>
  );
}
