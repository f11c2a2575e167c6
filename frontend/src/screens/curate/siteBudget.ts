/** What may be taken of a site, in words and figures that people read. */
import type { Schemas } from "@/api/types";
import { bytes, whole } from "@/kit";

export type BudgetLine = Schemas["SiteBudgetLine"];

const WORDS: Record<string, string> = {
  page_budget: "Pages chosen by rules",
  pages_stored: "Pages stored",
  pages_fetched: "Pages fetched",
  hosts: "Hosts",
  query_variants: "Query variants per path",
  url_bytes: "Total length of addresses",
  bytes: "Data received",
  parse_seconds: "Parsing time (seconds)",
  robots_bytes: "robots.txt, all hosts",
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
