import { expect, test } from "vitest";
import type { FieldInfo, Row } from "./model";
import { nameFor, ownColumn, ownShown, ownText, ownValues } from "./own";

const field = (name: string, type: string): FieldInfo => ({
  name,
  title: "Budget",
  type,
  values: null,
  comparisons: ["equal"],
  sortable: false,
});

test("a heading in any script becomes a name that the server takes", () => {
  expect(nameFor("Next visit?")).toBe("next_visit");
  expect(nameFor("2nd Größe")).toBe("nd_gro_e");
  expect(nameFor("予算")).toBe("column");
});

test("numbers are sent as numbers and what is empty is taken away", () => {
  const fields = [field("own.budget", "number"), field("own.note", "text")];
  expect(ownValues(fields, { "own.budget": " 12.5 ", "own.note": "" })).toEqual({
    budget: 12.5,
    note: null,
  });
});

test("a date is shown as people write it", () => {
  const row = { id: "1", updated_at: "", own: { visit: "2026-11-20" } } as Row;
  expect(ownShown(row, ownColumn(field("own.visit", "date")))).toBe("20 Nov 2026");
  expect(ownShown(row, ownColumn(field("own.visit", "text")))).toBe("2026-11-20");
});

test("a value of nought is shown, a missing one is not", () => {
  const row = { id: "1", updated_at: "", own: { budget: 0 } } as Row;
  expect(ownText(row, "own.budget")).toBe("0");
  expect(ownText(row, "own.other")).toBe("");
  expect(ownText({ id: "1", updated_at: "" }, "own.budget")).toBe("");
  expect(ownColumn(field("own.budget", "number")).title).toBe("Budget");
});
