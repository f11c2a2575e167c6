/** Where a person is in the list, and what they have selected. */
import { useCallback, useEffect, useState } from "react";
import type { Address } from "./address";
import type { ListState } from "./entry";
import type { RecordList } from "./list";
import { extend, NOTHING, type Selection, toggle, widen } from "./selection";

export interface Marks {
  selection: Selection;
  /** The row the keys work on. */
  current: number;
  setSelection: (selection: Selection) => void;
  /** Go up or down by so many rows. */
  move: (by: number) => void;
  /** Go up or down and select what is passed. */
  reach: (by: number) => void;
  pick: (place: number, how: "only" | "toggle" | "extend") => void;
  pickLoaded: () => void;
  openPlace: (place: number) => void;
}

export function useMarks(
  records: RecordList,
  { rows }: ListState,
  { opened, open }: Address,
): Marks {
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [current, setCurrent] = useState(-1);

  // Another list is another question: what was selected in the old one is not meant.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is the whole condition.
  useEffect(() => {
    setSelection(NOTHING);
    setCurrent(-1);
  }, [records]);

  const placeAfter = (by: number) => Math.max(0, Math.min(rows.length - 1, current + by));

  function move(by: number) {
    if (rows.length === 0) return;
    const next = placeAfter(by);
    setCurrent(next);
    if (opened) open(rows[next]?.id ?? null);
  }

  function reach(by: number) {
    const next = placeAfter(by);
    const anchor = selection.anchor ?? Math.max(current, 0);
    setSelection(extend({ ...selection, anchor }, rows, next));
    setCurrent(next);
  }

  const pick = useCallback(
    (place: number, how: "only" | "toggle" | "extend") => {
      setCurrent(place);
      const list = records.snapshot().rows;
      setSelection((before) =>
        how === "extend" ? extend(before, list, place) : toggle(before, list, place),
      );
    },
    [records],
  );
  const openPlace = useCallback(
    (place: number) => {
      setCurrent(place);
      open(records.snapshot().rows[place]?.id ?? null);
    },
    [open, records],
  );

  function pickLoaded() {
    const isEveryOne = rows.every(({ id }) => selection.ids.has(id));
    setSelection(isEveryOne ? NOTHING : widen(NOTHING, rows));
  }

  return { selection, current, setSelection, move, reach, pick, pickLoaded, openPlace };
}
