/** Which columns are shown: as the address says, which a view keeps, or as the browser remembers. */
import { useMemo, useState } from "react";
import type { Column, Kind } from "@/api/kinds";
import { useSearch } from "@/app/router";
import { Menu } from "@/kit";

export interface Columns {
  kind: Kind;
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown depends on these alone.
  const shown = useMemo(() => kind.columns.filter(isShown), [kind, flipped, asked]);
  return {
    kind,
    shown,
    isShown,
    toggle: ({ field }) => {
      if (asked !== null) {
        const others = kind.columns.filter((one) => isShown(one) !== (one.field === field));
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

export function ColumnMenu({ columns }: { columns: Columns }) {
  return (
    <Menu
      label="Columns"
      icon="columns"
      className="column-menu"
      align="right"
      items={columns.kind.columns.slice(1).map((column) => ({
        name: column.title,
        checked: columns.isShown(column),
        keepsOpen: true,
        run: () => columns.toggle(column),
      }))}
    />
  );
}
