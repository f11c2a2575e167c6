import { expect, it } from "vitest";
import { byPerson, mondays, type Week } from "./weeks";

const week = (given: Partial<Week>): Week => ({
  week: "2026-11-16",
  user_id: "anna",
  person: "Anna",
  contacted: 0,
  replied: 0,
  won: 0,
  ...given,
});

it("counts weeks from their Mondays", () => {
  expect(mondays(3, new Date("2026-11-18T22:00:00Z"))).toEqual([
    "2026-11-02",
    "2026-11-09",
    "2026-11-16",
  ]);
  expect(mondays(1, new Date("2026-11-22T23:59:00Z"))).toEqual(["2026-11-16"]);
});

it("has a row for each person and a place for each week, who contacted most first", () => {
  const work = [
    week({ contacted: 2, won: 1 }),
    week({ week: "2026-11-09", contacted: 1 }),
    week({ user_id: "ben", person: "Ben", contacted: 5 }),
  ];

  const rows = byPerson(work, mondays(2, new Date("2026-11-18T09:00:00Z")));

  expect(rows.map(({ person, contacted, won }) => [person, contacted, won])).toEqual([
    ["Ben", 5, 0],
    ["Anna", 3, 1],
  ]);
  expect(rows[1]?.weeks.map((one) => one?.contacted)).toEqual([1, 2]);
  expect(rows[0]?.weeks[0]).toBeNull();
});
