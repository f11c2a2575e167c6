/** Where a working day of sales begins: what is due, what is mine, what is new. */
import { useQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import { useLive } from "@/api/events";
import { Link } from "@/app/router";
import { useMay, useSession } from "@/app/session";
import { Failure, ScreenHead, Skeleton } from "@/kit";
import { DemoNote } from "@/screens/pipeline/Demo";
import { FirstVisit } from "@/screens/pipeline/FirstVisit";
import { texts } from "@/texts/home";
import { LeadPanel } from "./LeadPanel";
import { Searches } from "./Searches";
import "@/screens/pipeline/pipeline.css";
import "./home.css";

const DUE = "follow_up_on:at_most:P0D";
const MINE = "owner_id:equal:me";
const NEW = "first_seen_at:at_least:-P7D";
const LEADS = "/curate/companies";
const REFRESH_MS = 60_000;

const listOf = (...filters: string[]) =>
  `${LEADS}?${new URLSearchParams(filters.map((one) => ["filter", one]))}`;

export default function Home() {
  const maySearch = useMay("curate");
  const { data: session } = useSession();
  const { data, error, refetch } = useQuery({
    queryKey: ["home"],
    queryFn: () => read("/home"),
    refetchInterval: REFRESH_MS,
  });
  useLive("action", () => void refetch());
  const mine = Object.values(data?.mine ?? {}).reduce((sum, count) => sum + count, 0);
  const most = data?.counted_to ?? Number.POSITIVE_INFINITY;
  // Nobody assigns leads to a laptop: without an account there are no leads of one's own.
  const hasOwn = session?.via !== "local" || mine > 0;
  const isEmpty = data && data.searches.length === 0 && data.unassigned + mine === 0;
  return (
    <div className="screen">
      <ScreenHead
        title={texts.home.home}
        about={
          data ? texts.home.about(data.new_this_week, data.follow_ups_due) : texts.home.loading
        }
        actions={
          maySearch && (
            <Link to="/search" className="button primary">
              {texts.home.newSearch}
            </Link>
          )
        }
      />
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={8} />}
      {data && <DemoNote />}
      {isEmpty && <FirstVisit />}
      {data && !isEmpty && (
        <>
          <div className="tiles">
            <Tile
              to={listOf(DUE)}
              name={texts.home.followUpsDue}
              count={data.follow_ups_due}
              most={most}
              tone={data.follow_ups_due ? "bad" : ""}
            />
            {hasOwn && (
              <Tile to={listOf(MINE)} name={texts.home.myLeads} count={mine} most={most} />
            )}
            <Tile
              to={listOf(NEW)}
              name={texts.home.newThisWeek}
              count={data.new_this_week}
              most={most}
            />
            <Tile
              to={listOf("owner_id:unknown")}
              name={texts.home.unassigned}
              count={data.unassigned}
              most={most}
            />
          </div>
          <div className="home-columns">
            <div className="stack wide">
              <LeadPanel
                title={texts.home.followUpsDue}
                filter={DUE}
                sort="follow_up_on"
                to={listOf(DUE)}
                empty={texts.home.nothingDue}
              />
              {hasOwn && (
                <LeadPanel
                  title={texts.home.myLeads}
                  filter={MINE}
                  sort="-updated_at"
                  to={listOf(MINE)}
                  empty={texts.home.noneAreYours}
                />
              )}
              <LeadPanel
                title={texts.home.newThisWeek}
                filter={NEW}
                sort="-first_seen_at"
                to={listOf(NEW)}
                empty={texts.home.nothingNew}
              />
            </div>
            <Searches searches={data.searches} />
          </div>
        </>
      )}
    </div>
  );
}

interface TileProps {
  to: string;
  name: string;
  count: number;
  /** Counting ended there. */
  most: number;
  tone?: string;
}

function Tile({ to, name, count, most, tone = "" }: TileProps) {
  return (
    <Link to={to} className="tile panel">
      <span className={`tile-count number ${tone}`}>{texts.home.orMore(count, most)}</span>
      <span className="soft">{name}</span>
    </Link>
  );
}
