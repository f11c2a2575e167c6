/** The decision's values beside each other, each in its colour with how many records have it. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useRef } from "react";
import { ofKind, read } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { short, statusWord, toneOf } from "@/kit";
import { texts } from "@/texts/curate";
import { type Filter, isOnly, toggled, writeFilter } from "./filters";
import { restAfter, usePaced } from "./paced";

interface StatusTabsProps {
  kind: Kind;
  words: string;
  filters: readonly Filter[];
  /** Changes when the counts may have changed. */
  version: number;
  onFilters: (filters: readonly Filter[]) => void;
}

export function StatusTabs(props: StatusTabsProps) {
  const { kind, filters, onFilters } = props;
  const { counts, isExact } = useCounts(props);
  const known = [kind.undecided, ...kind.decisions.map(({ status }) => status)];
  const all = [...new Set([...known, ...(counts?.keys() ?? [])])];
  const isOn = (status: string) =>
    filters.some((one) => isOnly(one, kind.status) && one.value === status);
  const total = counts && [...counts.values()].reduce((sum, count) => sum + count, 0);
  const others = filters.filter((filter) => !isOnly(filter, kind.status));
  return (
    <fieldset
      className="status-tabs"
      title={isExact ? undefined : texts.filterBar.estimated}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways on a phone.
      tabIndex={0}
    >
      <legend className="unseen">{texts.filterBar.decision}</legend>
      <button
        type="button"
        aria-pressed={others.length === filters.length}
        onClick={() => onFilters(others)}
      >
        {texts.filterBar.all}{" "}
        {total !== undefined && <span className="number">{short(total)}</span>}
      </button>
      {all.map((status) => (
        <button
          key={status}
          type="button"
          className={toneOf(status, kind.status)}
          aria-pressed={isOn(status)}
          onClick={() => onFilters(toggled(filters, kind.status, status))}
        >
          {statusWord(status, kind.status)}{" "}
          {counts && <span className="number">{short(counts.get(status) ?? 0)}</span>}
        </button>
      ))}
    </fieldset>
  );
}

/** How many records have each value; nothing before anybody knows. */
function useCounts({ kind, words, filters, version }: StatusTabsProps) {
  const others = filters.filter((filter) => !isOnly(filter, kind.status));
  const query = { field: kind.status, q: words, filter: others.map(writeFilter) };
  const took = useRef(0);
  const counted = usePaced(
    version,
    useCallback(() => restAfter(took.current), []),
  );
  const facets = useQuery({
    queryKey: ["facets", kind.name, query, counted],
    queryFn: async () => {
      const began = performance.now();
      const answer = await read(ofKind(kind, "/facets"), { query });
      took.current = performance.now() - began;
      return answer;
    },
    placeholderData: (before) => before,
  });
  const counts =
    facets.data &&
    new Map(
      (facets.data.facets[kind.status] ?? [])
        .filter(({ value }) => value !== null)
        .map(({ value, count }): [string, number] => [String(value), count]),
    );
  return { counts, isExact: facets.data?.is_exact !== false };
}
