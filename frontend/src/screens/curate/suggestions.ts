/** What a list can be narrowed to, in the words that it shows. */
import { useQuery } from "@tanstack/react-query";
import { ofKind, read } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { matching } from "@/app/matching";
import { texts } from "@/texts/curate";
import { useFields } from "./fields";
import {
  alternativesOf,
  type Filter,
  fieldWord,
  filterOfAll,
  readFilters,
  wordIn,
  writeFilter,
} from "./filters";

export interface Suggestion {
  id: string;
  /** The field, where the name is one of its values. */
  field: string | null;
  name: string;
  count: number | null;
  /** What it adds; nothing if it only begins a condition. */
  filter: Filter | null;
}

const STALE_MS = 30_000;
const OF_EACH = 6;
const MOST = 40;
/** Fields that say the same with other words, or that the tabs show already. */
const LEFT_OUT = new Set(["business_status"]);
/** The fields of a lead that people think in, the most frequent first. */
const OF_LEADS = [
  "categories",
  "city",
  "deliverability",
  "decision_maker_role",
  "email_kind",
  "tags",
  "country",
  "source",
];

/** Fields whose values are ids: only here are the words known in which people read them. */
const IDS_OF_LEADS = ["owner_id", "search_id"];

export function useSuggestions(kind: Kind, filters: readonly Filter[], words: string) {
  const { data: fields = [] } = useFields(kind);
  const names = useNames(kind);
  const field = kind.hasOwner ? OF_LEADS.join(",") : undefined;
  const filter = filters.map(writeFilter);
  const facets = useQuery({
    queryKey: ["suggestions", kind.name, filter, words],
    queryFn: () => read(ofKind(kind, "/facets"), { query: { field, filter, words } }),
    placeholderData: (before) => before,
    staleTime: STALE_MS,
  });
  const ids = useQuery({
    queryKey: ["suggestions", kind.name, filter],
    queryFn: () =>
      read(ofKind(kind, "/facets"), { query: { field: IDS_OF_LEADS.join(","), filter } }),
    placeholderData: (before) => before,
    staleTime: STALE_MS,
    enabled: kind.hasOwner,
  });
  const quick = kind.quickFilters.flatMap(({ title, filter: written }) => {
    const [only] = readFilters([written]);
    return only ? [{ id: written, field: null, name: title, count: null, filter: only }] : [];
  });
  const values = Object.entries({ ...facets.data?.facets, ...ids.data?.facets }).flatMap(
    ([name, found]) =>
      name === kind.status || LEFT_OUT.has(name)
        ? []
        : found.slice(0, words ? MOST : OF_EACH).flatMap(({ value, count }) => {
            if (value === null || value === "") return [];
            const written = String(value);
            return [
              {
                id: `${name} ${written}`,
                field: fieldWord(name),
                name: names.get(written) ?? wordIn(name, written),
                count,
                filter: { field: name, comparison: "equal", value: written },
              },
            ];
          }),
  );
  const conditions = fields
    .filter(({ type }) => type !== "id" && type !== "object")
    .map(({ name, title }) => ({
      id: `field ${name}`,
      field: null,
      name: texts.filterBar.condition(title ?? fieldWord(name)),
      count: null,
      filter: null,
    }));
  const found: Suggestion[] = words
    ? [...matching(quick, words), ...matching(values, words), ...matching(conditions, words)]
    : [...quick, ...values];
  return { found: found.slice(0, MOST), isLoading: facets.isFetching };
}

/** The names behind ids: who leads are assigned to, and what searches were for. */
export function useNames(kind: Kind, enabled = true): ReadonlyMap<string, string> {
  const people = useQuery({
    queryKey: ["assignees"],
    queryFn: () => read("/assignees"),
    enabled: kind.hasOwner && enabled,
  });
  const searches = useQuery({
    queryKey: ["search-names"],
    queryFn: () => read("/searches", { query: { sort: "-created_at", limit: 100 } }),
    enabled: kind.hasOwner && enabled,
  });
  return new Map([
    ...(people.data ?? []).map(({ id, name }): [string, string] => [id, name]),
    ...(searches.data?.items ?? []).map((search): [string, string] => [
      search.id,
      texts.filterBar.businessesIn(
        search.business_type || texts.filterBar.allBusinesses,
        search.location ?? texts.filterBar.somewhere,
      ),
    ]),
  ]);
}

/** Narrow a list down: two values of one field are either of them. */
export function narrowed(filters: readonly Filter[], wanted: Filter): Filter[] {
  const written = writeFilter(wanted);
  if (filters.some((one) => writeFilter(one) === written)) return [...filters];
  const same = filters.find((one) => isEither(one, wanted.field) && wanted.comparison === "equal");
  if (!same) return [...filters, wanted];
  const either = filterOfAll([...alternativesOf(same), wanted]);
  return either ? filters.map((one) => (one === same ? either : one)) : [...filters];
}

/** Whether a filter is one value of a field, or another, or another. */
const isEither = (filter: Filter, field: string): boolean =>
  alternativesOf(filter).every((one) => one.field === field && one.comparison === "equal");
