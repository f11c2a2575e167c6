/** What the page knows of a list of records. */
import type { Row, Total } from "./model";

export interface ListState {
  rows: readonly Row[];
  total: Total;
  isLoading: boolean;
  hasMore: boolean;
  error: unknown;
  /** How many records appeared or changed that are not shown. */
  unseen: number;
  /** More has happened than is reported one by one. */
  isBehind: boolean;
}

/** What the cache holds of a list. */
export interface Entry extends ListState {
  /** Where each record stands in the rows. */
  places: ReadonlyMap<string, number>;
  /** Where the next page begins. */
  cursor: string | null;
}

export const EMPTY: Entry = {
  rows: [],
  total: { count: 0, is_exact: true },
  isLoading: true,
  hasMore: false,
  error: null,
  unseen: 0,
  isBehind: false,
  places: new Map(),
  cursor: null,
};

export function placesOf(rows: readonly Row[]): ReadonlyMap<string, number> {
  return new Map(rows.map(({ id }, place) => [id, place]));
}

/** Whether a row says all of this already: then nothing need be drawn again. */
export function holds(row: Row, change: Partial<Row>): boolean {
  return Object.entries(change).every(
    ([field, value]) =>
      row[field] === value ||
      (typeof value === "object" && JSON.stringify(row[field]) === JSON.stringify(value)),
  );
}
