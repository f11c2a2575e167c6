import { expect, it } from "vitest";
import type { Column } from "@/api/kinds";
import { widthOf } from "./Cell";
import { fitting } from "./Grid";

const column = (given: Partial<Column>): Column => ({
  field: "name",
  title: "Name",
  width: 10,
  grow: 0,
  show: "text",
  instead: [],
  under: [],
  only_with: null,
  is_hidden: false,
  is_sortable: true,
  sort: "name",
  ...given,
});

it("lets the last columns give way, and never the first two", () => {
  const columns = ["a", "b", "c", "d"].map((field) => column({ field }));

  expect(fitting(columns, 500)).toEqual(columns);
  expect(fitting(columns, 33)).toEqual(columns.slice(0, 3));
  expect(fitting(columns, 1)).toEqual(columns.slice(0, 2));
});

it("gives a column that grows at least its width", () => {
  expect(widthOf(column({ width: 6.5 }))).toBe("6.5rem");
  expect(widthOf(column({ width: 17, grow: 2.4 }))).toBe("minmax(17rem, 2.4fr)");
});
