/** What may be taken of a site, in words and figures that people read. */
import type { Schemas } from "@/api/types";
import { bytes, whole } from "@/kit";
import { texts } from "@/texts/record";

export type BudgetLine = Schemas["SiteBudgetLine"];

const WORDS: Record<string, string> = {
  page_budget: texts.siteBudget.pagesChosenByRules,
  pages_stored: texts.siteBudget.pagesStored,
  pages_fetched: texts.siteBudget.pagesFetched,
  hosts: texts.siteBudget.hosts,
  query_variants: texts.siteBudget.queryVariantsPerPath,
  url_bytes: texts.siteBudget.totalLengthOfAddresses,
  bytes: texts.siteBudget.dataReceived,
  parse_seconds: texts.siteBudget.parsingTimeSeconds,
  robots_bytes: texts.siteBudget.robotsTxt,
};

export function budgetWord(name: string): string {
  return WORDS[name] ?? name;
}

/** Sizes as people write them; all else as whole numbers, and never rounded up to the limit. */
export function budgetAmount(name: string, amount: number): string {
  return name.endsWith("bytes") ? bytes(amount) : whole(Math.floor(amount));
}

export function isUsedUp({ used, most }: BudgetLine): boolean {
  return used >= most;
}
