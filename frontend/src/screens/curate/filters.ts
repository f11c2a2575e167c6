/**
 * Filters as they stand in the address bar, in requests and in words. They are written the
 * same everywhere: `rating:at_least:4`.
 */
import { wordOf } from "@/kit/Status";

export interface Filter {
  field: string;
  comparison: string;
  value: string;
}

export interface Condition {
  field: string;
  comparison: string;
  value?: string | string[];
}

const SAID: Record<string, string> = {
  equal: "is",
  not_equal: "is not",
  one_of: "is one of",
  at_least: "is at least",
  at_most: "is at most",
  contains: "contains",
  starts_with: "starts with",
  known: "is known",
  unknown: "is unknown",
};

export const needsValue = (comparison: string): boolean =>
  comparison !== "known" && comparison !== "unknown";

export const comparisonWord = (comparison: string): string => SAID[comparison] ?? comparison;

export const fieldWord = (field: string): string => wordOf(field);

/** Read what stands in the address; what makes no sense there is left out. */
export function readFilter(written: string): Filter | null {
  const [field = "", comparison = "", ...rest] = written.split(":");
  if (!field || !(comparison in SAID)) return null;
  const value = rest.join(":");
  if (needsValue(comparison) && !value) return null;
  return { field, comparison, value: needsValue(comparison) ? value : "" };
}

export function writeFilter({ field, comparison, value }: Filter): string {
  return needsValue(comparison) ? `${field}:${comparison}:${value}` : `${field}:${comparison}`;
}

export function readFilters(written: readonly string[]): Filter[] {
  return written.map(readFilter).filter((filter) => filter !== null);
}

/** What a decision about "all that match" sends. */
export function conditionOf({ field, comparison, value }: Filter): Condition {
  if (!needsValue(comparison)) return { field, comparison };
  return { field, comparison, value: comparison === "one_of" ? value.split(",") : value };
}

export function describe({ field, comparison, value }: Filter): string {
  const said = `${fieldWord(field)} ${comparisonWord(comparison)}`;
  return needsValue(comparison) ? `${said} ${value.replaceAll(",", ", ")}` : said;
}

/** Show only records with one value of a field, or, asked again, all of them. */
export function toggled(filters: readonly Filter[], field: string, value: string): Filter[] {
  const others = filters.filter((filter) => filter.field !== field);
  const isOn = filters.some((filter) => filter.field === field && filter.value === value);
  return isOn ? others : [...others, { field, comparison: "equal", value }];
}
