import { expect, test } from "vitest";
import { PRIORITIES, priorityWord } from "./priorities";

test("a priority that only the API can set is still said", () => {
  expect(PRIORITIES.map(priorityWord)).toEqual([
    "Urgent priority",
    "High priority",
    "Normal priority",
    "Low priority",
  ]);
  expect(priorityWord(7)).toBe("Priority 7");
});
