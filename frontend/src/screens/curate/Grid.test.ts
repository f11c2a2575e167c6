import { expect, it } from "vitest";
import { fitting } from "./Grid";
import { KINDS } from "./kinds";

it("lets the last columns give way, and never the first two", () => {
  for (const { columns } of KINDS) {
    expect(fitting(columns, 500)).toEqual(columns);
    expect(fitting(columns, 43).length).toBeLessThan(columns.length);
    expect(fitting(columns, 1)).toEqual(columns.slice(0, 2));
  }
});

it("shows the usual columns of every kind whole on a small laptop", () => {
  const room = (1366 - 232 - 2 * 32 - 2) / 16;
  for (const { columns } of KINDS) {
    const usual = columns.filter(({ isHidden }) => !isHidden);
    expect(fitting(usual, room)).toEqual(usual);
  }
});
