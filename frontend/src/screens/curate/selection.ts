/** Which records are meant: some of those loaded, or all that match the filter. */
export interface Selection {
  ids: ReadonlySet<string>;
  /** Where a range begins. */
  anchor: number | null;
  /** All that match, loaded or not. */
  isAll: boolean;
}

export const NOTHING: Selection = { ids: new Set(), anchor: null, isAll: false };

type Ids = readonly { id: string }[];

export function sizeOf(selection: Selection, total: number): number {
  return selection.isAll ? total : selection.ids.size;
}

export const isSelected = (selection: Selection, id: string): boolean =>
  selection.isAll || selection.ids.has(id);

export function toggle(selection: Selection, rows: Ids, place: number): Selection {
  const row = rows[place];
  if (!row) return selection;
  const ids = new Set(selection.isAll ? rows.map(({ id }) => id) : selection.ids);
  if (!ids.delete(row.id)) ids.add(row.id);
  return { ids, anchor: place, isAll: false };
}

/** Add all rows from where the range began to here. */
export function extend(selection: Selection, rows: Ids, place: number): Selection {
  const from = selection.anchor ?? place;
  const [low, high] = from < place ? [from, place] : [place, from];
  const ids = new Set(selection.isAll ? [] : selection.ids);
  for (const { id } of rows.slice(low, high + 1)) ids.add(id);
  return { ids, anchor: from, isAll: false };
}

/** First everything that is loaded; asked again, everything that matches. */
export function widen(selection: Selection, rows: Ids): Selection {
  if (rows.length > 0 && rows.every(({ id }) => selection.ids.has(id))) {
    return { ids: selection.ids, anchor: null, isAll: true };
  }
  return { ids: new Set(rows.map(({ id }) => id)), anchor: null, isAll: false };
}
