import { describe, expect, it } from "vitest";
import { EventParser } from "./stream";

describe("the stream of events", () => {
  it("waits for the rest of an event that came in pieces", () => {
    const parser = new EventParser();
    expect(parser.take("id: 7\nevent: stages\nda")).toEqual([]);
    expect(parser.take("ta: [1]\n\n")).toEqual([{ id: "7", type: "stages", data: "[1]" }]);
  });
  it("takes several at once, joins lines, and passes over comments", () => {
    const parser = new EventParser();
    expect(
      parser.take(": still here\n\ndata: a\ndata: b\n\nevent: reset\r\ndata:{}\r\n\r\n"),
    ).toEqual([
      { id: null, type: "message", data: "a\nb" },
      { id: null, type: "reset", data: "{}" },
    ]);
  });
  it("is not fooled by a line end that came in two halves", () => {
    const parser = new EventParser();
    expect(parser.take("event: stages\r")).toEqual([]);
    expect(parser.take("\ndata: 1\r\n\r")).toEqual([]);
    expect(parser.take("\n")).toEqual([{ id: null, type: "stages", data: "1" }]);
  });
});
