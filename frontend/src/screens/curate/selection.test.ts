import { describe, expect, it } from "vitest";
import { extend, isSelected, NOTHING, sizeOf, toggle, widen } from "./selection";

const ROWS = ["a", "b", "c", "d", "e"].map((id) => ({ id }));

describe("a selection", () => {
  it("takes rows in and out one by one", () => {
    const two = toggle(toggle(NOTHING, ROWS, 1), ROWS, 3);
    expect([...two.ids]).toEqual(["b", "d"]);
    expect([...toggle(two, ROWS, 1).ids]).toEqual(["d"]);
  });

  it("takes a range, up or down, from where it began", () => {
    const start = toggle(NOTHING, ROWS, 3);
    expect([...extend(start, ROWS, 1).ids].sort()).toEqual(["b", "c", "d"]);
    expect([...extend(start, ROWS, 4).ids].sort()).toEqual(["d", "e"]);
  });

  it("widens to what is loaded, and then to all that match", () => {
    const page = widen(NOTHING, ROWS);
    expect(sizeOf(page, 1000)).toBe(5);
    const all = widen(page, ROWS);
    expect(sizeOf(all, 1000)).toBe(1000);
    expect(isSelected(all, "not loaded")).toBe(true);
  });

  it("narrows from all that match to what is loaded, less one", () => {
    const all = widen(widen(NOTHING, ROWS), ROWS);
    expect([...toggle(all, ROWS, 0).ids]).toEqual(["b", "c", "d", "e"]);
  });

  it("of nothing loaded stays empty", () => {
    expect(sizeOf(widen(NOTHING, []), 0)).toBe(0);
    expect(toggle(NOTHING, [], 0)).toBe(NOTHING);
  });
});
