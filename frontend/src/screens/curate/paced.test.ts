import { expect, it } from "vitest";
import { restAfter } from "./paced";

it("rests ten times as long as an answer took, and never longer than half a minute", () => {
  expect(restAfter(20)).toBe(200);
  expect(restAfter(1_000)).toBe(10_000);
  expect(restAfter(60_000)).toBe(30_000);
});
