/** A table for a million rows: only those in sight are in the page. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type MouseEvent, memo, useEffect, useMemo, useRef } from "react";
import type { Column, Kind } from "@/api/kinds";
import { Icon, Skeleton, Status, useWidth } from "@/kit";
import { texts } from "@/texts/curate";
import { cell, isNumber, widthOf } from "./Cell";
import type { ListState } from "./entry";
import { type Row, text } from "./model";
import { isOwn } from "./own";
import { isSelected, type Selection } from "./selection";

const ROW_HEIGHT = 40;
const HEAD_HEIGHT = 36;
const AHEAD = 60;
const REM = 16;
const ALWAYS = 2;

interface GridProps {
  kind: Kind;
  columns: readonly Column[];
  /** Something else needs room beside it: the last columns give way. */
  isBeside: boolean;
  state: ListState;
  sort: string;
  selection: Selection;
  /** The row the keys work on. */
  current: number;
  onSort: (sort: string) => void;
  onPick: (place: number, how: "only" | "toggle" | "extend") => void;
  onPickPage: () => void;
  onOpen: (place: number) => void;
  onMore: () => void;
}

export function Grid(props: GridProps) {
  const { kind, state, sort, selection, current, onMore } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  // Nobody misses a column that is cut, but whoever asked for one more scrolls to it.
  const isFitted =
    props.isBeside || !props.columns.some(({ field, is_hidden }) => is_hidden || isOwn(field));
  const columns = useMemo(
    () => (isFitted ? fitting(props.columns, width / REM) : props.columns),
    [props.columns, isFitted, width],
  );
  const rows = useVirtualizer({
    count: state.rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    // The head stays in sight and would cover the row that is scrolled to.
    scrollMargin: HEAD_HEIGHT,
    scrollPaddingStart: HEAD_HEIGHT,
  });
  const visible = rows.getVirtualItems();
  const slots = useRef(1);
  slots.current = Math.max(slots.current, visible.length);
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (state.hasMore && !state.isLoading && !state.error && last > state.rows.length - AHEAD)
      onMore();
  }, [last, state.hasMore, state.isLoading, state.error, state.rows.length, onMore]);
  useEffect(() => {
    if (current >= 0) rows.scrollToIndex(current, { align: "auto" });
  }, [current, rows]);
  const shape = useMemo(
    () => ({
      gridTemplateColumns: `2.5rem ${columns.map(widthOf).join(" ")}`,
      minWidth: `${narrowest(columns)}rem`,
    }),
    [columns],
  );
  const loaded = state.rows.length;
  const isWhole = loaded > 0 && state.rows.every(({ id }) => isSelected(selection, id));
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot hold virtual rows.
    <div
      ref={box}
      className="grid"
      role="grid"
      aria-label={kind.title}
      aria-rowcount={state.total.is_exact ? state.total.count + 1 : -1}
      aria-multiselectable="true"
      aria-busy={state.isLoading}
      aria-activedescendant={state.rows[current] ? `row-${state.rows[current].id}` : undefined}
      tabIndex={0}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid itself has the focus */}
      <div className="grid-head" role="row" aria-rowindex={1} style={shape}>
        {/* biome-ignore lint/a11y/useSemanticElements: as above */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
        <div role="columnheader">
          <input
            type="checkbox"
            aria-label={texts.grid.selectAllThatAreLoaded}
            checked={isWhole}
            onChange={props.onPickPage}
          />
        </div>
        {columns.map((column) => (
          <Heading key={column.field} column={column} sort={sort} onSort={props.onSort} />
        ))}
      </div>
      <div className="grid-body" style={{ height: rows.getTotalSize() }}>
        {visible.map(({ index, start }) => {
          const row = state.rows[index];
          return row ? (
            <GridRow
              // Rows that come into sight take over the elements of those that left it.
              key={index % slots.current}
              kind={kind}
              columns={columns}
              shape={shape}
              row={row}
              place={index}
              top={start - HEAD_HEIGHT}
              isSelected={isSelected(selection, row.id)}
              isCurrent={index === current}
              onPick={props.onPick}
              onOpen={props.onOpen}
            />
          ) : null;
        })}
      </div>
      {state.isLoading && loaded > 0 && (
        <div className="grid-more">
          <Skeleton lines={2} />
        </div>
      )}
    </div>
  );
}

