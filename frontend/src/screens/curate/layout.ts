/** How the columns of a list stand: which, in what order, how wide. */
import type { Column } from "@/api/kinds";

export interface Layout {
  /** Columns that are shown though hidden by default, and the other way round. */
  flipped: readonly string[];
  /** Fields in their order; what is not named keeps its place at the end. */
  order: readonly string[];
  /** In the height of a letter, where somebody has chosen. */
  widths: Readonly<Record<string, number>>;
}

export const NARROWEST = 3;
const WIDEST = 60;
const NOTHING: Layout = { flipped: [], order: [], widths: {} };

export const bounded = (width: number): number =>
  Math.round(Math.max(NARROWEST, Math.min(WIDEST, width)) * 10) / 10;

/** `email:18` is the column of addresses, 18 letters wide. */
export function readLayout(written: readonly string[]): Layout {
  const parts = written.map((one) => /^(.*?)(?::(\d+(?:\.\d+)?))?$/.exec(one) ?? [one, one]);
  return {
    flipped: [],
    order: parts.map(([whole, field]) => field ?? whole ?? ""),
    widths: Object.fromEntries(
      parts.flatMap(([, field, width]) =>
        field && width ? [[field, bounded(Number(width))]] : [],
      ),
    ),
  };
}

export const writeLayout = (order: readonly string[], widths: Layout["widths"]): string[] =>
  order.map((field) => (widths[field] ? `${field}:${widths[field]}` : field));

/** Columns in their order and width; the first names the record and stays first. */
export function arranged(
  columns: readonly Column[],
  { order, widths }: Layout,
  first: string | undefined,
): Column[] {
  const placeOf = ({ field }: Column) => {
    if (field === first) return -1;
    const place = order.indexOf(field);
    return place < 0 ? order.length : place;
  };
  return columns
    .map((column) => {
      const width = widths[column.field];
      return width ? { ...column, width, grow: 0 } : column;
    })
    .sort((one, other) => placeOf(one) - placeOf(other));
}

/** The columns with one in the place of another. */
export function moved(columns: readonly Column[], field: string, onto: string): Column[] {
  const from = columns.findIndex((column) => column.field === field);
  const to = columns.findIndex((column) => column.field === onto);
  const column = columns[from];
  if (!column || from === to || to <= 0 || from === 0) return [...columns];
  const others = columns.filter((one) => one !== column);
  return others.toSpliced(to, 0, column);
}

export function remembered(key: string): Layout {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    // Releases before this one kept only what was flipped.
    if (Array.isArray(found)) return { ...NOTHING, flipped: found.filter(isText) };
    return found && typeof found === "object" ? { ...NOTHING, ...found } : NOTHING;
  } catch {
    return NOTHING;
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
