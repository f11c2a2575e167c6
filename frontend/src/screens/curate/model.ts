/** Records as the Curate screens see them: one shape for all six kinds. */
import type { Schemas } from "@/api/types";

export interface Row {
  id: string;
  updated_at: string;
  [field: string]: unknown;
}

export interface Total {
  count: number;
  is_exact: boolean;
}

export interface ListAnswer {
  items: Row[];
  next_cursor: string | null;
  total: Total;
}

export type EvidenceItem = Schemas["EvidenceOut"];

export type DetailAnswer = Omit<Schemas["Detail_ContactOut_"], "record"> & { record: Row };

export type MapVerdict = Schemas["MapVerdictOut"];

export type PersonItem = Schemas["NamedPerson"];

export type Decided = Schemas["StatusOut"];

export type Undone = Schemas["UndoneOut"];

export type FieldInfo = Schemas["FieldOut"];

/** What the stream says of changed records; `many`: more than it reports one by one. */
export interface RecordChanges {
  kind: string;
  many: boolean;
  changes: { id: string; status: string; stage_status: string | null; updated_at: string }[];
}

export const text = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

/** Whose the address of a company is, where it is not the person's who stands beside it. */
export function otherOwner(row: Row): string | null {
  const whose = text(row.email_person);
  return whose === text(row.decision_maker) ? null : whose;
}

export const number = (value: unknown): number | null =>
  typeof value === "number" ? value : typeof value === "string" && value ? Number(value) : null;

export const list = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];

/** `car_repair` is a source's own word; people read "Car repair". */
export function readable(value: string): string {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(value)) return value;
  return value.charAt(0).toUpperCase() + value.slice(1).replaceAll("_", " ");
}

/** Only addresses of the web become links; whatever else a page calls an address stays text. */
export function webAddress(value: unknown): string | null {
  const written = text(value);
  if (!written) return null;
  try {
    const { protocol } = new URL(written);
    return protocol === "http:" || protocol === "https:" ? written : null;
  } catch {
    return null;
  }
}

/** What advertisements add to an address: it says nothing of where it leads. */
const TRACKING = /([?&])(?:utm_[a-z]+|gclid|fbclid)=[^&#]*/gi;

/** An address as it is read: without the beginning and the end that all have. */
export function addressShown(address: string): string {
  return address
    .replace(/^https?:\/\/(www\.)?/i, "")
    .replace(TRACKING, (_, sign: string) => (sign === "?" ? "?" : ""))
    .replace("?&", "?")
    .replace(/\?(?=#|$)/, "")
    .replace(/\/$/, "");
}
