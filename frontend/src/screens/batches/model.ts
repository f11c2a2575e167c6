/** Batches as the server describes them. */
import type { Schemas } from "@/api/types";

export type Batch = Schemas["BatchOut"];
export type BatchItem = Schemas["BatchItemOut"];
/** What became of a list; a file's answer says the same. */
export type Submitted = Pick<
  Schemas["BatchSubmissionOut"],
  "accepted" | "batch_id" | "duplicates" | "refused_count"
>;

/** Lines of a pasted text, without the empty ones. */
export function linesOf(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter(Boolean);
}

const SEPARATORS = /[;\t|,]/;
const ADDRESSES = /^\W*(domain|url|sitemap|page)/i;
const ADDRESS = /:\/\/|\.[a-z]{2,}/i;
const WORKBOOK = /\.xls[xm]$/i;
const HEAD_BYTES = 4096;

/** Whether a text is a table of companies: it begins with columns, and with no address. */
export function isTable(text: string): boolean {
  const [first = ""] = linesOf(text);
  return SEPARATORS.test(first) && !ADDRESS.test(first) && !ADDRESSES.test(first);
}

/** Whether a file is such a table; a workbook always is. */
export const isTableFile = async (file: File): Promise<boolean> =>
  WORKBOOK.test(file.name) || isTable(await file.slice(0, HEAD_BYTES).text());
