import { expect, it } from "vitest";
import { changed, fieldsOf, merge } from "./edit";

const before = fieldsOf({ id: "1", updated_at: "", name: "Ann", tags: ["a"], notes: "old" });

it("sends only what was changed", () => {
  expect(changed(before, { ...before, notes: " new ", role: "", tags: "a, b" })).toEqual({
    notes: "new",
    tags: ["a", "b"],
  });
  expect(changed(before, { ...before, name: " " })).toEqual({ name: null });
});

it("brings edits of different fields together", () => {
  const { values, clashes } = merge(
    before,
    { ...before, notes: "mine" },
    { ...before, name: "Bea" },
  );
  expect(clashes).toEqual({});
  expect([values.name, values.notes]).toEqual(["Bea", "mine"]);
});

it("does not lose a note that two people wrote", () => {
  const { values, clashes } = merge(
    before,
    { ...before, notes: "mine" },
    { ...before, notes: "theirs" },
  );
  expect(values.notes).toBe("mine");
  expect(clashes).toEqual({ notes: "theirs" });
});
