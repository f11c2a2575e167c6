import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useDeferredValue, useEffect, useState } from "react";
import { Button, Failure, Field, Input, Panel, Select, toast } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/search";
import { AreaPicker } from "./AreaPicker";
import { estimate, type SearchIn, type Source, start, titleOf, useSources } from "./data";
import { EstimateView } from "./EstimateView";
import { NOTHING, remaining, searchesOf, summed, type Wanted } from "./wanted";

/** What and where; the price is shown before anything is spent. */
export function SearchForm() {
  const queries = useQueryClient();
  const sources = useSources();
  const [wanted, setWanted] = useState<Wanted>(NOTHING);
  const change = (part: Partial<Wanted>) => setWanted((before) => ({ ...before, ...part }));
  const first = firstChoice(sources.data ?? []);
  useEffect(() => {
    if (first) setWanted((before) => (before.source ? before : { ...before, source: first }));
  }, [first]);
  const chosen = sources.data?.find((source) => source.name === wanted.source);
  const { searches, missing } = searchesOf(wanted, chosen);
  const price = usePrice(searches);
  const run = useMutation({
    mutationFn: async () => {
      for (const [place, search] of searches.entries()) {
        try {
          await start(search);
        } catch (error) {
          // Those that began must not begin again: the form keeps what is left.
          change(remaining(searches.slice(place)));
          throw error;
        }
      }
      return searches.length;
    },
    onSuccess: (count) => {
      toast({ kind: "good", text: texts.searchForm.started(count) });
      setWanted({ ...NOTHING, source: wanted.source });
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ["searches"] }),
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!missing) run.mutate();
  }
  return (
    <Panel
      title={texts.searchForm.newSearch}
      about={texts.searchForm.findBusinessesOfAKind}
      className="search-form"
    >
      <form onSubmit={submit} className="stack">
        <Field label={texts.searchForm.businessType} hint={texts.searchForm.onePerLine}>
          {(props) => (
            <textarea
              className="input lines"
              rows={2}
              placeholder={texts.searchForm.dentists}
              value={wanted.what}
              onChange={(event) => change({ what: event.target.value })}
              {...props}
            />
          )}
        </Field>
        <AreaPicker wanted={wanted} change={change} />
        <div className="search-row">
          <Select
            label={texts.searchForm.source}
            value={wanted.source}
            onChange={(event) => change({ source: event.target.value })}
            options={(sources.data ?? []).map(sourceOption)}
            hint={chosen && !chosen.is_ready ? unready(chosen) : chosen?.attribution}
          />
          <Input
            label={common.budget}
            type="number"
            min={0}
            step="any"
            placeholder={
              chosen?.needs_budget ? texts.searchForm.required : texts.searchForm.noLimit
            }
            hint={texts.searchForm.budgetHint}
            value={wanted.budget}
            onChange={(event) => change({ budget: event.target.value })}
          />
          <Input
            label={texts.searchForm.maxResults}
            type="number"
            min={1}
            placeholder={texts.searchForm.all}
            hint={texts.searchForm.perSearch}
            value={wanted.limit}
            onChange={(event) => change({ limit: event.target.value })}
          />
        </div>
        {chosen?.takes.includes("file") && (
          <Input
            label={common.file}
            placeholder={texts.searchForm.placesCsv}
            hint={texts.searchForm.aCsv}
            value={wanted.file}
            onChange={(event) => change({ file: event.target.value })}
          />
        )}
        {sources.error && <Failure error={sources.error} retry={() => void sources.refetch()} />}
        <EstimateView
          missing={missing}
          count={searches.length}
          sum={price.data ? summed(price.data) : null}
          error={price.error}
          isPending={price.isFetching}
          budget={wanted.budget ? Number(wanted.budget) : null}
        />
        {run.error && <Failure error={run.error} />}
        <div className="row">
          <Button
            type="submit"
            look="primary"
            icon="search"
            busy={run.isPending}
            disabled={Boolean(missing)}
          >
            {searches.length > 1
              ? texts.searchForm.startSearches(searches.length)
              : texts.searchForm.startTheSearch}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

/** The one that needs no key, if it can be asked; files are for those who mean them. */
function firstChoice(sources: readonly Source[]): string {
  const ready = sources.filter((source) => source.is_ready && !source.takes.includes("file"));
  return (ready.find((source) => source.name === "osm") ?? ready[0])?.name ?? "";
}

function sourceOption(source: Source) {
  return {
    value: source.name,
    label: source.is_ready ? titleOf(source.name) : texts.searchForm.notSetUp(titleOf(source.name)),
  };
}

function unready(source: Source): string {
  return [source.why, source.needs].filter(Boolean).join(" ");
}

/** The price of all searches, asked for again when the form has come to rest. */
function usePrice(searches: readonly SearchIn[]) {
  const asked = useDeferredValue(JSON.stringify(searches));
  return useQuery({
    queryKey: ["estimate", asked],
    queryFn: async ({ signal }) => {
      await new Promise((resolve) => setTimeout(resolve, 350));
      signal.throwIfAborted();
      return Promise.all(
        (JSON.parse(asked) as SearchIn[]).map((search) => estimate(search, signal)),
      );
    },
    enabled: searches.length > 0,
    retry: false,
    staleTime: 60_000,
    placeholderData: (before) => before,
  });
}
