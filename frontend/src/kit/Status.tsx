/** A status as a coloured word: the same word has the same colour everywhere. */
const TONES: Record<string, string> = {
  new: "quiet",
  pending: "quiet",
  selected: "accent",
  check: "accent",
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
  invalid: "bad",
  "not a fit": "quiet",
  skipped: "quiet",
  filtered: "quiet",
  archived: "quiet",
  cancelled: "quiet",
  nocontactfound: "quiet",
};

export function toneOf(status: string): string {
  return TONES[status.toLowerCase()] ?? "quiet";
}

/** `NoContactFound` is for machines; people read "No contact found". */
export function wordOf(status: string): string {
  const spaced = status.replace(/_/g, " ").replace(/([a-z])([A-Z])/g, "$1 $2");
  if (status.includes(" ")) return status;
  return spaced.charAt(0).toUpperCase() + spaced.slice(1).toLowerCase();
}

/** Statuses that mean something else in one column than in the others. */
const IN_FIELD: Record<string, Record<string, string>> = {
  contact_curation_status: { Queued: "Check" },
};

/** The word for a status, as the column it stands in means it. */
export function statusWord(status: string, field = ""): string {
  return IN_FIELD[field]?.[status] ?? wordOf(status);
}

interface StatusProps {
  status: string | null | undefined;
  /** The column it stands in. */
  field?: string | undefined;
}

export function Status({ status, field }: StatusProps) {
  if (!status) return <span className="faint">–</span>;
  const word = statusWord(status, field);
  return <span className={`badge ${toneOf(word === wordOf(status) ? status : word)}`}>{word}</span>;
}

export function Badge({ tone = "quiet", children }: { tone?: string; children: React.ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
