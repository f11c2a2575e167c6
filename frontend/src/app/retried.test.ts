import { afterEach, describe, expect, it, vi } from "vitest";
import { retried } from "./retried";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe("a part of the page", () => {
  it("is loaded again until the server is back", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("gone");
    });
    let tries = 0;
    const load = retried(async () => {
      tries += 1;
      if (tries < 8) throw new Error("Unable to preload");
      return "here";
    });
    const loaded = load();
    await vi.runAllTimersAsync();
    expect(await loaded).toBe("here");
  });
  it("is given up when the server answers and has it no more", async () => {
    vi.useFakeTimers();
    vi.stubGlobal("fetch", async () => new Response("{}"));
    const gone = vi.fn(async () => {
      throw new Error("404");
    });
    const loaded = retried(gone)().catch((error) => error);
    await vi.runAllTimersAsync();
    expect(await loaded).toBeInstanceOf(Error);
    expect(gone).toHaveBeenCalledTimes(3);
  });
});
