/** What the list shows: words, statuses with their counts, and conditions on any field. */
import { useQuery } from "@tanstack/react-query";
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { ofKind, read } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { Button, Dialog, FormButtons, Icon, Select, short, statusWord } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/curate";
import { FilterValue } from "./FilterValue";
import {
  type Alternative,
  alternativesOf,
  comparisonWord,
  describe,
  type Filter,
  fieldWord,
  filterOfAll,
  isOnly,
  needsValue,
  switched,
  toggled,
  writeFilter,
} from "./filters";
import type { FieldInfo } from "./model";
import { isOwn } from "./own";
import { restAfter, usePaced } from "./paced";

interface FilterBarProps {
  kind: Kind;
  words: string;
  filters: readonly Filter[];
  search: RefObject<HTMLInputElement | null>;
  /** Changes when the counts may have changed. */
  version: number;
  onWords: (words: string) => void;
  onFilters: (filters: readonly Filter[]) => void;
}

const PAUSE_MS = 250;

export function FilterBar(props: FilterBarProps) {
  const { kind, filters, onFilters } = props;
  const [isAdding, setAdding] = useState(false);
  return (
    <div className="filter-bar">
      <Words {...props} />
      <StatusChips {...props} />
      {kind.quickFilters.length > 0 && <QuickFilters {...props} />}
      <div className="row wrap">
        {filters
          .filter((one) => !isOnly(one, kind.status) || one.comparison !== "equal")
          .filter((one) => !kind.quickFilters.some(({ filter }) => filter === writeFilter(one)))
          .map((filter) => (
            <FilterChip
              key={writeFilter(filter)}
              kind={kind}
              filter={filter}
              onRemove={() => onFilters(filters.filter((other) => other !== filter))}
            />
          ))}
        <Button small look="quiet" icon="filter" onClick={() => setAdding(true)}>
          {texts.filterBar.addFilter}
        </Button>
      </div>
      {isAdding && (
        <AddFilter
          kind={kind}
          onClose={() => setAdding(false)}
          onAdd={(filter) => {
            setAdding(false);
            onFilters([...filters, filter]);
          }}
        />
      )}
    </div>
  );
}

