/** A table for a million rows: only those in sight are in the page. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type MouseEvent, memo, useEffect, useMemo, useRef } from "react";
import type { Column, Kind } from "@/api/kinds";
import { useEntries } from "@/api/outbox/useOutbox";
import { Skeleton, useWidth } from "@/kit";
import { texts } from "@/texts/curate";
import { cell, isNumber, widthOf } from "./Cell";
import { EditCell, isEditable } from "./EditCell";
import type { ListState } from "./entry";
import { Heading } from "./Heading";
import { LeadRow } from "./LeadRow";
import type { Row } from "./model";
import { isOwn } from "./own";
import { isSelected, type Selection } from "./selection";

const ROW_HEIGHT = 40;
/** Room for an address on more than one line. */
const LEAD_HEIGHT = 56;
/** On a phone a lead has its person on a line of its own. */
const NARROW_LEAD_HEIGHT = 76;
/** Where the window is low, as at 200 %, the person and the number share one. */
const LOW_LEAD_HEIGHT = 52;
const NARROW_REM = 40;
const LOW_REM = 34;
/** From this width on they have room beside each other. */
const BESIDE_REM = 30;
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
  onResize: (field: string, width: number) => void;
  onMove: (field: string, onto: string) => void;
  /** A cell was written where it stands. */
  onSet: ((row: Row, field: string, value: string) => void) | undefined;
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
  const height = heightOf(kind);
  const rows = useVirtualizer({
    count: state.rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    overscan: 12,
    // The head stays in sight and would cover the row that is scrolled to.
    scrollMargin: HEAD_HEIGHT,
    scrollPaddingStart: HEAD_HEIGHT,
    // The box may end within a pixel, where it cannot scroll to.
    scrollPaddingEnd: 1,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows of another height are measured anew.
  useEffect(() => rows.measure(), [height, rows]);
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
      height,
      gridTemplateColumns: `2.5rem ${columns.map(widthOf).join(" ")}`,
      minWidth: `${narrowest(columns)}rem`,
    }),
    [columns, height],
  );
  const entries = useEntries();
  const waiting = useMemo(
    () => new Set(entries.flatMap(({ records }) => records.map(({ id }) => id))),
    [entries],
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
      <div
        className="grid-head"
        role="row"
        aria-rowindex={1}
        style={{ ...shape, height: HEAD_HEIGHT }}
      >
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
        {columns.map((column, place) => (
          <Heading
            key={column.field}
            column={column}
            before={columns[place - 1]}
            after={columns[place + 1]}
            sort={sort}
            onSort={props.onSort}
            onResize={props.onResize}
            onMove={props.onMove}
          />
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
              isWaiting={waiting.has(row.id)}
              onPick={props.onPick}
              onOpen={props.onOpen}
              onSet={props.onSet}
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

/** Rows of people are higher: nothing of how they are reached is cut. */
function heightOf(kind: Kind): number {
  if (!kind.columns.some(({ show }) => show === "person")) return ROW_HEIGHT;
  // Beside an open record the list is narrow too, and has its columns.
  if (innerWidth > NARROW_REM * REM) return LEAD_HEIGHT;
  const isLow = innerHeight <= LOW_REM * REM && innerWidth >= BESIDE_REM * REM;
  return isLow ? LOW_LEAD_HEIGHT : NARROW_LEAD_HEIGHT;
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

interface GridRowProps {
  kind: Kind;
  columns: readonly Column[];
  shape: CSSProperties;
  row: Row;
  place: number;
  top: number;
  isSelected: boolean;
  isCurrent: boolean;
  /** Whether a change of it is not sent yet. */
  isWaiting: boolean;
  onPick: GridProps["onPick"];
  onOpen: GridProps["onOpen"];
  onSet: GridProps["onSet"];
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
      className={`grid-row ${props.isCurrent ? "current" : ""} ${props.isWaiting ? "waiting" : ""}`}
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
          {props.onSet && isEditable(kind, column) ? (
            // Another record in the same element begins anew.
            <EditCell key={row.id} column={column} row={row} onSet={props.onSet}>
              {cell(column, row)}
            </EditCell>
          ) : (
            cell(column, row)
          )}
        </div>
      ))}
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      {/* biome-ignore lint/a11y/useFocusableInteractive: as above */}
      <div role="gridcell" className="grid-card">
        <LeadRow kind={kind} row={row} />
      </div>
    </div>
  );
});
