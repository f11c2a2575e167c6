import { describe, expect, it } from "vitest";
import { matching } from "./matching";

const named = (...names: string[]) => names.map((name) => ({ name }));

describe("the palette", () => {
  it("finds every word in any order, and what begins with them first", () => {
    const entries = named("Export the list", "Contacts", "Go on with contacts", "Rules");
    expect(matching(entries, "contacts").map(({ name }) => name)).toEqual([
      "Contacts",
      "Go on with contacts",
    ]);
    expect(matching(entries, "list exp")).toEqual(named("Export the list"));
  });

  it("lists everything before a word is typed", () => {
    expect(matching(named("Rules", "Contacts"), " ")).toEqual(named("Rules", "Contacts"));
  });
});
