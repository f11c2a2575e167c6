/**
 * Live events: one stream for the whole page, taken up where it broke off. A page that
 * nobody looks at lets go of its connection, because a browser has only six per server.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";
import { addressOf, onConnectionLost, randomKey } from "./client";
import { outbox } from "./outbox/outbox";
import { EventParser, type ServerEvent } from "./stream";

export type Connection = "connecting" | "live" | "lost";
type Handler = (data: unknown) => void;

const HIDDEN_GRACE = 30_000;
const SILENCE = 45_000;
const NAME = "stream";

/**
 * What this page's stream is called, and what the one before it in this tab was: the server
 * ends that one at once, so that nobody runs out of streams by loading the page again.
 */
function streamNames(): { stream: string; instead_of: string | null } {
  const stream = randomKey();
  const before = sessionStorage.getItem(NAME);
  sessionStorage.setItem(NAME, stream);
  return { stream, instead_of: before };
}

class LiveEvents {
  private handlers = new Map<string, Set<Handler>>();
  private watchers = new Set<() => void>();
  private connection: Connection = "connecting";
  private lastId: string | null = null;
  private stop: AbortController | null = null;
  private names: ReturnType<typeof streamNames> | null = null;
  private follower: AbortController | null = null;
  private failures = 0;
  private pending: ServerEvent[] = [];
  private isScheduled = false;
  private wake: (() => void) | null = null;

  state = (): Connection => this.connection;

  watch = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };

  on(type: string, handler: Handler): () => void {
    const known = this.handlers.get(type) ?? new Set();
    this.handlers.set(type, known.add(handler));
    return () => known.delete(handler);
  }

  start(): () => void {
    if (this.stop) return () => {};
    const stop = new AbortController();
    this.stop = stop;
    void this.run(stop.signal);
    const retry = () => this.wake?.();
    const end = () => {
      this.doubt();
      this.say("lost");
    };
    onConnectionLost(this.doubt);
    window.addEventListener("online", retry);
    window.addEventListener("offline", end);
    document.addEventListener("visibilitychange", retry);
    return () => {
      window.removeEventListener("online", retry);
      window.removeEventListener("offline", end);
      document.removeEventListener("visibilitychange", retry);
      stop.abort();
      this.stop = null;
    };
  }

  /** Somebody got no answer: ask at once whether the server is still there. */
  doubt = (): void => {
    if (this.connection === "live") this.follower?.abort();
  };

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.untilSeen(signal);
      const one = new AbortController();
      this.follower = one;
      const end = () => one.abort();
      signal.addEventListener("abort", end);
      window.addEventListener("pagehide", end);
      const away = this.endWhenHidden(end);
      try {
        await this.follow(one);
      } catch {
        // Every way a stream can end has the same answer: take it up again.
      }
      away();
      signal.removeEventListener("abort", end);
      window.removeEventListener("pagehide", end);
      if (signal.aborted || document.hidden) continue;
      this.failures += 1;
      this.say(this.failures > 1 || !navigator.onLine ? "lost" : "connecting");
      await this.pause(Math.min(3000, 250 * 2 ** Math.min(this.failures, 6)), signal);
    }
  }

  private async follow(stop: AbortController): Promise<void> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.lastId) headers["Last-Event-ID"] = this.lastId;
    let silence = setTimeout(() => stop.abort(), SILENCE);
    try {
      this.names ??= streamNames();
      const address = addressOf("/events", this.names);
      const answer = await fetch(address, { headers, signal: stop.signal });
      if (!answer.ok || !answer.body) return;
      this.failures = 0;
      this.say("live");
      outbox.wake();
      const parser = new EventParser();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => stop.abort(), SILENCE);
        for (const event of parser.take(value)) this.take(event);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  /** Collect what arrives and hand it on once per frame: fifty a second must not stutter. */
  private take(event: ServerEvent): void {
    if (event.id) this.lastId = event.id;
    this.pending.push(event);
    if (this.isScheduled) return;
    this.isScheduled = true;
    const deliver = () => {
      this.isScheduled = false;
      const events = this.pending;
      this.pending = [];
      for (const one of events) this.deliver(one);
    };
    if (document.hidden) setTimeout(deliver, 250);
    else requestAnimationFrame(deliver);
  }

  private deliver(event: ServerEvent): void {
    const handlers = this.handlers.get(event.type);
    if (!handlers?.size) return;
    let data: unknown;
    try {
      data = JSON.parse(event.data);
    } catch {
      return;
    }
    for (const handler of handlers) handler(data);
  }

  private untilSeen(signal: AbortSignal): Promise<void> {
    if (!document.hidden) return Promise.resolve();
    return this.pause(2 ** 31 - 1, signal);
  }

  private pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.wake = null;
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.wake = () => {
        if (!document.hidden) done();
      };
      signal.addEventListener("abort", done, { once: true });
    });
  }

  private endWhenHidden(end: () => void): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(end, HIDDEN_GRACE);
    };
    document.addEventListener("visibilitychange", look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }

  private say(connection: Connection): void {
    if (connection === this.connection) return;
    this.connection = connection;
    for (const changed of this.watchers) changed();
  }
}

export const events = new LiveEvents();

export function useConnection(): Connection {
  return useSyncExternalStore(events.watch, events.state);
}

/** Run the newest `handler` for every event of one type while the component is there. */
export function useLive<T>(type: string, handler: (data: T) => void): void {
  const newest = useRef(handler);
  useEffect(() => {
    newest.current = handler;
  });
  useEffect(() => events.on(type, (data) => newest.current(data as T)), [type]);
}
