import { expect, it } from "vitest";
import { said } from "./said";

it("puts any value into words", () => {
  expect(said({ contacts_removed: 3, kinds: ["email", "phone"], dry_run: false, by: null })).toBe(
    "contacts removed: 3; kinds: email, phone; dry run: no",
  );
  expect(said([])).toBe("–");
});
