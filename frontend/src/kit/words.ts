/**
 * The words for the values that the server keeps for machines. A value that is not listed is
 * spelt out, so that a new one is readable before it has a word of its own.
 */
import { texts } from "@/texts/values";

/** `NoContactFound` is for machines; people read "No contact found". */
export function wordOf(value: string): string {
  if (value.includes(" ")) return value;
  const spaced = value.replace(/_/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase();
}

interface Word {
  word: string;
  tone?: string;
}

const { status } = texts;
const RESULTS: Record<string, string> = texts.results;
const APPROVED: Word = { word: status.approved, tone: "accent" };

/** Statuses that mean something else in one column than in the others. */
const IN_FIELD: Record<string, Record<string, Word>> = {
  contact_curation_status: {
    Queued: { word: status.approveAndVerify, tone: "accent" },
    Processing: { word: status.verifying },
    Complete: APPROVED,
  },
  page_curation_status: { Complete: APPROVED },
  // That an address was looked at is no good news: what was found out is.
  validation_processing_status: { Complete: { word: status.checked, tone: "quiet" } },
  lead_status: {
    New: { word: status.fresh, tone: "accent" },
    Contacted: { word: status.contacted, tone: "violet" },
    Replied: { word: status.replied, tone: "warn" },
    Won: { word: status.won, tone: "good" },
    Lost: { word: status.lost, tone: "quiet" },
    "Do Not Contact": { word: status.doNotContact, tone: "bad" },
  },
  deliverability: {
    deliverable: { word: texts.inField.verdict.deliverable, tone: "good" },
    risky: { word: texts.inField.verdict.risky, tone: "warn" },
    undeliverable: { word: texts.inField.verdict.undeliverable, tone: "bad" },
  },
};

/** From so much on we are this sure, the surest first. */
export const SURENESS: readonly (Word & { from: number })[] = [
  { from: 0.95, word: texts.sureness.sure, tone: "good" },
  { from: 0.8, word: texts.sureness.likely },
  { from: 0, word: texts.sureness.uncertain, tone: "warn" },
];

export const surenessOf = (share: number): Word =>
  SURENESS.find(({ from }) => share >= from) ?? { word: texts.sureness.uncertain };

const TONES: Record<string, string> = {
  selected: "accent",
  queued: "violet",
  processing: "warn",
  inprogress: "warn",
  working: "warn",
  complete: "good",
  completed: "good",
  submitted: "good",
  done: "good",
  contactfound: "good",
  valid: "good",
  maybe: "warn",
  paused: "warn",
  manualreview: "warn",
  error: "bad",
  failed: "bad",
  lost: "bad",
  invalid: "bad",
};

/** The colour of a status, as the column it stands in means it. */
export function toneOf(status: string, field = ""): string {
  return IN_FIELD[field]?.[status]?.tone ?? TONES[status.toLowerCase()] ?? "quiet";
}

/** The word for a status, as the column it stands in means it. */
export function statusWord(status: string, field = ""): string {
  return IN_FIELD[field]?.[status]?.word ?? RESULTS[status.toLowerCase()] ?? wordOf(status);
}

const VALUES: Record<string, Record<string, string>> = texts.inField;

/** Whether a field's values have words of their own. */
export const hasWords = (field: string): boolean => field in VALUES;

/** The word for a value of a field. */
export function valueWord(value: string, field: string): string {
  return VALUES[field]?.[value] ?? wordOf(value);
}
