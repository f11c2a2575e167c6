import { expect, describe as group, it } from "vitest";
import { filtered } from "@/api/kinds";
import {
  conditionOf,
  describe,
  fieldWord,
  readFilter,
  readFilters,
  toggled,
  writeFilter,
} from "./filters";

group("fields", () => {
  // What the timeline of a company may name; nobody reads "Email contact id".
  it.each(["email_contact_id", "decision_maker_id", "owner_id", "search_id"])(
    "%s has a word",
    (field) => {
      expect(fieldWord(field)).not.toMatch(/\bid\b/);
    },
  );
});

group("filters", () => {
  it("come back from the address as they went in", () => {
    for (const written of [
      "rating:at_least:4",
      "website:known",
      "url:equal:https://a.example/x:y",
      "city:equal:Leeds|rating:at_least:4|website:known",
      "name:contains:a|b",
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

  it("hold if one of their alternatives does", () => {
    const filter = readFilter("city:equal:Leeds|rating:at_least:4");
    expect(filter && describe(filter)).toBe("City is Leeds or Rating is at least 4");
    expect(filter && conditionOf(filter)).toEqual({
      field: "city",
      comparison: "equal",
      value: "Leeds",
      or: [{ field: "rating", comparison: "at_least", value: "4" }],
    });
  });

  it("are no switch for one value if they have alternatives", () => {
    const filters = readFilters(["status:equal:New|rating:at_least:4"]);
    expect(toggled(filters, "status", "New")).toHaveLength(2);
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
