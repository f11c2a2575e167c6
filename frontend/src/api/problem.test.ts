import { expect, it } from "vitest";
import { ApiError, explain } from "./problem";

it("names a field as a form does, not as a validator", () => {
  const errors = [
    { where: "body.conditions.0.batch_size", what: "Use a number." },
    { where: "query.tags.3", what: "Required." },
  ];

  expect(explain(new ApiError(422, { detail: "Please correct.", errors })).details).toEqual([
    "Batch size: Use a number.",
    "Tags: Required.",
  ]);
});

it("does not send a person to a route of the API", () => {
  const refused = { detail: "The demo is not open.", hint: "Open it with POST /api/v3/demo." };

  expect(explain(new ApiError(404, refused)).hint).toBe(
    "It may have been deleted or merged by someone else.",
  );
  expect(explain(new ApiError(422, { hint: "Use fewer." })).hint).toBe("Use fewer.");
});
