/** What the audit log says was done, as people say it. */
import { wordOf } from "@/kit/words";

const SAID: Record<string, string> = {
  "suppressed suppressions": "Added to Do not contact",
  "unsuppressed suppressions": "Removed from Do not contact",
  "informed notices": "Marked as notified",
  "reopened notices": "Marked as not notified",
  "purged contacts": "Contacts deleted at the end of their retention period",
};

/** `key.created` of `api-keys/1f…` is "Key created"; `decided` of `pages` is "Decided pages". */
export function happened(action: string, subject: string): string {
  const known = SAID[`${action} ${subject}`];
  if (known) return known;
  const words = wordOf(action.replace(/[.\s-]/g, "_"));
  // An id at the end goes; a name may have a slash of its own.
  const about = subject.replace(/\/(?:\d+|[0-9a-f-]{8,})$/i, "");
  return action.includes(".") || !about ? words : `${words} ${about.replaceAll("_", " ")}`;
}
