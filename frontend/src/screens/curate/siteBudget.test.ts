import { expect, test } from "vitest";
import { budgetAmount, budgetWord, isUsedUp } from "./siteBudget";

test("sizes are written as sizes, and seconds are not rounded up to the limit", () => {
  expect(budgetAmount("url_bytes", 10 * 1024 * 1024)).toBe("10.5 MB");
  expect(budgetAmount("parse_seconds", 599.9)).toBe("599");
  expect(budgetAmount("pages_stored", 50_000)).toMatch(/50.000/);
});

test("a part nobody has named here is still shown", () => {
  expect(budgetWord("pages_fetched")).toBe("Pages fetched");
  expect(budgetWord("wishes")).toBe("wishes");
});

test("what has reached its limit is used up", () => {
  expect(isUsedUp({ name: "hosts", used: 10, most: 10 })).toBe(true);
  expect(isUsedUp({ name: "hosts", used: 9, most: 10 })).toBe(false);
});
