/** A change that somebody made, on its way to the server: what to send, and what it means. */

export type Fields = Readonly<Record<string, unknown>>;

/** A record that a change is about: what was seen of it, and what it shows from now on. */
export interface Concerned {
  id: string;
  name: string;
  before: Fields;
  after: Fields;
}

export interface Draft {
  method: "POST" | "PATCH";
  /** Below /api/v3; empty until the action that it undoes is known. */
  path: string;
  body?: Fields;
  /** The version that was edited. */
  etag?: string;
  /** Where records of this kind are: `/companies`. */
  kind: string;
  records: readonly Concerned[];
  /** What it says to people: "Contacted". */
  said: string;
  /** The entry whose action it takes back: the server looks itself what has changed since. */
  undoes?: number;
}

export interface Entry extends Draft {
  /** Their order. */
  id: number;
  key: string;
  /** Who made it, and in which tenant: nobody sends what another person has decided. */
  person: string;
  tries: number;
  /** Whether it has waited: then others may have changed the same records. */
  isLate: boolean;
  refusal: Refusal | null;
  /** Whether a person wants it whatever others have made of the records. */
  isCertain?: boolean;
}

/** Why a person has to look at it once more. */
export interface Refusal {
  title: string;
  hint: string | null;
  /** What the record says now, where someone else has changed it; null: it is gone. */
  theirs?: Fields | null;
}

export const NOBODY = "";

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && !value.length);

/** Whether a value is what is wanted; of an object, only what is wanted of it counts. */
export function isSame(value: unknown, wanted: unknown): boolean {
  if (isNothing(value) && isNothing(wanted)) return true;
  if (isObject(wanted)) {
    const given = isObject(value) ? value : {};
    return Object.entries(wanted).every(([name, one]) => isSame(given[name], one));
  }
  return JSON.stringify(value) === JSON.stringify(wanted);
}

/** What others made of a record since: null, unless it is neither as it was nor as we want it. */
export function clashOf({ before, after }: Concerned, now: Fields): Fields | null {
  const names = Object.keys(after).filter(
    (name) => !isSame(now[name], before[name]) && !isSame(now[name], after[name]),
  );
  return names.length ? Object.fromEntries(names.map((name) => [name, now[name]])) : null;
}

/** The same change of some of its records alone. */
export function narrowed(entry: Entry, records: readonly Concerned[]): Entry {
  const { body } = entry;
  const ids = records.map(({ id }) => id);
  return { ...entry, records, ...(body && "ids" in body ? { body: { ...body, ids } } : {}) };
}

/** A record as it will be once everything that waits has been sent. */
export function ahead<R extends { id: string }>(
  record: R,
  kind: string,
  entries: readonly Entry[],
): R {
  let shown = record;
  for (const entry of entries) {
    if (entry.refusal || entry.kind !== kind) continue;
    const concerned = entry.records.find(({ id }) => id === record.id);
    if (!concerned) continue;
    for (const [name, value] of Object.entries(concerned.after)) {
      const own = (shown as Fields)[name];
      shown = { ...shown, [name]: isObject(value) && isObject(own) ? { ...own, ...value } : value };
    }
  }
  return shown;
}
