import { describe, expect, it } from "vitest";
import { changed, match } from "./router";

describe("match", () => {
  it("takes the named parts out of a path", () => {
    expect(match("/curate/{kind}", "/curate/pages")).toEqual({ kind: "pages" });
  });
  it("knows another path when it sees one", () => {
    expect(match("/curate/{kind}", "/curate")).toBeNull();
    expect(match("/rules", "/batches")).toBeNull();
    expect(match("/", "/rules")).toBeNull();
  });
  it("survives a path that is not well-formed", () => {
    expect(match("/curate/{kind}", "/curate/%E0%A4%A")).toEqual({ kind: "%E0%A4%A" });
  });
});

describe("changed", () => {
  it("keeps what it was not asked about", () => {
    expect(changed("?q=a&sort=-id", { q: "b" })).toBe("?sort=-id&q=b");
  });
  it("writes a list as repeated words, and nothing as nothing", () => {
    expect(changed("?x=1", { x: null, filter: ["a:is:1", "b:is:2"] })).toBe(
      "?filter=a%3Ais%3A1&filter=b%3Ais%3A2",
    );
    expect(changed("?x=1", { x: "" })).toBe("");
  });
});
