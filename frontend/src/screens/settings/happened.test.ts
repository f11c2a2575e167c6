import { expect, it } from "vitest";
import { happened } from "./happened";

it("says what was done without the names that machines give", () => {
  expect(happened("key.created", "api-keys/a17c7f6d-efbe")).toBe("Key created");
  expect(happened("decided", "sitemap files")).toBe("Decided sitemap files");
  expect(happened("informed", "notices")).toBe("Marked as notified");
  expect(happened("searched", "searches")).toBe("Started a search");
  expect(happened("merged", "contacts/1")).toBe("Merged contacts");
});

it("does not cut a name at its slash", () => {
  expect(happened("deleted", "rule A/B test")).toBe("Deleted rule A/B test");
});
