/** A small map of our own: land, borders, a net of degrees. No tiles, so nobody is asked. */
import {
  type PointerEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
  type WheelEvent,
} from "react";
import { IconButton } from "@/kit";
import { texts } from "@/texts/search";
import {
  degreesWritten,
  distance,
  heightOf,
  moved,
  netOf,
  type Point,
  placed,
  RATIO,
  scaleBar,
  type View,
  zoomed,
} from "./area";
import { BORDERS, LAND } from "./world";

interface MapProps {
  label: string;
  view: View;
  onView: (view: View) => void;
  /** Called with where the map was clicked. */
  onPick?: (point: Point) => void;
  /** Called with the `data-id` of what was clicked. */
  onOpen?: (id: string) => void;
  /** Dragging draws a line instead of moving the map; called with the line when it ends. */
  onDraw?: ((outline: readonly Point[]) => void) | undefined;
  /** Drawn on top, in degrees: x is longitude, y is latitude southward. */
  children?: ReactNode;
  /** Words on top of everything, placed by shares of the picture. */
  words?: ReactNode;
  /** Shows everything again. */
  onWhole?: () => void;
}

export function WorldMap({
  label,
  view,
  onView,
  onPick,
  onOpen,
  onDraw,
  children,
  words,
  onWhole,
}: MapProps) {
  const svg = useRef<SVGSVGElement>(null);
  const id = useId();
  const drag = useRef<{
    x: number;
    y: number;
    view: View;
    hasMoved: boolean;
    on: string | null;
  } | null>(null);
  const [isDragging, setDragging] = useState(false);
  const [line, setLine] = useState<readonly Point[]>([]);
  const height = heightOf(view);
  const left = view.longitude - view.width / 2;
  const top = -view.latitude - height / 2;

  useEffect(() => {
    // React listens to wheels passively: only a listener of our own may stop the scrolling.
    const element = svg.current;
    const stop = (event: Event) => event.preventDefault();
    element?.addEventListener("wheel", stop, { passive: false });
    return () => element?.removeEventListener("wheel", stop);
  }, []);

  function at(event: { clientX: number; clientY: number }): Point {
    const box = svg.current?.getBoundingClientRect();
    if (!box) return view;
    return {
      longitude: left + ((event.clientX - box.left) / box.width) * view.width,
      latitude: -(top + ((event.clientY - box.top) / box.height) * height),
    };
  }

  function wheel(event: WheelEvent) {
    onView(zoomed(view, event.deltaY > 0 ? 1.25 : 0.8, at(event)));
  }

  function down(event: PointerEvent<SVGSVGElement>) {
    const on = (event.target as Element).getAttribute("data-id");
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, y: event.clientY, view, hasMoved: false, on };
  }

  function move(event: PointerEvent<SVGSVGElement>) {
    const box = svg.current?.getBoundingClientRect();
    if (!drag.current || !box) return;
    const { x, y, view: start } = drag.current;
    if (Math.hypot(event.clientX - x, event.clientY - y) > 4) drag.current.hasMoved = true;
    if (!drag.current.hasMoved) return;
    if (onDraw) {
      setLine((before) => [...before, at(event)]);
      return;
    }
    setDragging(true);
    const east = ((x - event.clientX) / box.width) * start.width;
    const north = ((event.clientY - y) / box.height) * heightOf(start);
    onView(moved(start, east, north));
  }

  function up(event: PointerEvent<SVGSVGElement>) {
    const click = drag.current && !drag.current.hasMoved ? drag.current : null;
    drag.current = null;
    setDragging(false);
    if (onDraw) {
      onDraw(line);
      setLine([]);
      return;
    }
    if (!click) return;
    if (click.on) onOpen?.(click.on);
    else onPick?.(at(event));
  }

  const bar = scaleBar(view);
  return (
    <div className="map">
      <svg
        ref={svg}
        viewBox={`${left} ${top} ${view.width} ${height}`}
        // A degree to the east is shorter than one to the north: the picture evens that out.
        preserveAspectRatio="none"
        style={view.ratio ? { aspectRatio: view.ratio } : undefined}
        className={[isDragging && "dragging", onPick && "pickable", onDraw && "drawing"]
          .filter(Boolean)
          .join(" ")}
        role="img"
        aria-label={label}
        onWheel={wheel}
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
      >
        <defs>
          <g id={`${id}-world`}>
            <path className="land" d={LAND} />
            <path className="borders" d={BORDERS} />
          </g>
        </defs>
        {[-360, 0, 360].map((turn) => (
          <use key={turn} href={`#${id}-world`} transform={`translate(${turn} 0) scale(0.1)`} />
        ))}
        <Net view={view} left={left} top={top} height={height} />
        {children}
        {line.length > 1 && (
          <path
            className="lasso"
            d={`M${line.map(({ latitude, longitude }) => `${longitude} ${-latitude}`).join("L")}`}
          />
        )}
      </svg>
      <div className="map-words" aria-hidden="true">
        <NetWords view={view} />
        {words}
      </div>
      <div className="map-tools">
        <IconButton
          small
          look="plain"
          icon="plus"
          label={texts.map.zoomIn}
          onClick={() => onView(zoomed(view, 0.5))}
        />
        <IconButton
          small
          look="plain"
          icon="minus"
          label={texts.map.zoomOut}
          onClick={() => onView(zoomed(view, 2))}
        />
        {onWhole && (
          <IconButton
            small
            look="plain"
            icon="whole"
            label={texts.map.showEverything}
            onClick={onWhole}
          />
        )}
      </div>
      <div className="map-scale" style={{ width: `${(bar.degrees / view.width) * 100}%` }}>
        {distance(bar.metres)}
      </div>
    </div>
  );
}

