/** The head of a column: sorts by it, moves it, makes it wider or narrower. */
import { type DragEvent, type KeyboardEvent, type PointerEvent, useRef } from "react";
import type { Column } from "@/api/kinds";
import { Icon } from "@/kit";
import { texts } from "@/texts/curate";
import { isNumber } from "./Cell";
import { bounded } from "./layout";

const REM = 16;
const STEP = 1;
const MOVED = "text/x-column";

const LARGEST_FIRST: ReadonlySet<Column["show"]> = new Set([
  "number",
  "bytes",
  "share",
  "rating",
  "time",
]);

interface HeadingProps {
  column: Column;
  /** The columns beside it. */
  before: Column | undefined;
  after: Column | undefined;
  sort: string;
  onSort: (sort: string) => void;
  onResize: (field: string, width: number) => void;
  onMove: (field: string, onto: string) => void;
}

export function Heading(props: HeadingProps) {
  const { column, sort, onSort, onResize, onMove } = props;
  const { field, title } = column;
  const box = useRef<HTMLDivElement>(null);
  const by = column.sort || field;
  const isDown = sort === `-${by}`;
  const isUp = sort === by;
  // Words begin at A; of numbers and times the largest and the latest are wanted first.
  const isNextUp = isDown || (!isUp && !LARGEST_FIRST.has(column.show));
  const order = isUp ? "ascending" : isDown ? "descending" : "none";
  const widthNow = () => (box.current?.offsetWidth ?? 0) / REM;

  function press(event: KeyboardEvent) {
    const isRight = event.key === "ArrowRight";
    if (!(isRight || event.key === "ArrowLeft")) return;
    const beside = isRight ? props.after : props.before;
    if (event.shiftKey) onResize(field, bounded(widthNow() + (isRight ? STEP : -STEP)));
    else if (event.altKey && beside) onMove(field, beside.field);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function drop(event: DragEvent) {
    const dropped = event.dataTransfer.getData(MOVED);
    if (!dropped) return;
    event.preventDefault();
    onMove(dropped, field);
  }

  return (
    // biome-ignore lint/a11y/useSemanticElements: a table element cannot hold virtual rows.
    // biome-ignore lint/a11y/useFocusableInteractive: the button inside has the focus.
    <div
      ref={box}
      role="columnheader"
      className={isNumber(column) ? "right" : ""}
      draggable
      onDragStart={(event) => event.dataTransfer.setData(MOVED, field)}
      onDragOver={(event) => event.preventDefault()}
      onDrop={drop}
      {...(column.is_sortable ? { "aria-sort": order as "ascending" } : {})}
    >
      <button
        type="button"
        className="cut"
        title={texts.grid.howToArrange}
        onKeyDown={press}
        onClick={() => column.is_sortable && onSort(isNextUp ? by : `-${by}`)}
      >
        {title}
        {(isDown || isUp) && <Icon name={isDown ? "down" : "up"} size={14} />}
      </button>
      <Edge onWidth={(width) => onResize(field, width)} widthNow={widthNow} />
    </div>
  );
}

interface EdgeProps {
  widthNow: () => number;
  onWidth: (width: number) => void;
}

/** The right edge, to be dragged; by keyboard the heading itself does it. */
function Edge({ widthNow, onWidth }: EdgeProps) {
  const drag = useRef<{ x: number; width: number } | null>(null);
  function down(event: PointerEvent<HTMLSpanElement>) {
    event.preventDefault();
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, width: widthNow() };
  }
  function move(event: PointerEvent) {
    if (!drag.current) return;
    onWidth(bounded(drag.current.width + (event.clientX - drag.current.x) / REM));
  }
  return (
    <span
      className="column-edge"
      aria-hidden="true"
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={() => {
        drag.current = null;
      }}
    />
  );
}
