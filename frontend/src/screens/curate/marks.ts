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

/** A record, and where it was: the list may be sorted anew around it. */
interface Mark {
  id: string | null;
  place: number;
}

const NOWHERE: Mark = { id: null, place: -1 };

/** The place of the open record, else of the marked one; of one that is gone, where it was. */
function placeOf({ id, place }: Mark, records: RecordList, opened: string | null): number {
  for (const wanted of [opened, id]) {
    const now = wanted === null ? -1 : records.placeOf(wanted);
    if (now >= 0) return now;
  }
  return place;
}

export function useMarks(
  records: RecordList,
  { rows }: ListState,
  { opened, open }: Address,
): Marks {
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [mark, setMark] = useState<Mark>(NOWHERE);
  const current = placeOf(mark, records, opened);
  const setCurrent = useCallback(
    (place: number) => setMark({ id: records.snapshot().rows[place]?.id ?? null, place }),
    [records],
  );

  // Another list is another question: what was selected in the old one is not meant.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is the whole condition.
  useEffect(() => {
    setSelection(NOTHING);
    setMark(NOWHERE);
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
    [records, setCurrent],
  );
  const openPlace = useCallback(
    (place: number) => {
      setCurrent(place);
      open(records.snapshot().rows[place]?.id ?? null);
    },
    [open, records, setCurrent],
  );

  function pickLoaded() {
    const isEveryOne = rows.every(({ id }) => selection.ids.has(id));
    setSelection(isEveryOne ? NOTHING : widen(NOTHING, rows));
  }

  return { selection, current, setSelection, move, reach, pick, pickLoaded, openPlace };
}
