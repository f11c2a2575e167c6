/** Work per person and week, put into rows and columns. */
import type { Schemas } from "@/api/types";

export type Week = Schemas["WeekOut"];

export interface PersonRow {
  id: string;
  person: string | null;
  weeks: readonly (Week | null)[];
  contacted: number;
  replied: number;
  won: number;
}

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

/** The Mondays of the last weeks, the latest last; days of the calendar of Greenwich. */
export function mondays(count: number, now: Date = new Date()): string[] {
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  const monday = today - ((now.getUTCDay() + 6) % 7) * DAY_MS;
  return Array.from({ length: count }, (_, place) =>
    new Date(monday - (count - 1 - place) * WEEK_MS).toISOString().slice(0, 10),
  );
}

/** One row a person, who contacted most first. */
export function byPerson(work: readonly Week[], weeks: readonly string[]): PersonRow[] {
  const people = new Map<string, Week[]>();
  for (const one of work) {
    const id = one.user_id ?? "";
    people.set(id, [...(people.get(id) ?? []), one]);
  }
  const total = (all: readonly Week[], name: "contacted" | "replied" | "won") =>
    all.reduce((sum, one) => sum + one[name], 0);
  return [...people]
    .map(([id, all]) => ({
      id,
      person: all[0]?.person ?? null,
      weeks: weeks.map((week) => all.find((one) => one.week === week) ?? null),
      contacted: total(all, "contacted"),
      replied: total(all, "replied"),
      won: total(all, "won"),
    }))
    .sort((one, other) => other.contacted - one.contacted);
}
