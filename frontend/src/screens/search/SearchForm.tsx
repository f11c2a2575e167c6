import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useDeferredValue, useEffect, useState } from "react";
import { Button, Failure, Field, Input, Panel, plural, Select, toast } from "@/kit";
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
      toast({ kind: "good", text: `${plural(count, "search", "searches")} started.` });
      setWanted({ ...NOTHING, source: wanted.source });
    },
    onSettled: () => void queries.invalidateQueries({ queryKey: ["searches"] }),
  });
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!missing) run.mutate();
  }
  return (
    <Panel title="New search" about="Find businesses of a kind in a place" className="search-form">
      <form onSubmit={submit} className="stack">
        <Field label="Business type" hint="One per line. Each becomes its own search.">
          {(props) => (
            <textarea
              className="input lines"
              rows={2}
              placeholder="dentists"
              value={wanted.what}
              onChange={(event) => change({ what: event.target.value })}
              {...props}
            />
          )}
        </Field>
        <AreaPicker wanted={wanted} change={change} />
        <div className="search-row">
          <Select
            label="Source"
            value={wanted.source}
            onChange={(event) => change({ source: event.target.value })}
            options={(sources.data ?? []).map(sourceOption)}
            hint={chosen && !chosen.is_ready ? unready(chosen) : chosen?.attribution}
          />
          <Input
            label="Budget"
            type="number"
            min={0}
            step="any"
            placeholder={chosen?.needs_budget ? "required" : "no limit"}
            hint="Per search, in US dollars. Never exceeded."
            value={wanted.budget}
            onChange={(event) => change({ budget: event.target.value })}
          />
          <Input
            label="Max results"
            type="number"
            min={1}
            placeholder="all"
            hint="Per search"
            value={wanted.limit}
            onChange={(event) => change({ limit: event.target.value })}
          />
        </div>
        {chosen?.takes.includes("file") && (
          <Input
            label="File"
            placeholder="places.csv"
            hint="A CSV, JSON lines or Overture file in the server's import directory"
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
            {searches.length > 1 ? `Start ${searches.length} searches` : "Start the search"}
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
    label: source.is_ready ? titleOf(source.name) : `${titleOf(source.name)} (not set up)`,
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
