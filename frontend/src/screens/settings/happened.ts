/** What the audit log says was done, as people say it. */
import { wordOf } from "@/kit/Status";

const SAID: Record<string, string> = {
  "suppressed suppressions": "Put on the list of who is left alone",
  "unsuppressed suppressions": "Taken off the list of who is left alone",
  "informed notices": "Marked as told",
  "reopened notices": "Marked as not told",
  "purged contacts": "Contacts deleted, their time was over",
};

/** `key.created` of `api-keys/1f…` is "Key created"; `decided` of `pages` is "Decided pages". */
export function happened(action: string, subject: string): string {
  const known = SAID[`${action} ${subject}`];
  if (known) return known;
  const words = action.replaceAll(".", "_");
  const about = subject.split("/")[0] ?? "";
  const whole = action.includes(".") || !about ? words : `${words}_${about}`;
  return wordOf(whole.replace(/[\s-]/g, "_"));
}
