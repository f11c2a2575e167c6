import { describe, expect, it } from "vitest";
import { marked } from "./marked";

const marks = (snippet: string, value: string | null) =>
  marked(snippet, value)
    .filter(({ isMark }) => isMark)
    .map(({ text }) => text);

describe("a snippet", () => {
  it("has its value marked wherever it stands, in any case", () => {
    expect(marks("Mail Info@Example.com or info@example.com", "info@example.com")).toEqual([
      "Info@Example.com",
      "info@example.com",
    ]);
  });

  it("stays whole when put together again", () => {
    const snippet = "call 555 or 555";
    expect(
      marked(snippet, "555")
        .map(({ text }) => text)
        .join(""),
    ).toBe(snippet);
  });

  it("is plain without a value, and where letters change length", () => {
    expect(marks("anything", null)).toEqual([]);
    expect(marks("anything", "  ")).toEqual([]);
    expect(marks("İstanbul info", "info")).toEqual([]);
  });
});
