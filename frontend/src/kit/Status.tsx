/** A status as a coloured word: the same word has the same colour everywhere. */
const TONES: Record<string, string> = {
  new: "quiet",
  pending: "quiet",
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

export function Status({ status }: { status: string | null | undefined }) {
  if (!status) return <span className="faint">–</span>;
  return <span className={`badge ${toneOf(status)}`}>{wordOf(status)}</span>;
}

export function Badge({ tone = "quiet", children }: { tone?: string; children: React.ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}
