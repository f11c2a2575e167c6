import { describe, expect, it } from "vitest";
import { dayFromNow, isDue, untilMonday } from "./work";

const WEDNESDAY = new Date("2026-11-18T09:00:00");

describe("a day to get in touch again", () => {
  it("is a day of the calendar here", () => {
    expect(dayFromNow(0, WEDNESDAY)).toBe("2026-11-18");
    expect(dayFromNow(14, WEDNESDAY)).toBe("2026-12-02");
  });

  it("of next Monday is never today", () => {
    const days = Array.from({ length: 7 }, (_, day) => new Date(2026, 10, 16 + day, 9));
    expect(days.map((day) => untilMonday(day))).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });

  it("has come on that day, not before", () => {
    expect(isDue("2026-11-18", WEDNESDAY)).toBe(true);
    expect(isDue("2026-11-19", WEDNESDAY)).toBe(false);
  });
});
