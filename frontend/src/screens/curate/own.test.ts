import { expect, test } from "vitest";
import type { FieldInfo, Row } from "./model";
import { nameFor, ownColumn, ownText, ownValues } from "./own";

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

test("a value of nought is shown, a missing one is not", () => {
  const row = { id: "1", updated_at: "", own: { budget: 0 } } as Row;
  expect(ownText(row, "own.budget")).toBe("0");
  expect(ownText(row, "own.other")).toBe("");
  expect(ownText({ id: "1", updated_at: "" }, "own.budget")).toBe("");
  expect(ownColumn(field("own.budget", "number")).title).toBe("Budget");
});
