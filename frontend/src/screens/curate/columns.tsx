/** Which columns are shown: as the address says, which a view keeps, or as the browser remembers. */
import { useMemo, useState } from "react";
import type { Column, Kind } from "@/api/kinds";
import { useSearch } from "@/app/router";
import { Menu } from "@/kit";
import { texts } from "@/texts/curate";
import { useFields } from "./fields";
import { arranged, type Layout, moved, readLayout, remembered, writeLayout } from "./layout";
import { ownColumn, ownFields } from "./own";

export interface Columns {
  all: readonly Column[];
  shown: readonly Column[];
  /** What a view keeps: the fields in their order, some with a width. */
  written: readonly string[];
  isShown: (column: Column) => boolean;
  toggle: (column: Column) => void;
  /** Make a column so wide, in the height of a letter. */
  resize: (field: string, width: number) => void;
  /** Put a column in the place of another. */
  move: (field: string, onto: string) => void;
}

export function useColumns(kind: Kind): Columns {
  const key = `columns:${kind.id}`;
  const [kept, setKept] = useState<Layout>(() => remembered(key));
  const [search, change] = useSearch();
  const asked = search.get("columns");
  const layout = asked === null ? kept : readLayout(asked.split(","));
  const { data: fields } = useFields(kind, kind.hasOwner);
  const all = useMemo(
    () => [...kind.columns, ...ownFields(fields ?? []).map(ownColumn)],
    [kind, fields],
  );
  const first = kind.columns[0]?.field;
  const isShown = ({ field, is_hidden }: Column) =>
    asked === null
      ? kept.flipped.includes(field) === is_hidden
      : field === first || layout.order.includes(field);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown depends on these alone.
  const shown = useMemo(() => arranged(all.filter(isShown), layout, first), [all, kept, asked]);
  /** Keep what is shown now, changed: in the address of a view, else in the browser. */
  function keep(columns: readonly Column[], widths: Layout["widths"], flipped = kept.flipped) {
    const order = columns.map(({ field }) => field);
    if (asked !== null) {
      change({ columns: writeLayout(order, widths).join(",") });
      return;
    }
    const next = { flipped, order, widths };
    setKept(next);
    localStorage.setItem(key, JSON.stringify(next));
  }
  return {
    all,
    shown,
    written: writeLayout(
      shown.map(({ field }) => field),
      layout.widths,
    ),
    isShown,
    toggle: (column) => {
      const next = isShown(column)
        ? shown.filter(({ field }) => field !== column.field)
        : [...shown, column];
      const { field } = column;
      const flipped = kept.flipped.includes(field)
        ? kept.flipped.filter((other) => other !== field)
        : [...kept.flipped, field];
      keep(next, layout.widths, flipped);
    },
    resize: (field, width) => keep(shown, { ...layout.widths, [field]: width }),
    move: (field, onto) => keep(moved(shown, field, onto), layout.widths),
  };
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
