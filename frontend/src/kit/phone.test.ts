import { describe, expect, it } from "vitest";
import { phoneShown } from "./phone";

describe("a phone number", () => {
  it.each([
    ["+33465712306", "+33 4 65 71 23 06"],
    ["+442079460889", "+44 20 7946 0889"],
    ["+441314960987", "+44 131 496 0987"],
    ["+441632960123", "+44 1632 960123"],
    ["+14155550175", "+1 415 555 0175"],
    ["+492214710724", "+49 221 4710 724"],
    ["+498999998703", "+49 89 9999 8703"],
    ["+48120017793", "+48 12 001 77 93"],
    ["+35312345678", "+353 123 456 78"],
  ])("%s is read as %s", (phone, shown) => {
    expect(phoneShown(phone)).toBe(shown);
  });

  it("keeps every digit, whatever its length", () => {
    for (let length = 6; length <= 15; length += 1) {
      for (const start of ["1", "33", "44", "49", "81", "995"]) {
        const phone = `+${(`${start}987654321012345`).slice(0, length)}`;
        expect(phoneShown(phone).replaceAll(" ", "")).toBe(phone);
      }
    }
  });

  it("stays as it is where its country is not known", () => {
    expect(phoneShown("05 36 49 87 58")).toBe("05 36 49 87 58");
  });
});
