/** What the audit log says was done, as people say it. */
import { wordOf } from "@/kit/words";
import { texts } from "@/texts/settings";

const SAID: Record<string, string> = {
  "suppressed suppressions": texts.happened.addedToDoNotContact,
  "unsuppressed suppressions": texts.happened.removedFromDoNotContact,
  "informed notices": texts.happened.markedAsNotified,
  "reopened notices": texts.happened.markedAsNotNotified,
  "searched searches": texts.happened.searchStarted,
  "parted companies": texts.happened.splitACompany,
  "purged contacts": texts.happened.contactsDeletedAtTheEnd,
};

/** `key.created` of `api-keys/1f…` is "Key created"; `decided` of `pages` is "Decided pages". */
export function happened(
  action: string,
  subject: string,
  details?: Readonly<Record<string, unknown>> | null,
): string {
  if (action === "commanded") return texts.happened.imports[String(details?.command)] ?? action;
  const known = SAID[`${action} ${subject}`];
  if (known) return known;
  const words = wordOf(action.replace(/[.\s-]/g, "_"));
  // An id at the end goes; a name may have a slash of its own.
  const about = subject.replace(/\/(?:\d+|[0-9a-f-]{8,})$/i, "");
  return action.includes(".") || !about ? words : `${words} ${about.replaceAll("_", " ")}`;
}
