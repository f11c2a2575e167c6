import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Draft } from "./entry";
import { isSame } from "./entry";
import { Outbox } from "./outbox";
import { newEntry, PageStore } from "./store";

interface Asked {
  path: string;
  body: Record<string, unknown>;
  headers: Record<string, string>;
}

let asked: Asked[];
/** What the server answers: a status with a body, or nothing, while it is away. */
let answer: (asked: Asked) => [number, unknown] | null;
const opened: (() => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("BroadcastChannel", undefined);
  asked = [];
  answer = () => [200, { action_id: "act", changed: 1 }];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    const body = init.body ? JSON.parse(String(init.body)) : {};
    const request = { path: url.slice(7), body, headers: init.headers as Asked["headers"] };
    asked.push(request);
    const said = answer(request);
    if (!said) throw new TypeError("gone");
    return Response.json(said[1], { status: said[0] });
  });
});
afterEach(() => {
  for (const close of opened.splice(0)) close();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function anOutbox(store = new PageStore(), person = "ada"): Outbox {
  const outbox = new Outbox();
  opened.push(outbox.open(person, Promise.resolve(store)));
  return outbox;
}

const contact = (id: string, status = "Contacted"): Draft => ({
  method: "POST",
  path: "/companies/status",
  body: { ids: [id], status },
  kind: "/companies",
  records: [{ id, name: `Company ${id}`, before: { status: "New" }, after: { status } }],
  said: status,
});
const posts = () => asked.filter(({ headers }) => headers["Idempotency-Key"]);
const undo: Draft = { ...contact("a", "New"), path: "", said: "Undone" };
const settle = (ms = 10) => vi.advanceTimersByTimeAsync(ms);

it("keeps what could not be sent, and sends it in order, once, with the key it had", async () => {
  answer = () => null;
  const store = new PageStore();
  const tab = anOutbox(store);
  const first = await tab.submit(contact("a"));
  await settle();
  await tab.submit(contact("b"));
  await settle();
  expect((await first.soon).state).toBe("late");
  expect(tab.ahead({ id: "a", status: "New" }, "/companies").status).toBe("Contacted");
  opened.pop()?.();
  const keys = new Set(posts().map(({ headers }) => headers["Idempotency-Key"]));
  expect(keys.size).toBe(1);

  answer = ({ path }) =>
    path.startsWith("/companies?")
      ? [200, { items: ["a", "b"].map((id) => ({ id, status: "New" })) }]
      : [200, { action_id: "act" }];
  asked = [];
  anOutbox(store);
  await settle(5000);
  expect(posts().map(({ body }) => body.ids)).toEqual([["a"], ["b"]]);
  expect(keys).toContain(posts()[0]?.headers["Idempotency-Key"]);
  expect(await store.all()).toEqual([]);
});

it("sends nobody what another person has decided", async () => {
  answer = () => null;
  const store = new PageStore();
  await anOutbox(store).submit(contact("a"));
  await settle();
  opened.pop()?.();
  asked = [];
  const other = anOutbox(store, "bob");
  await settle(5000);
  expect([asked, other.snapshot()]).toEqual([[], []]);
});

it("asks about what others have changed meanwhile, and sends the rest", async () => {
  answer = () => null;
  const tab = anOutbox();
  const both = contact("a");
  await tab.submit({
    ...both,
    body: { ids: ["a", "b"], status: "Contacted" },
    records: [...both.records, ...contact("b").records],
  });
  await settle();
  answer = ({ path }) =>
    path.startsWith("/companies?")
      ? [
          200,
          {
            items: [
              { id: "a", status: "Won" },
              { id: "b", status: "New" },
            ],
          },
        ]
      : [200, { action_id: "act" }];
  await settle(5000);
  expect(posts().at(-1)?.body.ids).toEqual(["b"]);
  const [left] = tab.snapshot();
  expect(left?.records[0]?.name).toBe("Company a");
  expect(left?.refusal?.theirs).toEqual({ status: "Won" });

  await tab.insist(left?.id ?? 0);
  await settle(5000);
  expect(posts().at(-1)?.body.ids).toEqual(["a"]);
  expect(tab.snapshot()).toEqual([]);
});

it("takes back what was never sent as if it had not been, and undoes what may have been", async () => {
  answer = () => null;
  const tab = anOutbox();
  const sent = await tab.submit(contact("a"));
  await settle();
  const unsent = await tab.submit(contact("b"));
  await settle();
  expect(await tab.takeBack(unsent.id, undo)).toBeNull();
  expect((await unsent.settled).state).toBe("withdrawn");
  const undone = await tab.takeBack(sent.id, undo);
  answer = ({ path }) =>
    path.startsWith("/companies?")
      ? [200, { items: [{ id: "a", status: "New" }] }]
      : [200, { action_id: "act-1", restored: 1 }];
  await settle(5000);
  expect((await undone?.settled)?.state).toBe("done");
  expect(posts().at(-1)?.path).toBe("/actions/act-1/undo");
  expect(posts().filter(({ body }) => String(body.ids) === "b")).toEqual([]);
});

it("took an edit that was done before the page was left for someone else's", async () => {
  const store = new PageStore();
  const edit: Draft = { ...contact("a"), method: "PATCH", etag: '"1"' };
  // Sent by a page that was left before the answer came.
  await store.add({ ...newEntry(edit, "key", "ada"), tries: 1 });
  answer = ({ path, headers }) => {
    if (path.startsWith("/companies?")) return [200, { items: [{ id: "a", status: "Contacted" }] }];
    return headers["If-Match"] === "*" ? [200, {}] : [412, { title: "Changed since." }];
  };
  const tab = anOutbox(store);
  await settle(5000);
  expect(tab.snapshot()).toEqual([]);
  expect(posts().map(({ headers }) => headers["Idempotency-Key"])).toEqual(["key", "key"]);
});

it("tells a refusal to who waits for it, and keeps it where nobody does", async () => {
  answer = () => [422, { title: "No." }];
  const tab = anOutbox();
  const { settled } = await tab.submit(contact("a"));
  const refused = settled.catch((error) => error.message);
  await settle();
  expect(await refused).toBe("No.");
  answer = () => null;
  await tab.submit({ ...contact("b"), records: [] });
  await settle();
  answer = () => [422, { title: "Never." }];
  await settle(5000);
  expect(tab.snapshot().map(({ refusal }) => refusal?.title)).toEqual(["Never."]);
});

it("is not disturbed by the other columns of one's own", () => {
  expect(isSame({ a: 1, b: 2 }, { a: 1 })).toBe(true);
  expect(isSame({ b: 2 }, { a: null })).toBe(true);
  expect(isSame([], null)).toBe(true);
  expect(isSame("x", "y")).toBe(false);
});
