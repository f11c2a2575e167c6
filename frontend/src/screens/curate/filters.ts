/**
 * Filters as they stand in the address bar, in requests and in words. They are written the
 * same everywhere: `rating:at_least:4`, with alternatives after a bar.
 */
import type { Kind } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { percent } from "@/kit/format";
import { hasWords, statusWord, surenessOf, valueWord, wordOf } from "@/kit/words";
import { texts } from "@/texts/curate";
import { texts as values } from "@/texts/values";
import { type FieldInfo, readable } from "./model";

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

const SAID: Record<string, string> = texts.filters.comparisons;

export const needsValue = (comparison: string): boolean =>
  comparison !== "known" && comparison !== "unknown";

export const comparisonWord = (comparison: string): string => SAID[comparison] ?? comparison;

/** Fields whose names are for machines have a word of their own. */
const FIELDS: Record<string, string> = values.fields;

export const fieldWord = (field: string): string => FIELDS[field] ?? wordOf(field);

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

export function describe(
  filter: Filter,
  kind?: Kind,
  nameOf: NameOf = fieldWord,
  saidOf: SaidOf = wordIn,
): string {
  const [first, ...or] = alternativesOf(filter);
  if (!first) return "";
  // Several values of one field are said after its name, which is said once.
  const isEither = or.every((one) => one.field === first.field && [first, one].every(isOneValue));
  if (!isEither) return [first, ...or].map((one) => said(one, kind, nameOf, saidOf)).join(OR_SAID);
  const values = or.map(({ field, value }) => saidOf(field, value));
  return [said(first, kind, nameOf, saidOf), ...values].join(OR_SAID);
}

const OR_SAID = texts.filters.or;

const isOneValue = ({ comparison }: Alternative): boolean => comparison === "equal";

/** What a field is called; columns of one's own have a heading. */
type NameOf = (field: string) => string;

/** How a value of a field is read; an id, for one, has a name. */
type SaidOf = (field: string, value: string) => string;

function said(
  { field, comparison, value }: Alternative,
  kind: Kind | undefined,
  nameOf: NameOf,
  saidOf: SaidOf,
): string {
  const name = nameOf(field);
  const beginning = `${name} ${comparisonWord(comparison)}`;
  if (!needsValue(comparison)) return beginning;
  const period = PERIODS[value];
  if (period) {
    return comparison === "at_least"
      ? texts.filters.inTheLast(name, period)
      : texts.filters.moreThanAgo(name, period);
  }
  if (MOMENT.test(value)) {
    const when = SAID_OF_TIME[comparison] ?? texts.filters.at;
    return texts.filters.onADay(name, when, asDay(value));
  }
  if (kind && isShare(kind, field)) return `${beginning} ${percent(Number(value))}`;
  return `${beginning} ${value
    .split(",")
    .map((one) => saidOf(field, one))
    .join(", ")}`;
}

/** A value of a field in words. */
export const wordIn = (field: string, value: string): string => {
  if (field.endsWith("status") || field === "deliverability") return statusWord(value, field);
  if (field === "confidence") return surenessOf(Number(value)).word;
  return hasWords(field) ? valueWord(value, field) : readable(value);
};

/** Lengths of time before now, as the API reads them (ISO 8601). */
export const PERIODS: Record<string, string> = texts.filters.periods;

const MOMENT = /^\d{4}-\d\d-\d\dT/;
const SAID_OF_TIME: Record<string, string> = texts.filters.times;

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
  field !== "confidence" &&
  kind.columns.some((column) => column.field === field && column.show === "share");

/** The values of a field to choose from, in words. */
export function optionsOf({ name, type, values }: FieldInfo): { value: string; label: string }[] {
  const known =
    type === "yes_no"
      ? [
          { value: "true", label: texts.filters.yes },
          { value: "false", label: texts.filters.no },
        ]
      : (values ?? []).map((value) => ({ value, label: wordIn(name, value) }));
  return [{ value: "", label: texts.filters.chooseAValue }, ...known];
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
