/** What the address bar says of a list: filters, words, order, and the record that is open. */
import { useCallback } from "react";
import type { Query } from "@/api/client";
import { useSearch } from "@/app/router";
import { type Filter, readFilters, writeFilter } from "./filters";

const DEFAULT_SORT = "-updated_at";
const MAP = "map";
/** What a view does not remember. */
const NOT_KEPT = new Set(["open", "view"]);
/** How the browser remembers that a record was opened from the list. */
const OPENED = "opened";

export interface Address {
  words: string;
  filters: readonly Filter[];
  sort: string;
  /** The record that is open. */
  opened: string | null;
  /** Whether the leads are shown on a map instead of in rows. */
  isMap: boolean;
  setMap: (isMap: boolean) => void;
  /** What the server is asked. */
  query: Query;
  /** What a saved view remembers. */
  viewQuery: string;
  open: (id: string | null) => void;
  setFilters: (filters: readonly Filter[]) => void;
  setWords: (words: string) => void;
  setSort: (sort: string) => void;
  clear: () => void;
}

export function useAddress(): Address {
  const [search, change] = useSearch();
  const words = search.get("q") ?? "";
  const filters = readFilters(search.getAll("filter"));
  const sort = search.get("sort") ?? DEFAULT_SORT;
  const opened = search.get("open");
  // Going back closes the record, and takes the last filter off.
  const open = useCallback(
    (id: string | null) => {
      if (id === null && history.state === OPENED) history.back();
      else change({ open: id }, { replace: id === null || opened !== null, state: OPENED });
    },
    [change, opened],
  );
  const setFilters = useCallback(
    (next: readonly Filter[]) =>
      change({ filter: next.map(writeFilter), open: null }, { replace: false }),
    [change],
  );
  return {
    words,
    filters,
    sort,
    opened,
    query: { filter: filters.map(writeFilter), q: words, sort },
    viewQuery: new URLSearchParams([...search].filter(([name]) => !NOT_KEPT.has(name))).toString(),
    isMap: search.get("view") === MAP,
    setMap: (isMap) => change({ view: isMap ? MAP : null }, { replace: false }),
    open,
    setFilters,
    setWords: (next) => change({ q: next || null, open: null }),
    setSort: (next) => change({ sort: next }),
    clear: () => change({ filter: null, q: null }),
  };
}
