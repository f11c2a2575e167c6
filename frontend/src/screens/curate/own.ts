/** The columns that people have added to their companies. */
import type { Column } from "@/api/kinds";
import { day } from "@/kit/format";
import type { FieldInfo, Row } from "./model";

const OWN = "own.";

export const isOwn = (field: string): boolean => field.startsWith(OWN);

const nameOf = (field: string): string => field.slice(OWN.length);

export const ownFields = (fields: readonly FieldInfo[]): FieldInfo[] =>
  fields.filter(({ name }) => isOwn(name));

/** A column of one's own in the list. */
export function ownColumn({ name, title, type }: FieldInfo): Column {
  return {
    field: name,
    sort: name,
    title: title ?? nameOf(name),
    width: 7,
    grow: 0,
    show: type === "date" ? "time" : "text",
    instead: [],
    under: [],
    only_with: null,
    is_hidden: false,
    is_sortable: false,
  };
}

/** What a record has in a column of one's own, as it is written. */
export function ownText(row: Row, field: string): string {
  const value = (row.own as Record<string, unknown> | undefined)?.[nameOf(field)];
  return value === null || value === undefined ? "" : String(value);
}

/** What stands in the list: a date as people write it. */
export function ownShown(row: Row, { field, show }: Column): string {
  const written = ownText(row, field);
  return written && show === "time" ? day(written) : written;
}

/** What is sent to the server of some columns; what is empty is taken away. */
export function ownValues(
  fields: readonly FieldInfo[],
  written: Readonly<Record<string, string>>,
): Record<string, string | number | null> {
  return Object.fromEntries(
    fields.map(({ name, type }) => {
      const value = (written[name] ?? "").trim();
      if (value === "") return [nameOf(name), null];
      return [nameOf(name), type === "number" ? Number(value) : value];
    }),
  );
}

/** How programs call a column with this heading: "Next visit" is `next_visit`. */
export function nameFor(title: string): string {
  const plain = title
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "");
  return plain.slice(0, 40) || "column";
}
