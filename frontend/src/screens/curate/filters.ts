/**
 * Filters as they stand in the address bar, in requests and in words. They are written the
 * same everywhere: `rating:at_least:4`, with alternatives after a bar.
 */
import type { Kind } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { percent } from "@/kit/format";
import { hasWords, statusWord, valueWord, wordOf } from "@/kit/words";
import type { FieldInfo } from "./model";

export interface Alternative {
  field: string;
  comparison: string;
  value: string;
}

export interface Filter extends Alternative {
  /** What may hold in its place. */
  or?: readonly Alternative[];
}

export type Condition = Schemas["Condition"];
type Comparison = Schemas["Comparison"];

const SAID: Record<string, string> = {
  equal: "is",
  not_equal: "is not",
  one_of: "is one of",
  at_least: "is at least",
  at_most: "is at most",
  contains: "contains",
  starts_with: "starts with",
  known: "is set",
  unknown: "is not set",
};

export const needsValue = (comparison: string): boolean =>
  comparison !== "known" && comparison !== "unknown";

export const comparisonWord = (comparison: string): string => SAID[comparison] ?? comparison;

/** Fields whose names are for machines. */
const WORDS: Record<string, string> = {
  bytes: "Size",
  canonical_url: "Canonical address",
  contact_curation_status: "Decision",
  contact_likelihood: "Contact likelihood",
  contact_scrape_status: "Contacts",
  contacts_count: "Contacts",
  created_at: "Added",
  deep_scan_status: "Deep scan",
  deep_scrape_curation_status: "Decision",
  domain_extraction_status: "Domain extraction",
  dropped: "Last import",
  email: "E-mail",
  email_kind: "E-mail reaches",
  email_reason: "Why this e-mail",
  email_type: "Address type",
  emails: "E-mails",
  expires_at: "Kept until",
  favicon_url: "Icon",
  fetch_facts: "Fetch",
  fetch_ms: "Fetched in",
  fetched_at: "Fetched",
  first_seen_at: "First seen",
  generator: "Built with",
  generator_version: "Version",
  gone_at: "Gone since",
  h1: "Heading",
  has_contact_form: "Contact form",
  home_url: "Home page",
  http_status: "HTTP status",
  is_disposable: "Disposable",
  is_free: "Free mail",
  is_role: "Shared inbox",
  is_valid: "Valid format",
  lastmod: "Last changed on the site",
  likelihood_reasons: "Reasons",
  logo_url: "Logo",
  own: "Your columns",
  owner_id: "Assigned to",
  page_curation_status: "Decision",
  page_processing_status: "Scan",
  page_type: "Type",
  records_count: "Records",
  reviews_count: "Reviews",
  search_id: "Search",
  seen_at: "Seen",
  sitemap_analysis_status: "Sitemap search",
  sitemap_curation_status: "Decision",
  sitemap_import_status: "Import",
  sitemap_type: "Type",
  size_bytes: "Size",
  source_url: "Found on",
  decision_maker: "Decision maker",
  decision_maker_reason: "Why this person",
  decision_maker_role: "Decision maker's role",
  source_place_id: "ID at the source",
  tech_stack: "Technology",
  updated_at: "Changed",
  url: "Address",
  url_count: "Pages",
  validated_at: "Verified",
  validation_processing_status: "Verification",
  verdict: "Website type",
  verdict_evidence: "Reasons",
  wire_bytes: "Transferred",
  word_count: "Words",
};

export const fieldWord = (field: string): string => WORDS[field] ?? wordOf(field);

/** Between alternatives; a bar before anything else belongs to the value. */
const OR = new RegExp(`\\|(?=[a-z0-9_.]+:(?:${Object.keys(SAID).join("|")})(?::|\\||$))`);

/** Read what stands in the address; what makes no sense there is left out. */
export function readFilter(written: string): Filter | null {
  const [first, ...or] = written
    .split(OR)
    .map(readAlternative)
    .filter((one) => one !== null);
  if (!first) return null;
  return or.length ? { ...first, or } : first;
}

function readAlternative(written: string): Alternative | null {
  const [field = "", comparison = "", ...rest] = written.split(":");
  if (!field || !(comparison in SAID)) return null;
  const value = rest.join(":");
  if (needsValue(comparison) && !value) return null;
  return { field, comparison, value: needsValue(comparison) ? value : "" };
}

export function writeFilter(filter: Filter): string {
  return alternativesOf(filter)
    .map(({ field, comparison, value }) =>
      needsValue(comparison) ? `${field}:${comparison}:${value}` : `${field}:${comparison}`,
    )
    .join("|");
}

