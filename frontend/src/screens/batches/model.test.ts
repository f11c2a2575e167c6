import { describe, expect, it } from "vitest";
import { linesOf } from "./model";

describe("a pasted list", () => {
  it("is read line by line, whatever ends the lines", () => {
    expect(linesOf("a.example\r\n b.example \n\n\rc.example")).toEqual([
      "a.example",
      "b.example",
      "c.example",
    ]);
    expect(linesOf("  \n ")).toEqual([]);
  });
});
