/**
 * Every change waits here until the server has it: kept before it is sent, sent in order by
 * one tab, with a key that lets it happen once, however often it is sent.
 */
import { randomKey, send } from "../client";
import { ApiError, ConnectionLost, explain } from "../problem";
import { ahead, clashOf, type Draft, type Entry, NOBODY, narrowed, type Refusal } from "./entry";
import { newEntry, PageStore, type Store } from "./store";

/** What became of a change, as far as the tab that made it knows. */
export type Outcome = { state: "done"; answer: unknown } | { state: "late" | "withdrawn" };

export interface Submission {
  id: number;
  /** Settles when the server has answered, however late; what is refused late is shown apart. */
  settled: Promise<Outcome>;
  /** The same; or, when nobody answers for now, that the change is late. */
  soon: Promise<Outcome>;
}

interface Waiter {
  settle: (outcome: Outcome) => void;
  refuse: (error: unknown) => void;
  late: () => void;
  isLate: boolean;
}

type Answer = { action_id?: string | null } | null | undefined;

/** What tabs tell each other. */
interface News {
  id: number;
  answer?: unknown;
  state: "done" | "late" | "withdrawn" | "changed";
}

const LOCK = "scrapersky-outbox";
const SOON_MS = 8000;
const ATTEMPT_MS = 60_000;
const MOST_TRIES = 5;
const LONGEST_PAUSE_MS = 4000;
const NOW = new Set([408, 425, 429, 502, 503, 504]);
const CHANGED_SINCE = 412;
const READ_AT_ONCE = 100;

export class Outbox {
  private store: Store = new PageStore();
  private opening: Promise<unknown> = Promise.resolve();
  /** What was done for entries that are gone: their undo may just have been asked for. */
  private actions = new Map<number, string>();
  private person = NOBODY;
  private entries: readonly Entry[] = [];
  private waiters = new Map<number, Waiter>();
  private watchers = new Set<() => void>();
  private leavers = new Set<(entry: Entry) => void>();
  private channel: BroadcastChannel | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failures = 0;
  private turn: Promise<void> = Promise.resolve();

  snapshot = (): readonly Entry[] => this.entries;

