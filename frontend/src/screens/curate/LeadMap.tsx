/** The leads of the list on a map: those that lie together as one, a line drawn around some. */
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { read, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { Button, Empty, Failure, Loading, short, statusWord, toastError, toneOf } from "@/kit";
import {
  around,
  type Box,
  boundsOfPoints,
  heightOf,
  type Point,
  placed,
  type View,
  zoomed,
} from "@/screens/search/area";
import { Dot, WorldMap } from "@/screens/search/Map";
import "@/screens/search/search.css";
import { texts } from "@/texts/leadMap";
import type { Curation } from "./curation";
import { writeFilter } from "./filters";
import { mapAsked, sizeOfCluster, UPRIGHT } from "./mapping";
import { SelectionBar } from "./SelectionBar";
import { NOTHING } from "./selection";
import "./map.css";

const STATUS = "lead_status";
const CLOSER = 0.35;
const ON_A_PHONE = "(max-width: 40rem)";
/** Fine enough to see where all leads of one town lie. */
const NEAR_ZOOM = 14;

export default function LeadMap({ curation }: { curation: Curation }) {
  const { address, kind, version } = curation;
  const filter = address.filters.map(writeFilter);
  const narrowed = { filter, q: address.words || undefined };
  const whole = useQuery({
    queryKey: ["map", kind.name, narrowed, "whole"],
    queryFn: () => read("/reports/map", { query: { ...narrowed, zoom: NEAR_ZOOM } }),
    placeholderData: (before) => before,
  });
  const home = useMemo(() => {
    const points = whole.data?.points ?? [];
    const ratio = matchMedia(ON_A_PHONE).matches ? UPRIGHT : undefined;
    return points.length ? around([boundsOfPoints(points)], ratio) : null;
  }, [whole.data]);
  const [chosen, setView] = useState<View | null>(null);
  const [isDrawing, setDrawing] = useState(false);
  const [drawn, setDrawn] = useState<readonly Point[]>([]);
  const view = chosen ?? home;
  const seen = useQuery({
    queryKey: ["map", kind.name, narrowed, view && mapAsked(view), version],
    queryFn: () => read("/reports/map", { query: { ...narrowed, ...(view && mapAsked(view)) } }),
    enabled: view !== null,
    placeholderData: (before) => before,
  });

  async function pickInside(outline: readonly Point[]) {
    setDrawing(false);
    if (outline.length < 3) return;
    setDrawn(outline);
    const corners = outline.map(({ latitude, longitude }): [number, number] => [
      latitude,
      longitude,
    ]);
    try {
      const { ids } = await write("POST", "/reports/map/lasso", {
        body: { filter, q: address.words || null, outline: corners },
      });
      curation.setSelection({ ...NOTHING, ids: new Set(ids) });
    } catch (error) {
      toastError(error);
    }
  }

  if (whole.error) return <Failure error={whole.error} retry={() => void whole.refetch()} />;
  if (!whole.data) return <Loading />;
  if (!view || !home) return <Empty icon="map" title={texts.map.noneHasAPlace} />;
  const points = seen.data?.points ?? whole.data.points;
  const without = whole.data.without_place;
  return (
    <div className="lead-map">
      <div className="lead-map-tools row wrap">
        <Button
          small
          icon="edit"
          aria-pressed={isDrawing}
          className={isDrawing ? "chosen" : ""}
          onClick={() => {
            setDrawn([]);
            setDrawing(!isDrawing);
          }}
        >
          {isDrawing ? texts.map.drawALine : texts.map.lasso}
        </Button>
        <Button small look="quiet" onClick={() => void pickInside(cornersOf(view))}>
          {texts.map.selectInSight}
        </Button>
        <Legend kind={kind} />
        {without > 0 && <span className="small soft">{texts.map.withoutAPlace(without)}</span>}
      </div>
      <WorldMap
        label={texts.map.mapOf(whole.data.count)}
        view={view}
        onView={setView}
        onWhole={() => setView(null)}
        onDraw={isDrawing ? (outline) => void pickInside(outline) : undefined}
        onOpen={(id) => {
          const cluster = points.find((point) => keyOf(point) === id);
          if (cluster?.id) address.open(cluster.id);
          else if (cluster) setView(zoomed({ ...view, ...cluster }, CLOSER));
        }}
        words={points.map((point) =>
          point.count > 1 ? <Count key={keyOf(point)} view={view} point={point} /> : null,
        )}
      >
        {drawn.length > 0 && <path className="lasso" d={pathOf(drawn)} />}
        {points.map((point) => (
          <Dot
            key={keyOf(point)}
            id={keyOf(point)}
            at={point}
            view={view}
            size={sizeOfCluster(point.count, view)}
            className={`lead-dot ${point.count > 1 ? "cluster" : toneOf(point.lead_status ?? "", STATUS)}`}
          >
            <title>{point.name ?? texts.map.leadsHere(point.count)}</title>
          </Dot>
        ))}
      </WorldMap>
      <SelectionBar curation={curation} />
    </div>
  );
}

interface Placed extends Point {
  count: number;
  id?: string | null;
}

const keyOf = ({ id, latitude, longitude }: Placed): string => id ?? `${latitude},${longitude}`;

const pathOf = (outline: readonly Point[]): string =>
  `M${outline.map(({ latitude, longitude }) => `${longitude} ${-latitude}`).join("L")}Z`;

/** The line around what is in sight. */
function cornersOf(view: View): Point[] {
  const [east, north] = [view.width / 2, heightOf(view) / 2];
  const box: Box = [
    view.latitude - north,
    view.longitude - east,
    view.latitude + north,
    view.longitude + east,
  ];
  const [bottom, left, top, right] = box;
  return [
    { latitude: bottom, longitude: left },
    { latitude: bottom, longitude: right },
    { latitude: top, longitude: right },
    { latitude: top, longitude: left },
  ];
}

function Count({ view, point }: { view: View; point: Placed }) {
  const { x, y } = placed(view, point);
  if (x < 0 || x > 1 || y < 0 || y > 1) return null;
  return (
    <span className="lead-count number" style={{ left: `${x * 100}%`, top: `${y * 100}%` }}>
      {short(point.count)}
    </span>
  );
}

function Legend({ kind }: { kind: Kind }) {
  const statuses = new Set([kind.undecided, ...kind.decisions.map(({ status }) => status)]);
  return (
    <ul className="row wrap small soft lead-legend">
      {[...statuses].map((status) => (
        <li key={status} className={toneOf(status, STATUS)}>
          {statusWord(status, STATUS)}
        </li>
      ))}
    </ul>
  );
}