/** Everything of which one must hold. */
export const alternativesOf = ({ or = [], ...first }: Filter): Alternative[] => [first, ...or];

/** A filter made of alternatives; none, if nothing is in them. */
export function filterOfAll([first, ...or]: readonly Alternative[]): Filter | null {
  if (!first) return null;
  return or.length ? { ...first, or } : { ...first };
}

export function readFilters(written: readonly string[]): Filter[] {
  return written.map(readFilter).filter((filter) => filter !== null);
}

/** What a decision about "all that match" sends. */
export function conditionOf({ or = [], ...first }: Filter): Condition {
  const condition = compared(first);
  return or.length ? { ...condition, or: or.map(compared) } : condition;
}

function compared({ field, comparison: asked, value }: Alternative): Schemas["Alternative"] {
  const comparison = asked as Comparison;
  if (!needsValue(comparison)) return { field, comparison };
  return { field, comparison, value: comparison === "one_of" ? value.split(",") : value };
}

export function describe(filter: Filter, kind?: Kind, nameOf: NameOf = fieldWord): string {
  return alternativesOf(filter)
    .map((one) => said(one, kind, nameOf))
    .join(" or ");
}

/** What a field is called; columns of one's own have a heading. */
type NameOf = (field: string) => string;

function said(
  { field, comparison, value }: Alternative,
  kind: Kind | undefined,
  nameOf: NameOf,
): string {
  const name = nameOf(field);
  const beginning = `${name} ${comparisonWord(comparison)}`;
  if (!needsValue(comparison)) return beginning;
  if (value in PERIODS) {
    return comparison === "at_least"
      ? `${name} in the last ${PERIODS[value]}`
      : `${name} more than ${PERIODS[value]} ago`;
  }
  if (MOMENT.test(value)) return `${name} ${SAID_OF_TIME[comparison] ?? "at"} ${asDay(value)}`;
  if (kind && isShare(kind, field)) return `${beginning} ${percent(Number(value))}`;
  return `${beginning} ${value
    .split(",")
    .map((one) => wordIn(field, one))
    .join(", ")}`;
}

const wordIn = (field: string, value: string): string => {
  if (field.endsWith("status") || field === "deliverability") return statusWord(value, field);
  return hasWords(field) ? valueWord(value, field) : value;
};

/** Lengths of time before now, as the API reads them (ISO 8601). */
export const PERIODS: Record<string, string> = {
  "-PT24H": "24 hours",
  "-P7D": "7 days",
  "-P30D": "30 days",
  "-P90D": "90 days",
};

const MOMENT = /^\d{4}-\d\d-\d\dT/;
const SAID_OF_TIME: Record<string, string> = { at_least: "since", at_most: "until" };

/** The day of the calendar here on which a moment falls: `2026-11-15`. */
export function asDay(moment: string): string {
  const then = new Date(moment);
  if (!moment || Number.isNaN(then.getTime())) return "";
  const [month, day] = [then.getMonth() + 1, then.getDate()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${then.getFullYear()}-${month}-${day}`;
}

/** The moment a day begins here, or, for "at most", the one in which it ends. */
export function fromDay(day: string, comparison: string): string {
  const then = new Date(comparison === "at_most" ? `${day}T23:59:59` : `${day}T00:00:00`);
  return Number.isNaN(then.getTime()) ? "" : then.toISOString();
}

/** Whether people read a field in percent. */
export const isShare = (kind: Kind, field: string | undefined): boolean =>
  kind.columns.some((column) => column.field === field && column.show === "share");

/** The values of a field to choose from, in words. */
export function optionsOf({ name, type, values }: FieldInfo): { value: string; label: string }[] {
  const known =
    type === "yes_no"
      ? [
          { value: "true", label: "Yes" },
          { value: "false", label: "No" },
        ]
      : (values ?? []).map((value) => ({ value, label: wordIn(name, value) }));
  return [{ value: "", label: "Choose a value" }, ...known];
}

/** Whether a filter is about one field alone. */
export const isOnly = (filter: Filter, field: string): boolean =>
  filter.field === field && !filter.or;

/** Add a filter, or take it off where it is set. */
export function switched(filters: readonly Filter[], wanted: string): Filter[] {
  const others = filters.filter((filter) => writeFilter(filter) !== wanted);
  return others.length < filters.length ? others : [...others, ...readFilters([wanted])];
}

/** Show only records with one value of a field, or, asked again, all of them. */
export function toggled(filters: readonly Filter[], field: string, value: string): Filter[] {
  const others = filters.filter((filter) => !isOnly(filter, field));
  const isOn = filters.some((filter) => isOnly(filter, field) && filter.value === value);
  return isOn ? others : [...others, { field, comparison: "equal", value }];
}
