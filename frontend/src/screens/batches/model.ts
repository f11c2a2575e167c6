/** Batches as the server describes them. */
import type { Schemas } from "@/api/types";

export type Batch = Schemas["BatchOut"];
export type BatchItem = Schemas["BatchItemOut"];
/** What became of a list; a file's answer says the same. */
export type Submitted = Pick<
  Schemas["scrapersky__api__operations__batches__SubmittedOut"],
  "accepted" | "batch_id" | "duplicates" | "refused_count"
>;

/** Lines of a pasted text, without the empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter(Boolean);
}
