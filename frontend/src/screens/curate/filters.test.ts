import { expect, describe as group, it } from "vitest";
import { filtered } from "@/api/kinds";
import { conditionOf, describe, readFilter, readFilters, toggled, writeFilter } from "./filters";

group("filters", () => {
  it("come back from the address as they went in", () => {
    for (const written of [
      "rating:at_least:4",
      "website:known",
      "url:equal:https://a.example/x:y",
    ]) {
      const filter = readFilter(written);
      expect(filter && writeFilter(filter)).toBe(written);
    }
  });

  it("understand the links of other screens", () => {
    const [, query] = filtered("/curate/places", "deep_scan_status", "Queued").split("?");
    expect(readFilters(new URLSearchParams(query).getAll("filter"))).toEqual([
      { field: "deep_scan_status", comparison: "equal", value: "Queued" },
    ]);
  });

  it("leave out what makes no sense", () => {
    expect(readFilters(["rating", "rating:~:4", "rating:at_least", ":known", "a:known"])).toEqual([
      { field: "a", comparison: "known", value: "" },
    ]);
  });

  it("send a list where several values are meant", () => {
    expect(conditionOf({ field: "status", comparison: "one_of", value: "New,Maybe" })).toEqual({
      field: "status",
      comparison: "one_of",
      value: ["New", "Maybe"],
    });
  });

  it("read as a sentence", () => {
    const filter = { field: "contact_likelihood", comparison: "at_least", value: "0.5" };
    expect(describe(filter)).toBe("Contact likelihood is at least 0.5");
  });

  it("switch one value of a field on and off", () => {
    const on = toggled([], "status", "New");
    expect(on).toHaveLength(1);
    expect(toggled(on, "status", "Maybe")).toEqual([
      { field: "status", comparison: "equal", value: "Maybe" },
    ]);
    expect(toggled(on, "status", "New")).toEqual([]);
  });
});
