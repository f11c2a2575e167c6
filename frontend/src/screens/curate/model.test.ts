import { expect, it } from "vitest";
import { addressShown } from "./model";

it.each([
  ["https://www.opticians.bv/?utm_source=maps&utm_medium=organic", "opticians.bv"],
  ["https://a.bv/team/?id=7&utm_source=maps", "a.bv/team/?id=7"],
  ["https://a.bv/team?utm_source=maps&id=7#top", "a.bv/team?id=7#top"],
  ["http://a.bv/page?gclid=abc#top", "a.bv/page#top"],
  ["HTTPS://a.bv/list?page=2", "a.bv/list?page=2"],
])("%s is read as %s", (address, shown) => {
  expect(addressShown(address)).toBe(shown);
});
