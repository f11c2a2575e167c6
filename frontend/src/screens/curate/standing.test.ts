import { describe, expect, it } from "vitest";
import { decidesBecause, reasonSaid } from "./standing";

describe("why somebody decides", () => {
  it.each([
    ["owner: Owner", "owner"],
    ["owner: Inhaber", "owner, by the role “Inhaber”"],
    [
      "executive: Geschäftsführer; the business bears their name",
      "top manager, by the role “Geschäftsführer”; the business bears their name",
    ],
    ["the legal notice names them alone", "the only person the legal notice names"],
    ["named without a role", "named without a role"],
    [
      "Inhaber, imported by Anna, my list, old.csv, line 133",
      "“Inhaber” in line 133 of old.csv, imported by Anna, my list",
    ],
    [
      "named, imported by Anna, leads.csv, line 7",
      "named in line 7 of leads.csv, imported by Anna",
    ],
    ["Owner, imported from leads, new.csv, line 7", "“Owner” in line 7 of leads, new.csv"],
  ])("%s", (written, said) => {
    expect(reasonSaid(written)).toBe(said);
  });

  it("says no more than is known", () => {
    expect(decidesBecause(null)).toBe("Decision maker");
    expect(decidesBecause("owner: Owner")).toBe("Decision maker: owner");
  });
});
