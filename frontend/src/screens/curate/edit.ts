/** What is edited of a contact, and how two people's edits of it come together. */

import { texts } from "@/texts/curate";
import { list, type Row, text } from "./model";

const NAMES = ["name", "role", "phone", "tags", "notes"] as const;

export type Fields = Record<(typeof NAMES)[number], string>;

export function fieldsOf(record: Row): Fields {
  return {
    name: text(record.name) ?? "",
    role: text(record.role) ?? "",
    phone: text(record.phone) ?? "",
    tags: list(record.tags).join(", "),
    notes: text(record.notes) ?? "",
  };
}

/** What must be sent to the server: only what was changed. */
export function changed(before: Fields, after: Fields): Record<string, string | string[] | null> {
  const names = NAMES.filter((name) => after[name].trim() !== before[name]);
  return Object.fromEntries(
    names.map((name) => [name, name === "tags" ? tagsIn(after.tags) : after[name].trim() || null]),
  );
}

export const tagsIn = (written: string): string[] =>
  written
    .split(",")
    .map((tag) => tag.trim())
    .filter(Boolean);

export interface Merged<F> {
  values: F;
  /** What someone else wrote into the fields that were changed here, too. */
  clashes: Partial<F>;
}

/** Take over what others changed, except where both changed the same field. */
export function merge<F extends { [K in keyof F]: string }>(
  before: F,
  mine: F,
  theirs: F,
): Merged<F> {
  const values = { ...theirs };
  const clashes: Partial<F> = {};
  for (const name of Object.keys(mine) as (keyof F)[]) {
    const written = mine[name].trim();
    if (written === before[name]) continue;
    values[name] = mine[name];
    if (theirs[name] !== before[name] && theirs[name] !== written) clashes[name] = theirs[name];
  }
  return { values, clashes };
}

/** What to say beside a field that someone else changed, too. */
export function clashWords(theirs: string | undefined): string | undefined {
  return theirs === undefined
    ? undefined
    : texts.edit.someoneElseChangedThisTo(theirs || "(empty)");
}
