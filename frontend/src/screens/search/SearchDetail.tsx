import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, read, write } from "@/api/client";
import { go, Link } from "@/app/router";
import { useMay } from "@/app/session";
import {
  Button,
  Confirm,
  causeOf,
  Failure,
  Icon,
  Input,
  Meter,
  money,
  Panel,
  ScreenHead,
  Skeleton,
  Stat,
  Status,
  short,
  Time,
  toastError,
  whole,
} from "@/kit";
import { LineProblems } from "@/screens/batches/LineProblems";
import { common } from "@/texts/common";
import { texts } from "@/texts/search";
import { Completeness } from "./Completeness";
import {
  type Changes,
  companiesOf,
  FILE,
  kindOf,
  LIVE,
  placeOf,
  placesOf,
  type Search,
  searchScreen,
  shaped,
  titleOf,
} from "./data";
import { FindContacts } from "./FindContacts";
import { FoundList } from "./FoundList";
import { ImportPanel, useImported } from "./ImportPanel";
import { LeadFunnel } from "./LeadFunnel";
import { Schedule } from "./Schedule";
import { SearchMap } from "./SearchMap";

type Command = "rerun" | "cancel" | "pause" | "resume";

/** One search: how far it is, how completely the area was searched, what changed. */
export function SearchDetail({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["searches", id],
    queryFn: async () => shaped(await read("/searches/{record_id}", { path: { record_id: id } })),
    refetchInterval: ({ state }) =>
      state.data && LIVE.has(state.data.record.status) ? 1500 : false,
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton lines={6} />;
  return <Found search={data.record} changes={data.changes} />;
}

function Found({ search, changes }: { search: Search; changes: Changes }) {
  const isFile = search.source === FILE;
  // What an import made that was undone is gone: counts of it would say that it is to come.
  const isUndone = Boolean(useImported(search).data?.undone_at);
  return (
    <>
      <p className="small back">
        <Link to={isFile ? "/batches" : "/search"}>
          <Icon name="left" size={14} />{" "}
          {isFile ? texts.searchDetail.allImports : texts.searchDetail.allSearches}
        </Link>
      </p>
      <ScreenHead
        title={isFile ? placeOf(search) : `${kindOf(search)} · ${placeOf(search)}`}
        about={
          <span className="row wrap">
            <Status status={search.status} />
            <span>
              {texts.searchDetail.begun(titleOf(search.source))} <Time at={search.created_at} />
            </span>
            <Meant search={search} />
          </span>
        }
        actions={
          <>
            {search.found_count > 0 && !isUndone && (
              <>
                <Link to={placesOf(search)} className="button">
                  <Icon name="place" size={16} /> {texts.searchDetail.viewThePlaces}
                </Link>
                <Link to={companiesOf(search)} className="button">
                  <Icon name="users" size={16} /> {texts.searchDetail.viewTheCompanies}
                </Link>
              </>
            )}
            <FindContacts searchId={search.id} />
            <Commands search={search} />
          </>
        }
      />
      {search.error && <Failure error={new ApiError(0, { detail: causeOf(search.error) })} />}
      {!isUndone && <Progress search={search} />}
      <ImportPanel search={search} />
      {search.found_count > 0 && !isUndone && <Yield search={search} />}
      {search.found_count > 0 && !isFile && (
        <Completeness id={search.id} version={search.found_count} />
      )}
      {search.problems.length > 0 && (
        <Panel
          title={texts.searchDetail.linesWithProblems}
          about={texts.searchDetail.whatWasLeftOut(
            search.problems.filter((one) => one.is_left_out).length,
            search.problems.length,
          )}
        >
          <LineProblems problems={search.problems} />
        </Panel>
      )}
      {!isUndone && (
        <div className="search-columns">
          <SearchMap search={search} />
          <div className="stack wide">
            {!isFile && <Schedule searchId={search.id} />}
            {changes.previous_id && <ChangesPanel changes={changes} />}
            <FoundList search={search} />
          </div>
        </div>
      )}
    </>
  );
}

/** Companies are put together long after a search has ended. */
const YIELD_MS = 5000;

/** From places to deals: what this search has brought. */
function Yield({ search }: { search: Search }) {
  const { data } = useQuery({
    queryKey: ["searches", search.id, "funnel", search.found_count],
    queryFn: () => read("/reports/funnels", { query: { search_id: [search.id] } }),
    refetchInterval: YIELD_MS,
  });
  const [funnel] = data ?? [];
  const { companies } = useYield(search);
  // Before they are put together, a funnel of zeros would say that there are none.
  if (companies === 0) return null;
  return (
    <Panel title={texts.searchDetail.whatItBrought}>
      {funnel ? <LeadFunnel funnel={funnel} /> : <Skeleton lines={6} />}
    </Panel>
  );
}

/** What the words for the place were taken to mean, where that is more than they say. */
function Meant({ search }: { search: Search }) {
  const { located } = search.progress;
  if (!located || located.name === search.location) return null;
  const others = located.alternatives?.slice(0, 3).join("; ");
  return (
    <span className="foreign" title={others ? texts.searchDetail.otherMatches(others) : undefined}>
      {texts.searchDetail.in(located.name)}
    </span>
  );
}

const RESUMABLE = new Set(["Paused", "Error", "Cancelled", "ManualReview"]);

function Commands({ search }: { search: Search }) {
  const queries = useQueryClient();
  const may = useMay("curate");
  const [isAsking, setAsking] = useState(false);
  const command = useMutation({
    mutationFn: ({ word, budget }: { word: Command; budget?: number }) =>
      word === "rerun"
        ? write("POST", "/searches/{record_id}/rerun", { path: { record_id: search.id } })
        : write("POST", "/searches/{record_id}/{step}", {
            path: { record_id: search.id, step: word },
            ...(budget === undefined ? {} : { body: { budget } }),
          }),
    onSuccess: (answer, { word }) => {
      setAsking(false);
      void queries.invalidateQueries({ queryKey: ["searches"] });
      if (word === "rerun") go(searchScreen(answer.record.id, search.source));
    },
    onError: (error) => toastError(error),
  });
  if (!may) return null;
  const run = (word: Command) => () => command.mutate({ word });
  const busy = command.isPending;
  if (LIVE.has(search.status)) {
    return (
      <>
        <Button icon="pause" busy={busy} onClick={run("pause")}>
          {texts.searchDetail.pause}
        </Button>
        <Button icon="cross" busy={busy} onClick={run("cancel")}>
          {common.cancel}
        </Button>
      </>
    );
  }
  return (
    <>
      {RESUMABLE.has(search.status) && (
        <Button
          icon="play"
          busy={busy}
          onClick={search.budget === null ? run("resume") : () => setAsking(true)}
        >
          {common.resume}
        </Button>
      )}
      <Button icon="refresh" busy={busy} onClick={run("rerun")}>
        {texts.searchDetail.runAgain}
      </Button>
      {isAsking && (
        <BudgetDialog
          search={search}
          busy={busy}
          onClose={() => setAsking(false)}
          onResume={(budget) => command.mutate({ word: "resume", budget })}
        />
      )}
    </>
  );
}

interface BudgetProps {
  search: Search;
  busy: boolean;
  onClose: () => void;
  onResume: (budget: number) => void;
}

/** One that stopped at its budget needs a larger one to go on. */
function BudgetDialog({ search, busy, onClose, onResume }: BudgetProps) {
  const [budget, setBudget] = useState(String(Number(search.budget)));
  return (
    <Confirm
      title={texts.searchDetail.resumeTheSearch}
      action={common.resume}
      busy={busy}
      onClose={onClose}
      onConfirm={() => onResume(Number(budget))}
    >
      <div className="stack">
        <p>
          {texts.searchDetail.ofAreSpent(money(Number(search.spent)), money(Number(search.budget)))}
        </p>
        <Input
          label={texts.searchDetail.totalBudget}
          type="number"
          required
          min={Number(search.spent)}
          step="any"
          value={budget}
          onChange={(event) => setBudget(event.target.value)}
        />
      </div>
    </Confirm>
  );
}

function Progress({ search }: { search: Search }) {
  const { progress } = search;
  const made = progress.requests ?? 0;
  const left = progress.requests_left ?? 0;
  const isLive = LIVE.has(search.status);
  const { companies, contacts } = useYield(search);
  return (
    <Panel>
      <dl className="search-stats">
        <Stat
          name={texts.searchDetail.placesFound}
          value={whole(search.found_count)}
          note={newness(search)}
        />
        <Stat
          name={texts.searchDetail.companies}
          value={companies ? whole(companies) : "–"}
          note={search.found_count > 0 && companies === 0 && texts.searchDetail.soonCompanies}
        />
        <Stat
          name={texts.searchDetail.contacts}
          value={whole(contacts)}
          note={costEach(search, contacts)}
        />
        {search.source !== FILE && (
          <>
            <Stat
              name={texts.searchDetail.requests}
              value={whole(made)}
              note={isLive && (left ? texts.searchDetail.aboutLeft(short(left)) : progress.phase)}
            />
            <Stat
              name={texts.searchDetail.spent}
              value={money(Number(search.spent))}
              note={
                search.budget === null
                  ? texts.searchDetail.noBudgetSet
                  : texts.searchDetail.ofBudget(money(Number(search.budget)))
              }
            />
          </>
        )}
        <Stat
          name={texts.searchDetail.finished}
          value={search.finished_at ? <Time at={search.finished_at} /> : "–"}
        />
      </dl>
      {isLive && (
        <Meter
          label={texts.searchDetail.requestsMade}
          total={Math.max(made + left, 1)}
          parts={[{ value: made, tone: "accent" }]}
        />
      )}
    </Panel>
  );
}

/** What has come of a search so far; its places are worked on long after it has ended. */
function useYield({ id, found_count }: Search): { companies: number; contacts: number } {
  const { data } = useQuery({
    queryKey: ["searches", id, "yield"],
    queryFn: async () => {
      const query = { filter: `search_id:equal:${id}`, limit: 1 };
      const [companies, contacts] = await Promise.all([
        read("/companies", { query }),
        read("/contacts", { query }),
      ]);
      return { companies: companies.total.count, contacts: contacts.total.count };
    },
    enabled: found_count > 0,
    refetchInterval: YIELD_MS,
  });
  return data ?? { companies: 0, contacts: 0 };
}

function costEach({ spent }: Search, contacts: number): string {
  return contacts && Number(spent) ? texts.searchDetail.each(money(Number(spent) / contacts)) : "";
}

function newness({ found_count, new_count }: Search): string {
  if (found_count === 0) return "";
  return new_count ? texts.searchDetail.countedNew(whole(new_count)) : texts.searchDetail.noneNew;
}

const GROUPS = [
  ["new", texts.searchDetail.newOnes, "good"],
  ["changed", texts.searchDetail.changed, "warn"],
  ["gone", texts.searchDetail.gone, "bad"],
] as const;

function ChangesPanel({ changes }: { changes: Changes }) {
  return (
    <Panel
      title={texts.searchDetail.changesSinceLastRun}
      about={texts.searchDetail.comparedWithThePreviousRun}
    >
      {GROUPS.map(([key, name, tone]) => (
        <section key={key} className="changes">
          <h3>
            {name} <span className={`number ${tone}`}>{whole(changes[`${key}_count`])}</span>
          </h3>
          <ul className="small soft">
            {changes[key].map((place) => (
              <li key={place.id} className="foreign cut">
                {place.label}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Panel>
  );
}
