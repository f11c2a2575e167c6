import { expect, it } from "vitest";
import { dueTone, momentOf, todayHere } from "./due";

const NOW = new Date(2026, 10, 15, 12, 30);

it("presses more the nearer the day is", () => {
  const inDays = (days: number) => new Date(NOW.getTime() + days * 86_400_000).toISOString();
  expect(dueTone(inDays(-1), true, NOW)).toBe("bad");
  expect(dueTone(inDays(6), false, NOW)).toBe("warn");
  expect(dueTone(inDays(8), false, NOW)).toBe("quiet");
});

it("writes today as a date field does, by the clock on the wall", () => {
  expect(todayHere(new Date(2026, 0, 5, 0, 1))).toBe("2026-01-05");
});

it("means the end of a day, but never a moment that has not come", () => {
  expect(momentOf("2026-11-14", NOW)).toBe(new Date(2026, 10, 14, 23, 59, 59).toISOString());
  expect(momentOf("2026-11-15", NOW)).toBe(NOW.toISOString());
});
