/** A cell that is edited where it stands: Enter keeps it, Escape leaves it as it was. */
import { type KeyboardEvent, useState } from "react";
import type { Column, Kind } from "@/api/kinds";
import { Icon } from "@/kit";
import { texts } from "@/texts/curate";
import { list, type Row, text } from "./model";
import { isOwn, ownText } from "./own";

interface EditCellProps {
  column: Column;
  row: Row;
  children: React.ReactNode;
  onSet: (row: Row, field: string, value: string) => void;
}

/** Whether people write this column themselves. */
export const isEditable = (kind: Kind, { field }: Column): boolean =>
  kind.hasOwner && (field === "notes" || field === "tags" || isOwn(field));

/** What stands in a cell, as it is edited. */
export const writtenIn = (row: Row, field: string): string => {
  if (isOwn(field)) return ownText(row, field);
  return field === "tags" ? list(row.tags).join(", ") : (text(row[field]) ?? "");
};

export function EditCell({ column, row, children, onSet }: EditCellProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const { field, title, show } = column;
  function end(isKept: boolean) {
    if (isKept && draft !== null && draft !== writtenIn(row, field)) onSet(row, field, draft);
    setDraft(null);
  }
  function press(event: KeyboardEvent) {
    event.stopPropagation();
    if (event.key === "Enter" || event.key === "Escape") end(event.key === "Enter");
  }
  if (draft === null) {
    return (
      <button
        type="button"
        className="edit-cell"
        tabIndex={-1}
        aria-label={texts.grid.editCell(title)}
        onClick={(event) => {
          event.stopPropagation();
          setDraft(writtenIn(row, field));
        }}
      >
        {children}
        <Icon name="edit" size={14} />
      </button>
    );
  }
  return (
    <input
      className="input"
      // biome-ignore lint/a11y/noAutofocus: the click that opened it asked for it.
      autoFocus
      type={show === "time" && isOwn(field) ? "date" : "text"}
      aria-label={title}
      maxLength={2000}
      value={draft}
      onClick={(event) => event.stopPropagation()}
      onChange={({ target }) => setDraft(target.value)}
      onKeyDown={press}
      onBlur={() => end(true)}
    />
  );
}
