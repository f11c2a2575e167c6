import { afterEach, describe, expect, it, vi } from "vitest";
import {
  addressOf,
  call,
  filled,
  onLoginNeeded,
  pauseBefore,
  randomKey,
  rememberCsrf,
} from "./client";
import { ApiError, ConnectionLost, explain } from "./problem";

const json = (body: unknown, status = 200, headers = {}) =>
  new Response(JSON.stringify(body), { status, headers });

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  rememberCsrf(null);
});

describe("addresses", () => {
  it("repeat a list and leave out what is empty", () => {
    expect(
      addressOf("/pages", { filter: ["a:is:1", "b:is:2"], q: "", cursor: null, limit: 5 }),
    ).toBe("/api/v3/pages?filter=a%3Ais%3A1&filter=b%3Ais%3A2&limit=5");
  });
  it("escape what is put into them", () => {
    expect(filled("/stages/{stage}/pause", { stage: "a/b" })).toBe("/stages/a%2Fb/pause");
  });
});

describe("a call", () => {
  it("is repeated with the same key when the connection is lost", async () => {
    vi.useFakeTimers();
    const seen: Headers[] = [];
    const answers = [new TypeError("gone"), new TypeError("gone"), json({ changed: 3 })];
    vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
      seen.push(new Headers(init.headers));
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    });
    const asked = call<{ changed: number }>("POST", "/pages/status", { body: {} });
    await vi.runAllTimersAsync();
    expect((await asked).changed).toBe(3);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map((headers) => headers.get("Idempotency-Key"))).size).toBe(1);
  });
  it("gives up after its timeout, saying that nobody answered", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("gone");
    });
    const asked = call("POST", "/pages/status", { body: {}, timeout: 2 }).catch((error) => error);
    await vi.runAllTimersAsync();
    expect(await asked).toBeInstanceOf(ConnectionLost);
  });
  it("does not repeat what the server refused", async () => {
    const fetched = vi.fn(async () => json({ detail: "No.", hint: "Ask." }, 422));
    vi.stubGlobal("fetch", fetched);
    const error = await call("POST", "/rules", { body: {} }).catch((found) => found);
    expect(fetched).toHaveBeenCalledTimes(1);
    expect(explain(error)).toMatchObject({ title: "No.", hint: "Ask." });
  });
  it("sends the token of the session when it writes, and not when it reads", async () => {
    rememberCsrf("secret");
    const seen: (string | null)[] = [];
    vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
      seen.push(new Headers(init.headers).get("X-CSRF-Token"));
      return json({});
    });
    await call("GET", "/session");
    await call("DELETE", "/session");
    expect(seen).toEqual([null, "secret"]);
  });
  it("asks for a login when the server no longer knows us", async () => {
    const asked = vi.fn();
    onLoginNeeded(asked);
    vi.stubGlobal("fetch", async () => new Response("<html>", { status: 401 }));
    await expect(call("GET", "/stages")).rejects.toBeInstanceOf(ApiError);
    expect(asked).toHaveBeenCalledOnce();
  });
});

describe("waiting", () => {
  it("grows, but not for ever, and obeys the server", () => {
    const lost = new ConnectionLost();
    expect([0, 1, 2, 9].map((attempt) => pauseBefore(attempt, lost))).toEqual([
      250, 500, 1000, 4000,
    ]);
    expect(pauseBefore(0, json({}, 503, { "Retry-After": "7" }))).toBe(7000);
  });
  it("keys do not repeat", () => {
    expect(randomKey()).not.toBe(randomKey());
    expect(randomKey()).toMatch(/^[0-9a-f]{32}$/);
  });
});