/** As many columns as fit, the first two in any case. */
export function fitting(columns: readonly Column[], rem: number): readonly Column[] {
  let count = columns.length;
  while (count > ALWAYS && narrowest(columns.slice(0, count)) > rem) count -= 1;
  return columns.slice(0, count);
}

/** How narrow the rows may become before the table scrolls sideways: the same for all. */
function narrowest(columns: readonly Column[]): number {
  return columns.reduce((sum, { width }) => sum + width, 2.5);
}

const LARGEST_FIRST: ReadonlySet<Column["show"]> = new Set([
  "number",
  "bytes",
  "share",
  "rating",
  "time",
]);

function Heading({
  column,
  sort,
  onSort,
}: {
  column: Column;
  sort: string;
  onSort: (sort: string) => void;
}) {
  const isDown = sort === `-${column.field}`;
  const isUp = sort === column.field;
  // Words begin at A; of numbers and times the largest and the latest are wanted first.
  const isNextUp = isDown || (!isUp && !LARGEST_FIRST.has(column.show));
  const order = isUp ? "ascending" : isDown ? "descending" : "none";
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot hold virtual rows.
    // biome-ignore lint/a11y/useFocusableInteractive: the button inside has the focus.
    <div
      role="columnheader"
      className={isNumber(column) ? "right" : ""}
      {...(column.is_sortable ? { "aria-sort": order as "ascending" } : {})}
    >
      {!column.is_sortable ? (
        <span className="cut">{column.title}</span>
      ) : (
        <button
          type="button"
          className="cut"
          onClick={() => onSort(isNextUp ? column.field : `-${column.field}`)}
        >
          {column.title}
          {(isDown || isUp) && <Icon name={isDown ? "down" : "up"} size={14} />}
        </button>
      )}
    </div>
  );
}

interface GridRowProps {
  kind: Kind;
  columns: readonly Column[];
  shape: CSSProperties;
  row: Row;
  place: number;
  top: number;
  isSelected: boolean;
  isCurrent: boolean;
  onPick: GridProps["onPick"];
  onOpen: GridProps["onOpen"];
}

const GridRow = memo(function GridRow(props: GridRowProps) {
  const { kind, columns, row, place } = props;
  const pressed = useRef<string | null>(null);
  function press(event: MouseEvent) {
    pressed.current = row.id;
    if (event.shiftKey) event.preventDefault();
  }
  function click(event: MouseEvent) {
    // The list may have moved under the pointer: only the row that was pressed is meant.
    if (pressed.current !== row.id) return;
    if (event.shiftKey) props.onPick(place, "extend");
    else if (event.metaKey || event.ctrlKey) props.onPick(place, "toggle");
    else props.onOpen(place);
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot hold virtual rows.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the whole screen.
    // biome-ignore lint/a11y/useFocusableInteractive: the grid itself has the focus.
    <div
      role="row"
      id={`row-${row.id}`}
      aria-rowindex={place + 2}
      aria-selected={props.isSelected}
      className={`grid-row ${props.isCurrent ? "current" : ""}`}
      style={{ ...props.shape, transform: `translateY(${props.top}px)` }}
      onClick={click}
      onMouseDown={press}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: as above */}
      <div role="gridcell" className="grid-pick" onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={texts.grid.select(kind.label(row))}
          checked={props.isSelected}
          onChange={(event) =>
            props.onPick(
              place,
              (event.nativeEvent as globalThis.MouseEvent).shiftKey ? "extend" : "toggle",
            )
          }
        />
      </div>
      {columns.map((column) => (
        // biome-ignore lint/a11y/useSemanticElements: as above
        // biome-ignore lint/a11y/useFocusableInteractive: as above
        <div key={column.field} role="gridcell" className={isNumber(column) ? "right number" : ""}>
          {cell(column, row)}
        </div>
      ))}
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="gridcell" className="grid-card">
        <span className="grow">
          <span className="foreign cut strong">{kind.label(row)}</span>
          <span className="foreign cut small soft">{kind.under(row)}</span>
        </span>
        <Status status={text(row[kind.status])} field={kind.status} />
      </div>
    </div>
  );
});
