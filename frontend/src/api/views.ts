/** Saved views: filters, sorting and columns of a list, kept under a name. */
import { useQuery } from "@tanstack/react-query";
import { read } from "./client";
import { kindNamed } from "./kinds";
import type { Schemas } from "./types";

export type View = Schemas["ViewOut"];
export type Asked = Schemas["ViewQuery"];

export const VIEWS = ["views"] as const;
const DEFAULT_SORT = "-updated_at";

export function useViews() {
  return useQuery({ queryKey: VIEWS, queryFn: () => read("/views") });
}

/** What a list is asked for, out of an address and back into one. */
export function asked(query: string): Asked {
  const search = new URLSearchParams(query);
  const [q, sort, columns] = ["q", "sort", "columns"].map((name) => search.get(name));
  // Without what is not asked for: the server knows its own defaults.
  return {
    filter: search.getAll("filter"),
    ...(q ? { q } : {}),
    ...(sort ? { sort } : {}),
    ...(columns ? { columns: columns.split(",") } : {}),
  };
}

export function writtenQuery({ filter = [], q, sort, columns = [] }: Asked): string {
  const search = new URLSearchParams(filter.map((one) => ["filter", one]));
  if (q) search.set("q", q);
  if (sort && sort !== DEFAULT_SORT) search.set("sort", sort);
  if (columns.length) search.set("columns", columns.join(","));
  return search.toString();
}

/** Where a view is opened; nowhere, if its kind of record is no longer decided about. */
export function viewScreen({ kind, query }: View): string | null {
  const screen = kindNamed(kind)?.screen;
  return screen ? `${screen}?${writtenQuery(query)}` : null;
}
