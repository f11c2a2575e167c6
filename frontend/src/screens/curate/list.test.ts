import { QueryClient } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Query } from "@/api/client";
import { LISTS, RecordList } from "./list";

const row = (id: string, status = "New") => ({ id, status, updated_at: "2026-01-01T00:00:00Z" });
const page = (ids: string[], next: string | null, count = 4) => ({
  items: ids.map((id) => row(id)),
  next_cursor: next,
  total: { count, is_exact: true },
});

let cache: QueryClient;
let answers: unknown[];
let asked: string[];

beforeEach(() => {
  cache = new QueryClient();
  answers = [];
  asked = [];
  vi.stubGlobal("fetch", (url: string) => {
    asked.push(url);
    const next = answers.shift();
    return next instanceof Error ? Promise.reject(next) : Promise.resolve(Response.json(next));
  });
});
afterEach(() => vi.unstubAllGlobals());

/** A list that somebody looks at. */
function shown(path: string, query: Query): RecordList {
  const records = new RecordList(cache, path, query);
  records.watch(() => {});
  return records;
}

const ids = (records: RecordList) => records.snapshot().rows.map(({ id }) => id);

describe("a list of records", () => {
  it("adds pages and shows a row that moved only once", async () => {
    answers = [page(["a", "b"], "next"), page(["b", "c"], null)];
    const records = shown("/domains", { sort: "domain" });
    await records.load();
    await records.more();
    expect(ids(records)).toEqual(["a", "b", "c"]);
    expect(records.snapshot().hasMore).toBe(false);
    expect(asked[1]).toContain("cursor=next");
    expect(asked[1]).toContain("sort=domain");
  });

  it("is held by the page's cache alone, and forgotten with it", async () => {
    answers = [page(["a"], null)];
    const records = shown("/domains", { sort: "domain" });
    await records.load();
    const key = [LISTS, "/domains", { sort: "domain" }];
    expect(cache.getQueryData(key)).toBe(records.snapshot());
    cache.removeQueries();
    expect(ids(records)).toEqual([]);
  });

  it("keeps a decision made while the next page was on its way", async () => {
    answers = [page(["a"], "next"), page(["b"], null)];
    const records = shown("/domains", {});
    await records.load();
    const reading = records.more();
    records.patch(new Map([["a", { status: "Selected" }]]));
    await reading;
    expect(records.snapshot().rows.map(({ status }) => status)).toEqual(["Selected", "New"]);
  });

  it("shows one taken back by a screen that was left before", async () => {
    answers = [page(["a"], null), page(["b", "a"], null)];
    const left = shown("/domains", {});
    await left.load();
    const before = left.patch(new Map([["a", { status: "Selected" }]]));
    left.stop();
    const records = shown("/domains", {});
    await records.load();
    records.patch(new Map([["a", { status: "Selected" }]]));
    left.patch(before);
    expect(records.snapshot().rows.map(({ id, status }) => [id, status])).toEqual([
      ["b", "New"],
      ["a", "New"],
    ]);
  });

  it("is not read again by what refreshes the rest of the page", async () => {
    answers = [page(["a"], "next"), page(["b"], null)];
    const records = shown("/domains", {});
    await records.load();
    await records.more();
    await cache.invalidateQueries();
    expect(asked).toHaveLength(2);
    expect(ids(records)).toEqual(["a", "b"]);
  });

  it("changes rows in place and can put them back", async () => {
    answers = [page(["a", "b"], null)];
    const records = shown("/domains", {});
    await records.load();
    const before = records.patch(new Map([["b", { status: "Selected" }]]));
    expect(records.snapshot().rows[1]?.status).toBe("Selected");
    records.patch(before);
    expect(records.snapshot().rows[1]?.status).toBe("New");
  });

  it("counts what changed elsewhere instead of moving rows under the hand", async () => {
    answers = [page(["a"], null)];
    const records = shown("/domains", {});
    await records.load();
    records.receive(new Map([["z", { status: "New" }]]));
    expect(ids(records)).toEqual(["a"]);
    expect(records.snapshot().unseen).toBe(1);
    records.stop();
  });

  it("changes a few rows in each frame, and never back to what was heard before", async () => {
    vi.useFakeTimers();
    const many = Array.from({ length: 40 }, (_, number) => `r${number}`);
    answers = [page(many, null), page(many, null)];
    const records = shown("/domains", {});
    await records.load();
    const selected = () =>
      records.snapshot().rows.filter(({ status }) => status === "Selected").length;
    records.receive(new Map(many.map((id) => [id, { status: "Selected" }])));
    expect(selected()).toBe(12);
    records.patch(new Map([["r39", { status: "Archived" }]]));
    await vi.advanceTimersByTimeAsync(100);
    expect(selected()).toBe(39);
    expect(records.snapshot().rows[39]?.status).toBe("Archived");
    records.stop();
    vi.useRealTimers();
  });

  it("draws nothing again that says what it said", async () => {
    answers = [page(["a", "b"], null)];
    const records = shown("/domains", {});
    await records.load();
    const { rows } = records.snapshot();
    records.patch(new Map([["a", { ...row("a") }]]));
    expect(records.snapshot().rows).toBe(rows);
  });

  it("takes out what is gone when much has happened", async () => {
    vi.useFakeTimers();
    answers = [page(["a", "b", "c"], null), page(["a", "c"], null)];
    const records = shown("/contacts", {});
    await records.load();
    records.receiveMany();
    expect(records.snapshot().isBehind).toBe(true);
    await vi.advanceTimersByTimeAsync(1000);
    vi.useRealTimers();
    expect(ids(records)).toEqual(["a", "c"]);
    expect(records.placeOf("c")).toBe(1);
    expect(records.snapshot().total.count).toBe(3);
    records.stop();
  });

  it("asks from the beginning when much has happened to an empty list", async () => {
    answers = [page([], null, 0), page(["a"], null)];
    const records = shown("/contacts", {});
    await records.load();
    records.receiveMany();
    await vi.waitFor(() => expect(ids(records)).toEqual(["a"]));
  });

  it("keeps what it shows when the next page fails, and can ask again", async () => {
    answers = [page(["a"], "next"), new TypeError("lost"), page(["b"], null)];
    const records = shown("/domains", {});
    await records.load();
    await records.more();
    expect(records.snapshot().error).toBeTruthy();
    expect(ids(records)).toEqual(["a"]);
    await records.more();
    expect(ids(records)).toEqual(["a", "b"]);
  });

  it("forgets the answer to a question that is no longer asked", async () => {
    answers = [page(["a"], null)];
    const records = shown("/domains", {});
    const loading = records.load();
    records.stop();
    await loading;
    expect(ids(records)).toEqual([]);
  });
});
