import { describe, expect, it } from "vitest";
import { bytes, duration, past, plural, relative, short } from "./format";
import { wordOf } from "./words";

describe("what people read", () => {
  it("gives a duration in its two largest parts", () => {
    expect([0.2, 59, 60, 3725, 90_000].map(duration)).toEqual([
      "under 1 s",
      "59 s",
      "1 min",
      "1 h 2 min",
      "1 d 1 h",
    ]);
  });
  it("says how long ago and how soon", () => {
    const now = new Date("2026-01-01T12:00:00Z");
    expect(relative("2026-01-01T11:58:55Z", now)).toBe("1 min ago");
    expect(relative("2026-01-01T12:00:30Z", now)).toBe("in 30 s");
    expect(relative("2026-01-01T12:00:01Z", now)).toBe("now");
  });
  it("does not say that what has happened is still to come", () => {
    expect(past("2026-11-15T08:00:04Z", Date.parse("2026-11-15T08:00:00Z"))).toBe("now");
    expect(past("2026-11-15T08:00:00Z", Date.parse("2026-11-15T08:00:30Z"))).toBe("30 s ago");
  });
  it("counts one and many", () => {
    expect([plural(1, "row"), plural(2, "row"), plural(0, "entry", "entries")]).toEqual([
      "1 row",
      "2 rows",
      "0 entries",
    ]);
  });
  it("shortens only what is long", () => {
    expect([short(9999), short(12_345), short(1_234_567)]).toEqual(["9,999", "12.3K", "1.2M"]);
  });
  it("writes sizes", () => {
    expect([bytes(512), bytes(1500), bytes(123_456_789)]).toEqual(["512 B", "1.5 kB", "123 MB"]);
  });
  it("writes statuses as words", () => {
    expect(["NoContactFound", "Not a Fit", "InProgress", "own_site", "New"].map(wordOf)).toEqual([
      "No contact found",
      "Not a Fit",
      "In progress",
      "Own site",
      "New",
    ]);
  });
});
