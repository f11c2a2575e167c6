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
import { distance, moved, scaleBar, type View, zoomed } from "./area";
import { BORDERS, LAND } from "./world";

const RATIO = 2;

interface MapProps {
  label: string;
  view: View;
  onView: (view: View) => void;
  /** Called with where the map was clicked. */
  onPick?: (point: { latitude: number; longitude: number }) => void;
  /** Drawn on top, in degrees: x is longitude, y is latitude southward. */
  children?: ReactNode;
}

export function WorldMap({ label, view, onView, onPick, children }: MapProps) {
  const svg = useRef<SVGSVGElement>(null);
  const id = useId();
  const drag = useRef<{ x: number; y: number; view: View; hasMoved: boolean } | null>(null);
  const [isDragging, setDragging] = useState(false);
  const height = view.width / RATIO;
  const left = view.longitude - view.width / 2;
  const top = -view.latitude - height / 2;

  useEffect(() => {
    // React listens to wheels passively: only a listener of our own may stop the scrolling.
    const element = svg.current;
    const stop = (event: Event) => event.preventDefault();
    element?.addEventListener("wheel", stop, { passive: false });
    return () => element?.removeEventListener("wheel", stop);
  }, []);

  function at(event: { clientX: number; clientY: number }) {
    const box = svg.current?.getBoundingClientRect();
    if (!box) return { latitude: view.latitude, longitude: view.longitude };
    return {
      longitude: left + ((event.clientX - box.left) / box.width) * view.width,
      latitude: -(top + ((event.clientY - box.top) / box.height) * height),
    };
  }

  function wheel(event: WheelEvent) {
    onView(zoomed(view, event.deltaY > 0 ? 1.25 : 0.8, { ...at(event), width: 0 }));
  }

  function down(event: PointerEvent<SVGSVGElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, y: event.clientY, view, hasMoved: false };
  }

  function move(event: PointerEvent<SVGSVGElement>) {
    const box = svg.current?.getBoundingClientRect();
    if (!drag.current || !box) return;
    const { x, y, view: start } = drag.current;
    if (Math.hypot(event.clientX - x, event.clientY - y) > 4) drag.current.hasMoved = true;
    if (!drag.current.hasMoved) return;
    setDragging(true);
    const degrees = start.width / box.width;
    onView(moved(start, (x - event.clientX) * degrees, (event.clientY - y) * degrees));
  }

  function up(event: PointerEvent<SVGSVGElement>) {
    const wasClick = drag.current && !drag.current.hasMoved;
    drag.current = null;
    setDragging(false);
    if (wasClick) onPick?.(at(event));
  }

  const bar = scaleBar(view);
  return (
    <div className="map">
      <svg
        ref={svg}
        viewBox={`${left} ${top} ${view.width} ${height}`}
        className={isDragging ? "dragging" : ""}
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
      </svg>
      <div className="map-tools">
        <IconButton
          small
          look="plain"
          icon="plus"
          label="Nearer"
          onClick={() => onView(zoomed(view, 0.5))}
        />
        <IconButton
          small
          look="plain"
          icon="minus"
          label="Farther"
          onClick={() => onView(zoomed(view, 2))}
        />
      </div>
      <div className="map-scale small" style={{ width: `${(bar.degrees / view.width) * 100}%` }}>
        {distance(bar.metres)}
      </div>
    </div>
  );
}

const STEPS = [30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005];

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
  const step = STEPS.find((one) => view.width / one >= 5) ?? 0.005;
  const columns = range(left, left + view.width, step);
  const rows = range(top, top + height, step);
  return (
    <g className="net">
      {columns.map((x) => (
        <line key={x} x1={x} x2={x} y1={top} y2={top + height} />
      ))}
      {rows.map((y) => (
        <line key={y} y1={y} y2={y} x1={left} x2={left + view.width} />
      ))}
    </g>
  );
}

function range(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, place) => (first + place) * step);
}
