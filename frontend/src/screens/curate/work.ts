/** Work on a lead from where it is shown: who has it, when to get in touch again, a cell. */
import { write } from "@/api/client";
import { toastError } from "@/kit";
import type { Work, Worked } from "./Assign";

/** Change some leads; what came of it can be taken back. */
export async function workOn(
  ids: readonly string[],
  change: Omit<Work, "ids" | "filter" | "q">,
): Promise<Worked | null> {
  try {
    return await write("POST", "/companies/work", { body: { ids: [...ids], ...change } });
  } catch (error) {
    toastError(error);
    return null;
  }
}

const DAY_MS = 86_400_000;

/** A day of the calendar here, so many days from now: `2026-11-18`. */
export function dayFromNow(days: number, now: Date = new Date()): string {
  const then = new Date(now.getTime() + days * DAY_MS);
  const [month, day] = [then.getMonth() + 1, then.getDate()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${then.getFullYear()}-${month}-${day}`;
}

const DAYS_OF_WEEK = 7;
const MONDAY = 1;

/** How many days there are until the next Monday. */
export const untilMonday = (now: Date = new Date()): number =>
  ((MONDAY - now.getDay() + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK) + 1;

/** Whether a day has come. */
export const isDue = (day: string, now: Date = new Date()): boolean => day <= dayFromNow(0, now);