/** A round dot of so many thousandths of the picture, wherever it stands. */
export function Dot({
  at,
  view,
  size,
  className,
  id,
  children,
}: {
  at: Point;
  view: View;
  size: number;
  className: string;
  id?: string;
  children?: ReactNode;
}) {
  return (
    <ellipse
      className={className}
      data-id={id}
      cx={at.longitude}
      cy={-at.latitude}
      rx={(view.width * size) / 1000}
      ry={(heightOf(view) * (view.ratio ?? RATIO) * size) / 1000}
    >
      {children}
    </ellipse>
  );
}

function Net({
  view,
  left,
  top,
  height,
}: {
  view: View;
  left: number;
  top: number;
  height: number;
}) {
  const { columns, rows } = netOf(view);
  return (
    <g className="net">
      {columns.map((x) => (
        <line key={x} x1={x} x2={x} y1={top} y2={top + height} />
      ))}
      {rows.map((y) => (
        <line key={y} y1={-y} y2={-y} x1={left} x2={left + view.width} />
      ))}
    </g>
  );
}

/** What the lines of the net are, at the left and at the top. */
function NetWords({ view }: { view: View }) {
  const { columns, rows, step } = netOf(view);
  return (
    <>
      {columns.map((longitude, place) => {
        if (columns.length > 6 && place % 2) return null;
        const { x } = placed(view, { latitude: view.latitude, longitude });
        // Not under the buttons, nor in the corner of the other edge.
        if (x < 0.1 || x > 0.86) return null;
        return (
          <span key={longitude} className="map-degrees east" style={{ left: `${x * 100}%` }}>
            {degreesWritten(longitude, step, "longitude")}
          </span>
        );
      })}
      {rows.map((latitude) => {
        const { y } = placed(view, { latitude, longitude: view.longitude });
        if (y < 0.12 || y > 0.84) return null;
        return (
          <span key={latitude} className="map-degrees north" style={{ top: `${y * 100}%` }}>
            {degreesWritten(latitude, step, "latitude")}
          </span>
        );
      })}
    </>
  );
}