/** What people ask of this list, one click each. */
function QuickFilters({ kind, filters, onFilters }: FilterBarProps) {
  const on = new Set(filters.map(writeFilter));
  return (
    <fieldset className="row wrap chips">
      <legend className="unseen">{texts.filterBar.quickFilters}</legend>
      {kind.quickFilters.map(({ title, filter }) => (
        <button
          key={filter}
          type="button"
          className={`chip ${on.has(filter) ? "on" : ""}`}
          aria-pressed={on.has(filter)}
          onClick={() => onFilters(switched(filters, filter))}
        >
          {title}
        </button>
      ))}
    </fieldset>
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
  const said = search ? texts.filterBar.foundBy(search) : describe(filter, kind, nameOf);
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

/** The decision's values as switches, each with how many records have it. */
function StatusChips({ kind, words, filters, version, onFilters }: FilterBarProps) {
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
  const counts = new Map(
    (facets.data?.facets[kind.status] ?? [])
      .filter(({ value }) => value !== null)
      .map(({ value, count }) => [String(value), count]),
  );
  const known = [kind.undecided, ...kind.decisions.map(({ status }) => status)];
  const all = [...new Set([...known, ...counts.keys()])];
  return (
    <fieldset
      className="row wrap chips"
      title={facets.data?.is_exact === false ? texts.filterBar.estimated : undefined}
    >
      <legend className="unseen">{texts.filterBar.decision}</legend>
      {all.map((status) => {
        const isOn = filters.some((one) => isOnly(one, kind.status) && one.value === status);
        return (
          <button
            key={status}
            type="button"
            className={`chip ${isOn ? "on" : ""}`}
            aria-pressed={isOn}
            onClick={() => onFilters(toggled(filters, kind.status, status))}
          >
            {statusWord(status, kind.status)}{" "}
            <span className="number faint">{short(counts.get(status) ?? 0)}</span>
          </button>
        );
      })}
    </fieldset>
  );
}

function AddFilter({
  kind,
  onAdd,
  onClose,
}: {
  kind: Kind;
  onAdd: (filter: Filter) => void;
  onClose: () => void;
}) {
  const { data: fields = [] } = useFields(kind);
  const [drafts, setDrafts] = useState<readonly Alternative[]>([emptyOf(kind)]);
  const wanted = drafts.map((draft) => completed(draft, fields));
  const isReady = wanted.every(({ comparison, value }) => !needsValue(comparison) || value);
  const filter = filterOfAll(wanted);
  return (
    <Dialog
      title={texts.filterBar.filter(kind.many)}
      onClose={onClose}
      onSubmit={() => isReady && filter && onAdd(filter)}
      actions={
        <FormButtons onClose={onClose} disabled={!isReady}>
          {texts.filterBar.addFilter}
        </FormButtons>
      }
    >
      <div className="stack">
        {drafts.map((draft, place) => (
          <fieldset key={place} className="stack alternative">
            <legend className={place ? "small soft" : "unseen"}>
              {place ? common.or : texts.filterBar.showIf}
            </legend>
            <AlternativeFields
              kind={kind}
              fields={fields}
              draft={draft}
              onChange={(next) => setDrafts(drafts.with(place, next))}
            />
          </fieldset>
        ))}
        <div className="row">
          <Button
            small
            look="quiet"
            icon="plus"
            disabled={drafts.length >= MOST_ALTERNATIVES}
            onClick={() => setDrafts([...drafts, emptyOf(kind)])}
          >
            {texts.filterBar.or}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

const MOST_ALTERNATIVES = 20;

const emptyOf = (kind: Kind): Alternative => ({
  field: kind.columns[0]?.field ?? "",
  comparison: "",
  value: "",
});

/** What is meant: a comparison that the field knows, and no spaces around the value. */
function completed(draft: Alternative, fields: readonly FieldInfo[]): Alternative {
  const info = fields.find(({ name }) => name === draft.field);
  const comparison = info?.comparisons.includes(draft.comparison)
    ? draft.comparison
    : preferred(info);
  const value = needsValue(comparison) ? draft.value.trim() : "";
  return { field: draft.field, comparison, value };
}

interface AlternativeFieldsProps {
  kind: Kind;
  fields: readonly FieldInfo[];
  draft: Alternative;
  onChange: (draft: Alternative) => void;
}

function AlternativeFields({ kind, fields, draft, onChange }: AlternativeFieldsProps) {
  const info = fields.find(({ name }) => name === draft.field);
  const { comparison } = completed(draft, fields);
  return (
    <>
      <Select
        label={texts.filterBar.field}
        value={draft.field}
        options={fields
          .filter(({ type }) => type !== "id" && type !== "object")
          .map(({ name, title }) => ({ value: name, label: title ?? fieldWord(name) }))}
        onChange={({ target }) => onChange({ ...draft, field: target.value, value: "" })}
      />
      <Select
        label={texts.filterBar.comparison}
        value={comparison}
        options={(info?.comparisons ?? ["equal"]).map((name) => ({
          value: name,
          label: comparisonWord(name),
        }))}
        onChange={({ target }) => onChange({ ...draft, comparison: target.value })}
      />
      {needsValue(comparison) && (
        <FilterValue
          kind={kind}
          info={info}
          comparison={comparison}
          value={draft.value}
          onChange={(value) => onChange({ ...draft, value })}
        />
      )}
    </>
  );
}

export function useFields(kind: Kind, enabled = true) {
  return useQuery({
    queryKey: ["fields", kind.name],
    queryFn: () => read(ofKind(kind, "/fields")),
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  });
}

const PREFERRED: Record<string, string> = {
  text: "contains",
  number: "at_least",
  time: "at_least",
  date: "at_least",
};

function preferred(info: FieldInfo | undefined): string {
  const wanted = PREFERRED[info?.type ?? ""] ?? "equal";
  return info?.comparisons.includes(wanted) ? wanted : (info?.comparisons[0] ?? "equal");
}
