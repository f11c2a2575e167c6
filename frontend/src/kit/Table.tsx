/** A plain table for dozens of rows. (The Curate screens have one of their own for millions.) */
import type { ReactNode } from "react";

export interface Column<Row> {
  name: string;
  /** Stands above the column instead of its name. */
  head?: ReactNode;
  show: (row: Row) => ReactNode;
  /** Numbers stand to the right. */
  number?: boolean;
  /** Gives way first when there is no room. */
  minor?: boolean;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  onOpen?: (row: Row) => void;
}

export function Table<Row>({ label, columns, rows, keyOf, onOpen }: TableProps<Row>) {
  const classOf = (column: Column<Row>) =>
    [column.number && "number right", column.minor && "minor"].filter(Boolean).join(" ");
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups a table, not the fields of a form.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard.
    <div className="table-box" role="group" aria-label={label} tabIndex={0}>
      <table className="table">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" className={classOf(column)}>
                {column.head ?? column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className={onOpen ? "opens" : ""}
              onClick={onOpen && (() => onOpen(row))}
            >
              {columns.map((column) => (
                <td key={column.name} className={classOf(column)}>
                  {column.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
