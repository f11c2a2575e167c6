/** What the list shows: words, the decision, and one button for everything else. */
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useEffect, useState } from "react";
import { read } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { later, Opened } from "@/app/later";
import { Icon } from "@/kit";
import { texts } from "@/texts/curate";
import { FilterPicker } from "./FilterPicker";
import { useFields } from "./fields";
import {
  alternativesOf,
  describe,
  type Filter,
  fieldWord,
  isOnly,
  wordIn,
  writeFilter,
} from "./filters";
import { isOwn } from "./own";
import { StatusTabs } from "./StatusTabs";
import { useNames } from "./suggestions";

const AddFilter = later(() => import("./AddFilter"));

interface FilterBarProps {
  kind: Kind;
  words: string;
  filters: readonly Filter[];
  search: RefObject<HTMLInputElement | null>;
  picker: RefObject<HTMLButtonElement | null>;
  /** Changes when the counts may have changed. */
  version: number;
  onWords: (words: string) => void;
  onFilters: (filters: readonly Filter[]) => void;
}

const PAUSE_MS = 250;

export function FilterBar(props: FilterBarProps) {
  const { kind, filters, onFilters } = props;
  /** The field that a condition is put together on; `undefined`: none is. */
  const [adding, setAdding] = useState<string | null | undefined>();
  const isTab = (one: Filter) => isOnly(one, kind.status) && one.comparison === "equal";
  return (
    <div className="filter-bar">
      <StatusTabs {...props} />
      <Words {...props} />
      <FilterPicker
        kind={kind}
        filters={filters}
        opener={props.picker}
        onFilters={onFilters}
        onCondition={setAdding}
      />
      {filters
        .filter((one) => !isTab(one))
        .map((filter) => (
          <FilterChip
            key={writeFilter(filter)}
            kind={kind}
            filter={filter}
            onRemove={() => onFilters(filters.filter((other) => other !== filter))}
          />
        ))}
      {adding !== undefined && (
        <Opened onClose={() => setAdding(undefined)}>
          <AddFilter
            kind={kind}
            field={adding}
            onClose={() => setAdding(undefined)}
            onAdd={(filter) => {
              setAdding(undefined);
              onFilters([...filters, filter]);
            }}
          />
        </Opened>
      )}
    </div>
  );
}

interface FilterChipProps {
  kind: Kind;
  filter: Filter;
  onRemove: () => void;
}

function FilterChip({ kind, filter, onRemove }: FilterChipProps) {
  const search = useSearchName(filter);
  const hasOwn = alternativesOf(filter).some(({ field }) => isOwn(field));
  const { data: fields = [] } = useFields(kind, hasOwn);
  const nameOf = (field: string) =>
    fields.find(({ name }) => name === field)?.title ?? fieldWord(field);
  const names = useNames(kind, hasIds(filter));
  const saidOf = (field: string, value: string) => names.get(value) ?? wordIn(field, value);
  const quick = kind.quickFilters.find((one) => one.filter === writeFilter(filter));
  const said = search
    ? texts.filterBar.foundBy(search)
    : (quick?.title ?? describe(filter, kind, nameOf, saidOf));
  return (
    <button
      type="button"
      className="chip on"
      aria-label={texts.filterBar.removeTheFilter(said)}
      onClick={onRemove}
    >
      <span className="foreign cut">{said}</span> <Icon name="cross" size={14} />
    </button>
  );
}

/** Whether the values are ids, which say nothing to people. */
const hasIds = (filter: Filter): boolean =>
  alternativesOf(filter).some(({ field }) => field.endsWith("_id"));

/** What a search is called, for a filter that knows its number only. */
function useSearchName({ field, comparison, value, or }: Filter): string | null {
  const isSearch = field === "search_id" && comparison === "equal" && !or;
  const { data, error } = useQuery({
    queryKey: ["search-name", value],
    queryFn: () => read("/searches/{record_id}", { path: { record_id: value } }),
    enabled: isSearch,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!isSearch) return null;
  if (!data) return error ? texts.filterBar.deletedSearch : "…";
  const { business_type, location } = data.record;
  const businesses = business_type || texts.filterBar.allBusinesses;
  return location ? texts.filterBar.businessesIn(businesses, location) : businesses;
}

/** Typing waits a moment before it asks; what stands in the address wins. */
function Words({ kind, words, search, onWords }: FilterBarProps) {
  const [typed, setTyped] = useState(words);
  useEffect(() => setTyped(words), [words]);
  useEffect(() => {
    if (typed === words) return;
    const timer = setTimeout(() => onWords(typed), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, words, onWords]);
  return (
    <div className="search-box">
      <Icon name="search" size={16} />
      <input
        ref={search}
        className="input"
        type="search"
        aria-label={texts.filterBar.search(kind.many)}
        placeholder={texts.filterBar.search(kind.many)}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && search.current?.blur()}
      />
      <kbd aria-hidden="true">/</kbd>
    </div>
  );
}
