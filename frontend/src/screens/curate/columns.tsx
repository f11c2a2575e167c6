/** Which columns are shown: as the address says, which a view keeps, or as the browser remembers. */
import { useMemo, useState } from "react";
import type { Column, Kind } from "@/api/kinds";
import { useSearch } from "@/app/router";
import { Menu } from "@/kit";
import { texts } from "@/texts/curate";
import { useFields } from "./FilterBar";
import { ownColumn, ownFields } from "./own";

export interface Columns {
  all: readonly Column[];
  shown: readonly Column[];
  isShown: (column: Column) => boolean;
  toggle: (column: Column) => void;
}

export function useColumns(kind: Kind): Columns {
  const key = `columns:${kind.id}`;
  const [flipped, setFlipped] = useState<readonly string[]>(() => remembered(key));
  const [search, change] = useSearch();
  const asked = search.get("columns");
  const isShown = ({ field, is_hidden }: Column) =>
    asked === null
      ? flipped.includes(field) === is_hidden
      : field === kind.columns[0]?.field || asked.split(",").includes(field);
  const { data: fields } = useFields(kind, kind.hasOwner);
  const all = useMemo(
    () => [...kind.columns, ...ownFields(fields ?? []).map(ownColumn)],
    [kind, fields],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown depends on these alone.
  const shown = useMemo(() => all.filter(isShown), [all, flipped, asked]);
  return {
    all,
    shown,
    isShown,
    toggle: ({ field }) => {
      if (asked !== null) {
        const others = all.filter((one) => isShown(one) !== (one.field === field));
        change({ columns: others.map((one) => one.field).join(",") });
        return;
      }
      const next = flipped.includes(field)
        ? flipped.filter((other) => other !== field)
        : [...flipped, field];
      setFlipped(next);
      localStorage.setItem(key, JSON.stringify(next));
    },
  };
}

function remembered(key: string): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

interface ColumnMenuProps {
  columns: Columns;
  /** Make columns of one's own. */
  onOwn: (() => void) | undefined;
}

export function ColumnMenu({ columns, onOwn }: ColumnMenuProps) {
  const chosen = columns.all.slice(1).map((column) => ({
    name: column.title,
    checked: columns.isShown(column),
    keepsOpen: true,
    run: () => columns.toggle(column),
  }));
  return (
    <Menu
      label={texts.columns.columns}
      icon="columns"
      className="column-menu"
      align="right"
      items={
        onOwn
          ? [...chosen, "line", { name: texts.columns.yourColumns, icon: "plus", run: onOwn }]
          : chosen
      }
    />
  );
}
