/**
 * A list that may have a million rows: pages are added as they are scrolled to, and rows
 * change in place when something happens to them, here or anywhere else. The rows are an
 * entry of the page's query cache, and nowhere else; this file only reads and writes it.
 */
import { type QueryClient, QueryObserver, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { ofKind, type Query, read } from "@/api/client";
import { outbox } from "@/api/outbox/outbox";
import { EMPTY, type Entry, holds, type ListState, placesOf } from "./entry";
import type { ListAnswer, Row } from "./model";

const FIRST = 100;
const FURTHER = 200;
const REFRESH_MS = 400;
const MOST_REFRESHED = 100;
const MOST_CHECKED = 1000;
/** Rows that change in one frame: more at once would be felt as a stutter. */
const SLICE = 12;

/** The cache's keys of lists begin with this. */
export const LISTS = "lists";

export class RecordList {
  private readonly key: readonly unknown[];
  private stale = new Set<string>();
  private coming = new Map<string, Partial<Row>>();
  private isDue = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private generation = 0;

  constructor(
    private readonly cache: QueryClient,
    readonly path: string,
    readonly query: Query,
  ) {
    this.key = [LISTS, path, query];
    cache.setQueryDefaults([LISTS], {
      // Only this file reads lists: an answer that replaces all pages would move the rows.
      enabled: false,
      // A list that nobody looks at misses what the stream sends.
      gcTime: 0,
      // Rows that did not change are kept by `write`; comparing thousands again is slow.
      structuralSharing: false,
    });
  }

  snapshot = (): ListState => this.state;

  watch = (changed: () => void): (() => void) =>
    new QueryObserver(this.cache, { queryKey: this.key }).subscribe(changed);

  private get state(): Entry {
    return this.cache.getQueryData<Entry>(this.key) ?? EMPTY;
  }

  /** Load from the beginning; what is shown stays until the answer is here. */
  async load(): Promise<void> {
    this.generation += 1;
    const mine = this.generation;
    this.set({ isLoading: true, error: null });
    try {
      const page = await this.fetch({ limit: FIRST });
      if (mine !== this.generation) return;
      this.coming.clear();
      this.set({
        rows: page.items,
        places: placesOf(page.items),
        cursor: page.next_cursor,
        total: page.total,
        hasMore: page.next_cursor !== null,
        isLoading: false,
        unseen: 0,
        isBehind: false,
      });
    } catch (error) {
      if (mine === this.generation) this.set({ isLoading: false, error });
    }
  }

  async more(): Promise<void> {
    const { isLoading, cursor } = this.state;
    if (isLoading || cursor === null) return;
    const mine = this.generation;
    this.set({ isLoading: true, error: null });
    try {
      const page = await this.fetch({ limit: FURTHER, cursor });
      if (mine !== this.generation) return;
      // A row that changed while we read on may come again, further down.
      const news = page.items.filter(({ id }) => !this.state.places.has(id));
      const rows = [...this.state.rows, ...news];
      this.set({
        rows,
        places: placesOf(rows),
        cursor: page.next_cursor,
        hasMore: page.next_cursor !== null,
        isLoading: false,
      });
    } catch (error) {
      if (mine === this.generation) this.set({ isLoading: false, error });
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
    const { places } = this.state;
    const rows = [...this.state.rows];
    for (const [id, change] of changes) {
      const place = places.get(id);
      const row = place === undefined ? undefined : rows[place];
      if (place === undefined || !row) continue;
      // What waits to be sent is newer than what is heard.
      const next = outbox.ahead({ ...row, ...change }, this.path);
      if (holds(row, next)) continue;
      before.set(id, row);
      rows[place] = next;
    }
    if (before.size) this.set({ rows });
    return before;
  }

  /** Take in what the stream reports: patch what is shown, and read it again soon. */
  receive(changes: ReadonlyMap<string, Partial<Row>>): void {
    this.take(changes);
    let unseen = 0;
    for (const id of changes.keys()) {
      if (this.state.places.has(id)) this.stale.add(id);
      else unseen += 1;
    }
    if (unseen && this.state.rows.length === 0) void this.load();
    else if (unseen) this.set({ unseen: this.state.unseen + unseen });
    this.refreshSoon();
  }

  /** Change rows a few in each frame, the first at once. */
  private take(changes: ReadonlyMap<string, Partial<Row>>): void {
    for (const [id, change] of changes) {
      if (this.state.places.has(id)) this.coming.set(id, { ...this.coming.get(id), ...change });
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
  receiveMany(): void {
    const { rows } = this.state;
    if (rows.length === 0) {
      void this.load();
      return;
    }
    if (rows.length <= MOST_CHECKED) for (const { id } of rows) this.stale.add(id);
    this.set({ isBehind: true });
    this.refreshSoon();
  }

  placeOf = (id: string): number => this.state.places.get(id) ?? -1;

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
    const { count, is_exact } = this.state.total;
    const total = { count: Math.max(rows.length, count - lost), is_exact };
    this.set({ rows, places: placesOf(rows), total });
  }

  private async fetch(more: Query): Promise<ListAnswer> {
    const page: ListAnswer = await read(ofKind(this, ""), { query: { ...this.query, ...more } });
    return { ...page, items: page.items.map((row) => outbox.ahead(row, this.path)) };
  }

  private set(change: Partial<Entry>): void {
    this.cache.setQueryData<Entry>(this.key, { ...this.state, ...change });
  }
}

/** A page that nobody looks at has no frames. */
function nextFrame(run: () => void): void {
  if (globalThis.document?.hidden === false) requestAnimationFrame(run);
  else setTimeout(run, 16);
}

/** The list of this address with these filters; another one when they change. */
export function useRecordList(path: string, query: Query): [RecordList, ListState] {
  const cache = useQueryClient();
  const written = JSON.stringify(query);
  const records = useMemo(
    () => new RecordList(cache, path, JSON.parse(written)),
    [cache, path, written],
  );
  useEffect(() => {
    void records.load();
    return () => records.stop();
  }, [records]);
  return [records, useSyncExternalStore(records.watch, records.snapshot)];
}