  watch = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };

  /** Hear of every entry that has left, sent or not, from whichever tab. */
  onLeft(run: (entry: Entry) => void): () => void {
    this.leavers.add(run);
    return () => this.leavers.delete(run);
  }

  /** Begin to send what this person's tabs have kept; the answer ends it. */
  open(person: string, opening: Promise<Store>): () => void {
    this.person = person;
    this.opening = opening.then((store) => {
      this.store = store;
    });
    this.channel = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel(LOCK);
    if (this.channel) this.channel.onmessage = ({ data }) => void this.heard(data as News);
    void this.opening.then(() => this.reload()).then(this.wake);
    globalThis.addEventListener?.("online", this.wake);
    return () => {
      globalThis.removeEventListener?.("online", this.wake);
      clearTimeout(this.timer);
      this.channel?.close();
      this.channel = null;
      this.person = NOBODY;
      this.show([]);
    };
  }

  /** Keep a change and send it as soon as may be. */
  async submit(draft: Draft): Promise<Submission> {
    await this.opening;
    const entry = await this.store.add(newEntry(draft, randomKey(), this.person));
    const submission = this.waitFor(entry.id);
    this.show([...this.entries, entry]);
    this.tell({ id: entry.id, state: "changed" });
    this.wake();
    return submission;
  }

  /** Take a change back: before it was sent it was never made (null); after that it is undone. */
  async takeBack(id: number, undo: Draft): Promise<Submission | null> {
    let isUnsent = false;
    await this.store.change(id, (entry) => {
      isUnsent = entry.tries === 0 || entry.refusal !== null;
      return isUnsent ? null : entry;
    });
    if (!isUnsent) return this.submit({ ...undo, undoes: id });
    await this.leave(id, { id, state: "withdrawn" });
    return null;
  }

  /** Send a refused change again, whatever others have made of the record since. */
  async insist(id: number): Promise<void> {
    await this.store.change(id, ({ etag, ...kept }) => ({
      ...kept,
      ...(etag ? { etag: "*" } : {}),
      key: randomKey(),
      tries: 0,
      refusal: null,
      isCertain: true,
    }));
    await this.changed(id);
    this.wake();
  }

  /** Give a change up. */
  async drop(id: number): Promise<void> {
    await this.store.change(id, () => null);
    await this.leave(id, { id, state: "withdrawn" });
  }

  /** A record as it will be when all this is sent. */
  ahead<R extends { id: string }>(record: R, kind: string): R {
    return this.entries.length ? ahead(record, kind, this.entries) : record;
  }

  /** Try now: the server may be back. */
  wake = (): void => {
    clearTimeout(this.timer);
    this.turn = this.turn.then(() => this.inTurn(() => this.drain())).catch(() => this.later());
  };

  private async inTurn(run: () => Promise<void>): Promise<void> {
    // Without locks (over plain http) several tabs may send the same; it happens once, by its key.
    const locks = globalThis.navigator?.locks;
    if (locks) await locks.request(LOCK, run);
    else await run();
  }

  private async drain(): Promise<void> {
    await this.reload();
    for (;;) {
      const entry = this.entries.find(({ refusal }) => !refusal);
      if (!entry || this.person === NOBODY) return;
      if (!(await this.deliver(entry))) {
        this.later();
        return;
      }
      this.failures = 0;
    }
  }

  private later(): void {
    this.failures += 1;
    clearTimeout(this.timer);
    const pause = Math.min(LONGEST_PAUSE_MS, 250 * 2 ** Math.min(this.failures, 5));
    this.timer = setTimeout(this.wake, pause);
  }

  /** Send one; false, when it has to wait. */
  private async deliver(entry: Entry): Promise<boolean> {
    try {
      if (entry.undoes !== undefined && !entry.path) {
        await this.undoOf(entry);
        return true;
      }
      const clear = await this.cleared(entry);
      if (!clear) return true;
      const sent = await this.store.change(clear.id, (kept) => ({
        ...kept,
        tries: kept.tries + 1,
      }));
      if (!sent) {
        await this.reload();
        return true;
      }
      await this.done(sent, await this.ask(sent));
      return true;
    } catch (error) {
      return this.failed(entry, error);
    }
  }

  /** Say what an undo undoes, now that this is known; of nothing, there is no undo. */
  private async undoOf({ id, undoes = 0 }: Entry): Promise<void> {
    const action = this.actions.get(undoes);
    const path = `/actions/${action}/undo`;
    await this.store.change(id, (kept) => (action ? { ...kept, path } : null));
    if (action) await this.reload();
    else await this.leave(id, { id, state: "withdrawn" });
  }

  /** What of a late change others have not overtaken; null: nothing. */
  private async cleared(entry: Entry): Promise<Entry | null> {
    const isUndo = entry.undoes !== undefined || entry.path.startsWith("/actions/");
    if (!entry.isLate || entry.isCertain || isUndo || entry.records.length === 0) return entry;
    const now = await this.now(entry);
    const theirs = new Map(
      entry.records.flatMap((one) => {
        const record = now.get(one.id);
        const clash = record ? clashOf(one, record) : null;
        return record && !clash ? [] : [[one.id, clash] as const];
      }),
    );
    if (theirs.size === 0) {
      // The version is another by now, and what matters of it is not.
      return entry.etag ? this.store.change(entry.id, (kept) => ({ ...kept, etag: "*" })) : entry;
    }
    await this.refuseClashes(entry, theirs);
    return null;
  }

  private async refuseClashes(
    entry: Entry,
    theirs: ReadonlyMap<string, Refusal["theirs"]>,
  ): Promise<void> {
    const rest = entry.records.filter(({ id }) => !theirs.has(id));
    for (const one of entry.records.filter(({ id }) => theirs.has(id))) {
      const { id: _, ...alone } = narrowed(entry, [one]);
      const refusal = { title: "", hint: null, theirs: theirs.get(one.id) ?? null };
      await this.store.add({ ...alone, key: randomKey(), refusal });
    }
    const left = rest.length ? { ...narrowed(entry, rest), key: randomKey() } : null;
    await this.store.change(entry.id, () => left);
    if (left) await this.changed(entry.id);
    else await this.leave(entry.id, { id: entry.id, state: "late" });
  }

  private async now({ kind, records }: Entry): Promise<Map<string, Draft["records"][0]["before"]>> {
    const found = new Map();
    for (let from = 0; from < records.length; from += READ_AT_ONCE) {
      const ids = records.slice(from, from + READ_AT_ONCE).map(({ id }) => id);
      const query = { filter: `id:one_of:${ids.join(",")}`, limit: READ_AT_ONCE };
      const answer = await send("GET", kind, { query, signal: AbortSignal.timeout(ATTEMPT_MS) });
      for (const row of (await answer.json()).items) found.set(row.id, row);
    }
    return found;
  }

  private async ask({ method, path, body, etag, key }: Entry): Promise<unknown> {
    const headers = { "Idempotency-Key": key, ...(etag ? { "If-Match": etag } : {}) };
    const signal = AbortSignal.timeout(ATTEMPT_MS);
    const answer = await send(method, path, { body, headers, signal, timeout: 0 });
    return answer.status === 204 ? null : answer.json();
  }

  private async done(entry: Entry, answer: unknown): Promise<void> {
    const action = (answer as Answer)?.action_id;
    if (action) this.actions.set(entry.id, action);
    // Before it goes: what it came to must be known even if this tab ends now.
    for (const one of await this.mine()) if (one.undoes === entry.id) await this.undoOf(one);
    await this.store.change(entry.id, () => null);
    await this.leave(entry.id, { id: entry.id, state: "done", answer });
  }

  /** Whether the next one may go on after a failure; if not, all wait. */
  private async failed(entry: Entry, error: unknown): Promise<boolean> {
    const status = error instanceof ApiError ? error.status : 0;
    const isUnanswered =
      error instanceof ConnectionLost || error instanceof DOMException || NOW.has(status);
    const kind = error instanceof ApiError ? error.kind : "";
    if (isUnanswered || status === 401 || kind === "still-working") {
      await this.beLate();
      return false;
    }
    if (kind === "key-reused") {
      // Somebody has logged in anew: the server tells the same key of two logins apart.
      await this.store.change(entry.id, (kept) => ({ ...kept, key: randomKey(), isLate: true }));
      await this.reload();
      return true;
    }
    if (status === CHANGED_SINCE && entry.tries > 0 && !entry.isLate) {
      // It was sent before, by a page that did not hear the answer: perhaps it was done then.
      await this.store.change(entry.id, (kept) => ({ ...kept, isLate: true }));
      await this.reload();
      return true;
    }
    if (status >= 500 && entry.tries < MOST_TRIES) {
      await this.beLate();
      return false;
    }
    await this.refuse(entry, error);
    return true;
  }

  /** What could not be sent is late, and so is everything behind it. */
  private async beLate(): Promise<void> {
    for (const { id, isLate, refusal } of await this.mine()) {
      if (isLate || refusal) continue;
      await this.store.change(id, (kept) => ({ ...kept, isLate: true }));
      this.waiters.get(id)?.late();
      this.tell({ id, state: "late" });
    }
    await this.reload();
  }

  private async refuse(entry: Entry, error: unknown): Promise<void> {
    const waiter = this.waiters.get(entry.id);
    if (waiter && !waiter.isLate) {
      this.waiters.delete(entry.id);
      await this.store.change(entry.id, () => null);
      await this.leave(entry.id, { id: entry.id, state: "withdrawn" });
      waiter.refuse(error);
      return;
    }
    const { title, hint, details } = explain(error);
    const refusal = { title: [title, ...details].join(" "), hint };
    await this.store.change(entry.id, (kept) => ({ ...kept, refusal }));
    await this.changed(entry.id);
  }

  private waitFor(id: number): Submission {
    let late = () => {};
    const settled = new Promise<Outcome>((settle, refuse) => {
      const waiter = { settle, refuse, isLate: false, late: () => late() };
      this.waiters.set(id, waiter);
      late = () => {
        waiter.isLate = true;
      };
    });
    const mark = late;
    const soon = new Promise<Outcome>((resolve, reject) => {
      const timer = setTimeout(() => late(), SOON_MS);
      late = () => {
        mark();
        clearTimeout(timer);
        resolve({ state: "late" });
      };
      settled.then(resolve, reject).finally(() => clearTimeout(timer));
    });
    // Whoever waits for one of the two hears of a refusal there.
    settled.catch(() => {});
    soon.catch(() => {});
    return { id, settled, soon };
  }

  private async heard(news: News): Promise<void> {
    const entry = this.entries.find(({ id }) => id === news.id);
    await this.reload();
    this.settle(news);
    if (entry && !this.entries.some(({ id }) => id === news.id)) this.sayLeft(entry);
  }

  private settle({ id, answer, state }: News): void {
    const waiter = this.waiters.get(id);
    if (state === "late") waiter?.late();
    if (state !== "done" && state !== "withdrawn") return;
    const action = (answer as Answer)?.action_id;
    if (action) this.actions.set(id, action);
    this.waiters.delete(id);
    waiter?.settle(state === "done" ? { state, answer } : { state });
  }

  private async leave(id: number, news: News): Promise<void> {
    const entry = this.entries.find((one) => one.id === id);
    await this.reload();
    this.settle(news);
    this.tell(news);
    if (entry) this.sayLeft(entry);
  }

  private sayLeft(entry: Entry): void {
    for (const run of this.leavers) run(entry);
  }

  private async changed(id: number): Promise<void> {
    await this.reload();
    this.tell({ id, state: "changed" });
  }

  private tell(news: News): void {
    this.channel?.postMessage(news);
  }

  private async reload(): Promise<void> {
    this.show(await this.mine());
  }

  private async mine(): Promise<readonly Entry[]> {
    const all = await this.store.all();
    return all.filter(({ person }) => person === this.person);
  }

  private show(entries: readonly Entry[]): void {
    if (entries.length === 0 && this.entries.length === 0) return;
    this.entries = entries;
    for (const changed of this.watchers) changed();
  }
}

export const outbox = new Outbox();
