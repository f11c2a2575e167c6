/** Batches as the server tells of them. */
export interface Batch {
  id: string;
  name: string | null;
  kind: string;
  status: string;
  total: number;
  pending: number;
  working: number;
  done: number;
  failed: number;
  skipped: number;
  refused: number;
  created_at: string;
  paused_at: string | null;
  cancelled_at: string | null;
}

export interface BatchItem {
  position: number;
  submitted: string;
  state: "queued" | "processing" | "done" | "failed" | "skipped" | "refused";
  record_kind: string;
  record_id: string | null;
  is_duplicate: boolean;
  reason: string | null;
  hint: string | null;
}

export interface Submitted {
  batch_id: string;
  accepted: number;
  duplicates: number;
  refused_count: number;
  refused: { line: number; value: string; reason: string; hint: string }[];
}

/** Lines of a pasted text, without the empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter(Boolean);
}
