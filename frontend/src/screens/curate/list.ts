/**
 * A list that may have a million rows: pages are added as they are scrolled to, and rows
 * change in place when something happens to them, here or anywhere else.
 */
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { ofKind, type Query, read } from "@/api/client";
import type { ListAnswer, Row, Total } from "./model";

const FIRST = 100;
const FURTHER = 200;
const REFRESH_MS = 400;
const MOST_REFRESHED = 100;
const MOST_CHECKED = 1000;
/** Rows that change in one frame: more at once would be felt as a stutter. */
const SLICE = 12;

export interface ListState {
  rows: readonly Row[];
  total: Total;
  isLoading: boolean;
  hasMore: boolean;
  error: unknown;
  /** How many records appeared or changed that are not shown. */
  unseen: number;
  /** More has happened than is told one by one. */
  isBehind: boolean;
}

const EMPTY: ListState = {
  rows: [],
  total: { count: 0, is_exact: true },
  isLoading: true,
  hasMore: false,
  error: null,
  unseen: 0,
  isBehind: false,
};

export class RecordList {
  private state = EMPTY;
  private places = new Map<string, number>();
  private cursor: string | null = null;
  private watchers = new Set<() => void>();
  private stale = new Set<string>();
  private coming = new Map<string, Partial<Row>>();
  private isDue = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private generation = 0;

  constructor(
    readonly path: string,
    readonly query: Query,
  ) {}

  snapshot = (): ListState => this.state;

