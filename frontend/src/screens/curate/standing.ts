/** Why somebody is taken for who decides, in a sentence: the server says it in few words. */
import { texts } from "@/texts/record";

const IMPORTED = /^(.*), imported (?:by (.*), |from )(.*), line (\d+)$/s;
const FROM_FILE = /^imported (?:by|from) /;
const OF_RANK = /^([a-z]+): (.*)$/s;

const { standing } = texts;

/** "owner: Owner; the business bears their name" becomes "owner; the business bears their name". */
export function reasonSaid(reason: string): string {
  const [, role, who, file, line] = IMPORTED.exec(reason) ?? [];
  if (file && line) {
    return standing.imported(!role || role === "named" ? null : role, who ?? null, file, line);
  }
  const [first = "", ...rest] = reason.split("; ");
  return [rankSaid(first), ...rest].join("; ");
}

function rankSaid(reason: string): string {
  const otherwise = standing.otherwise[reason];
  if (otherwise) return otherwise;
  const [, name = "", role = ""] = OF_RANK.exec(reason) ?? [];
  const rank = standing.ranks[name];
  if (!rank) return reason;
  return rank === role.toLowerCase() ? rank : standing.byRole(rank, role);
}

export const decidesBecause = (reason: string | null): string =>
  reason ? standing.because(reasonSaid(reason)) : standing.decisionMaker;

/** What a file says is kept like what a person writes, with the file and who brought it. */
export const isImported = (snippet: string | null | undefined): boolean =>
  FROM_FILE.test(snippet ?? "");
