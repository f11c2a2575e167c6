import { describe, expect, it } from "vitest";
import { isTable, linesOf } from "./model";

describe("a pasted list", () => {
  it("is read line by line, whatever ends the lines", () => {
    expect(linesOf("a.example\r\n b.example \n\n\rc.example")).toEqual([
      "a.example",
      "b.example",
      "c.example",
    ]);
    expect(linesOf("  \n ")).toEqual([]);
  });

  it.each([
    ["Firma;Webseite;Ansprechpartner\nMüller;mueller.example;Ada", true],
    ["Name\tCity\nAda\tPorto", true],
    ["Müller GmbH, Köln", true],
    ["domain;town\nharbour.example;Porto", false],
    ["harbour.example;Porto", false],
    ["https://harbour.example/a,b", false],
    ["harbour.example", false],
    ["", false],
  ])("%j is a table of companies: %s", (text, is) => {
    expect(isTable(text)).toBe(is);
  });
});
