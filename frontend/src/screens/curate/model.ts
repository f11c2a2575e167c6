/** Records as the Curate screens see them: one shape for all six kinds. */
import type { BudgetLine } from "./siteBudget";

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

export interface EvidenceItem {
  field: string;
  value: string | null;
  url: string | null;
  snippet: string | null;
  method: string;
  confidence: number | null;
  seen_at: string | null;
}

export interface DetailAnswer {
  record: Row;
  etag: string;
  evidence: EvidenceItem[];
  related: Record<string, { id: string; label: string | null }[]>;
  people: PersonItem[];
  budget: BudgetLine[];
}

export interface PersonItem {
  id: string;
  name: string;
  role: string | null;
  email: string | null;
  phone: string | null;
  confidence: number;
  is_decision_maker: boolean;
  reason: string;
  page_url: string | null;
}

export interface HistoryEvent {
  at: string;
  what: string;
  who: string | null;
  status_before: string | null;
  status_after: string | null;
  details: Record<string, unknown>;
}

export interface Decided {
  action_id: string | null;
  matched: number;
  changed: number;
  queued: number;
  skipped: Record<string, number>;
  dry_run: boolean;
}

export interface Undone {
  action_id: string;
  restored: number;
  skipped: Record<string, number>;
}

export interface FieldInfo {
  name: string;
  type: string;
  values: string[] | null;
  comparisons: string[];
  sortable: boolean;
}

/** What the stream tells of changed records; `many`: more than it tells one by one. */
export interface RecordChanges {
  kind: string;
  many: boolean;
  changes: { id: string; status: string; stage_status: string | null; updated_at: string }[];
}

export const text = (value: unknown): string | null =>
  typeof value === "string" && value !== "" ? value : null;

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