  watch = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };

  /** Load from the beginning; what is shown stays until the answer is here. */
  async load(): Promise<void> {
    this.generation += 1;
    const mine = this.generation;
    this.say({ isLoading: true, error: null });
    try {
      const page = await this.fetch({ limit: FIRST });
      if (mine !== this.generation) return;
      this.cursor = page.next_cursor;
      this.place(page.items, 0);
      this.coming.clear();
      this.say({
        rows: page.items,
        total: page.total,
        hasMore: page.next_cursor !== null,
        isLoading: false,
        unseen: 0,
        isBehind: false,
      });
    } catch (error) {
      if (mine === this.generation) this.say({ isLoading: false, error });
    }
  }

  async more(): Promise<void> {
    if (this.state.isLoading || this.cursor === null) return;
    const mine = this.generation;
    this.say({ isLoading: true, error: null });
    try {
      const page = await this.fetch({ limit: FURTHER, cursor: this.cursor });
      if (mine !== this.generation) return;
      // A row that changed while we read on may come again, further down.
      const news = page.items.filter(({ id }) => !this.places.has(id));
      this.place(news, this.state.rows.length);
      this.cursor = page.next_cursor;
      this.say({
        rows: [...this.state.rows, ...news],
        hasMore: page.next_cursor !== null,
        isLoading: false,
      });
    } catch (error) {
      if (mine === this.generation) this.say({ isLoading: false, error });
    }
  }

  /** Change rows in place; returns how they were, to be put back if it fails. */
  patch(changes: ReadonlyMap<string, Partial<Row>>): Map<string, Row> {
    // What was heard before is older than what is said here.
    for (const id of changes.keys()) this.coming.delete(id);
    return this.write(changes);
  }

  private write(changes: ReadonlyMap<string, Partial<Row>>): Map<string, Row> {
    const before = new Map<string, Row>();
    const rows = [...this.state.rows];
    for (const [id, change] of changes) {
      const place = this.places.get(id);
      const row = place === undefined ? undefined : rows[place];
      if (place === undefined || !row || holds(row, change)) continue;
      before.set(id, row);
      rows[place] = { ...row, ...change };
    }
    if (before.size) this.say({ rows });
    return before;
  }

  /** Take in what the stream tells: patch what is shown, and read it again soon. */
  hear(changes: ReadonlyMap<string, Partial<Row>>): void {
    this.take(changes);
    let unseen = 0;
    for (const id of changes.keys()) {
      if (this.places.has(id)) this.stale.add(id);
      else unseen += 1;
    }
    if (unseen && this.state.rows.length === 0) void this.load();
    else if (unseen) this.say({ unseen: this.state.unseen + unseen });
    this.refreshSoon();
  }

  /** Change rows a few in each frame, the first at once. */
  private take(changes: ReadonlyMap<string, Partial<Row>>): void {
    for (const [id, change] of changes) {
      if (this.places.has(id)) this.coming.set(id, { ...this.coming.get(id), ...change });
    }
    if (!this.isDue) this.slice();
  }

  private slice(): void {
    const now = [...this.coming].slice(0, SLICE);
    for (const [id] of now) this.coming.delete(id);
    this.write(new Map(now));
    this.isDue = this.coming.size > 0;
    if (this.isDue) nextFrame(() => this.slice());
  }

  /** Much has happened, or records are gone: look again at what is shown, and say so. */
  hearMany(): void {
    const { rows } = this.state;
    if (rows.length === 0) {
      void this.load();
      return;
    }
    if (rows.length <= MOST_CHECKED) for (const { id } of rows) this.stale.add(id);
    this.say({ isBehind: true });
    this.refreshSoon();
  }

  placeOf = (id: string): number => this.places.get(id) ?? -1;

  stop(): void {
    this.generation += 1;
    this.coming.clear();
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private refreshSoon(): void {
    if (this.stale.size && !this.timer) {
      this.timer = setTimeout(() => void this.refresh(), REFRESH_MS);
    }
  }

  private async refresh(): Promise<void> {
    this.timer = undefined;
    const mine = this.generation;
    const ids = [...this.stale].slice(0, MOST_REFRESHED);
    for (const id of ids) this.stale.delete(id);
    try {
      const query = { filter: `id:one_of:${ids.join(",")}`, limit: FURTHER };
      const { items } = await read(ofKind(this, ""), { query });
      if (mine !== this.generation) return;
      const found = new Map(items.map((row) => [row.id, row]));
      this.take(found);
      this.remove(new Set(ids.filter((id) => !found.has(id))));
    } catch {
      // The statuses are right already; the rest comes with the next change or reload.
    }
    this.refreshSoon();
  }

  /** Take out records that are no longer there. */
  private remove(gone: ReadonlySet<string>): void {
    const rows = this.state.rows.filter(({ id }) => !gone.has(id));
    const lost = this.state.rows.length - rows.length;
    if (lost === 0) return;
    this.place(rows, 0);
    const { count, is_exact } = this.state.total;
    this.say({ rows, total: { count: Math.max(rows.length, count - lost), is_exact } });
  }

  private fetch(more: Query): Promise<ListAnswer> {
    return read(ofKind(this, ""), { query: { ...this.query, ...more } });
  }

  private place(rows: readonly Row[], from: number): void {
    if (from === 0) this.places.clear();
    for (const [offset, row] of rows.entries()) this.places.set(row.id, from + offset);
  }

  private say(change: Partial<ListState>): void {
    this.state = { ...this.state, ...change };
    for (const changed of this.watchers) changed();
  }
}

/** Whether a row says all of this already: then nothing need be drawn again. */
function holds(row: Row, change: Partial<Row>): boolean {
  return Object.entries(change).every(
    ([field, value]) =>
      row[field] === value ||
      (typeof value === "object" && JSON.stringify(row[field]) === JSON.stringify(value)),
  );
}

/** A page that nobody looks at has no frames. */
function nextFrame(run: () => void): void {
  if (globalThis.document?.hidden === false) requestAnimationFrame(run);
  else setTimeout(run, 16);
}

/** The list of this address with these filters; another one when they change. */
export function useRecordList(path: string, query: Query): [RecordList, ListState] {
  const written = JSON.stringify(query);
  const records = useMemo(() => new RecordList(path, JSON.parse(written)), [path, written]);
  useEffect(() => {
    void records.load();
    return () => records.stop();
  }, [records]);
  return [records, useSyncExternalStore(records.watch, records.snapshot)];
}
