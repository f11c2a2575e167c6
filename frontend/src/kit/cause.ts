/** Reasons as the stages write them, in words for people. */
import { texts } from "@/texts/causes";

/** What stands before the colon of a failed fetch. */
const HEADS: Record<string, string> = texts.heads;
const ANSWERS: Record<string, string> = texts.answers;

/**
 * `too_big: https://a.example/: over 5 MB` becomes "Too big: over 5 MB". The address goes:
 * whoever reads the reason sees the record.
 */
export function causeOf(cause: string): string {
  const [, code = "", rest = ""] = /^([a-z]+(?:_[a-z]+)*)(?::\s*(.*))?$/s.exec(cause) ?? [];
  const head = HEADS[code];
  const said = (head ? rest : cause)
    .replace(/^(?:…|\w+:\/\/\S+):?(?:\s+|$)/, "")
    // Of which network an address is a part is for whoever runs one.
    .replace(/, which is in (?:…|[\da-f.:]+)\/\d+$/, "")
    // Of a group, what differs is left out: the words about it say nothing without it.
    .replace(/(?:,? (?:so it rests for|after|leads to)|^leads to) …(?: s)?$/, "")
    .replace(/\b(the server answered) (\d{3})\b(?! \()/, (all, words, status) =>
      ANSWERS[status] ? `${words} ${status} (${ANSWERS[status]})` : all,
    );
  if (head) return said ? `${head}: ${said}` : head;
  const words = said.replace(/^[a-z]+(_[a-z]+)+(?=:|$)/, (one) => one.replaceAll("_", " "));
  return words.charAt(0).toUpperCase() + words.slice(1);
}
