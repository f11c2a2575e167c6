import { useMemo, useRef, useState } from "react";
import { go } from "@/app/router";
import { Badge, causeOf, Panel, useWidth } from "@/kit";
import { texts } from "@/texts/search";
import {
  type Area,
  around,
  boundsOf,
  boundsOfPoints,
  type Label,
  labelsOf,
  type View,
} from "./area";
import {
  type Coverage,
  FILE,
  type FoundPlace,
  type Leaf,
  placesOf,
  type Search,
  useFoundPlaces,
} from "./data";
import { Dot, WorldMap } from "./Map";

/** Where a search looked and what it found there: the area, its cells, the places. */
export function SearchMap({ search }: { search: Search }) {
  const found = useFoundPlaces(search);
  const places = found.data?.places ?? NONE;
  const { coverage } = search;
  const leaves = coverage?.leaves ?? NO_LEAVES;
  const area = search.area ?? search.progress.located?.area ?? null;
  const whole = useMemo(() => wholeOf(area, leaves, places), [area, leaves, places]);
  const [chosen, setChosen] = useState<View | null>(null);
  const view = chosen ?? whole;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const labels = useMemo(() => (view ? labelsOf(places, view, width) : []), [places, view, width]);
  if (!view || !whole)
    return coverage && <Said coverage={coverage} isFile={search.source === FILE} />;
  return (
    <Panel
      title={texts.searchMap.map}
      about={coverage && causeOf(coverage.why)}
      actions={coverage && <Complete coverage={coverage} />}
    >
      <div ref={box}>
        <WorldMap
          label={spoken(leaves, places)}
          view={view}
          onView={setChosen}
          onWhole={() => setChosen(null)}
          onOpen={(id) => go(`${placesOf(search)}&open=${id}`)}
          words={labels.map((label) => <Name key={label.id} label={label} />)}
        >
          {area && <Outline area={area} />}
          {leaves.length > 1 || leaves.some((leaf) => leaf.saturated) ? (
            <Cells leaves={leaves} />
          ) : (
            leaves.map((leaf) => <Outline key={leaf.box.join()} area={{ box: leaf.box }} />)
          )}
          {places.toReversed().map((place) => (
            <Dot
              key={place.id}
              id={place.id}
              className={`found ${toneOf(place.status)}`}
              at={place}
              view={view}
              size={places.length > 200 ? 4.5 : 6.5}
            >
              <title>{place.name}</title>
            </Dot>
          ))}
        </WorldMap>
      </div>
      <Legend places={places} leaves={leaves} isAll={found.data?.isAll ?? true} />
      {coverage?.lacks_service_areas && <ServiceAreas />}
    </Panel>
  );
}

const NONE: readonly FoundPlace[] = [];
const NO_LEAVES: readonly Leaf[] = [];

function wholeOf(
  area: Area | null,
  leaves: readonly Leaf[],
  places: readonly FoundPlace[],
): View | null {
  const boxes = leaves.map((leaf) => leaf.box);
  if (!boxes.length && area) boxes.push(boundsOf(area));
  if (!boxes.length && places.length) boxes.push(boundsOfPoints(places));
  return boxes.length ? around(boxes) : null;
}

/** A search without a place on the map still says how complete it is. */
function Said({ coverage, isFile }: { coverage: Coverage; isFile: boolean }) {
  return (
    <Panel title={texts.searchMap.coverage} actions={!isFile && <Complete coverage={coverage} />}>
      <p>{causeOf(coverage.why)}</p>
      {coverage.lacks_service_areas && <ServiceAreas />}
    </Panel>
  );
}

const Complete = ({ coverage }: { coverage: Coverage }) => (
  <Badge tone={coverage.complete ? "good" : "warn"}>
    {coverage.complete ? texts.searchMap.complete : texts.searchMap.incomplete}
  </Badge>
);

const ServiceAreas = () => <p className="small soft">{texts.searchMap.thereMayBeMoreBusinesses}</p>;

/** What the picture shows, for who cannot see it. */
function spoken(leaves: readonly Leaf[], places: readonly FoundPlace[]): string {
  const full = leaves.filter((leaf) => leaf.saturated).length;
  return [
    texts.searchMap.mapOf(places.length),
    leaves.length ? texts.searchMap.searched(leaves.length) : "",
    full ? texts.searchMap.ofThemMayContainMore(full) : "",
  ]
    .filter(Boolean)
    .join(", ");
}

function toneOf(status: string): string {
  if (status === "New") return "new";
  return status === "Selected" ? "selected" : "other";
}

/** The proof of how completely the area was searched: every cell, and what was in it. */
function Cells({ leaves }: { leaves: readonly Leaf[] }) {
  const most = Math.max(1, ...leaves.map((leaf) => leaf.count));
  return leaves.map((leaf) => {
    const [south, west, north, east] = leaf.box;
    return (
      <rect
        key={leaf.box.join()}
        className={`leaf ${leaf.saturated ? "full" : ""}`}
        x={west}
        y={-north}
        width={east - west}
        height={north - south}
        fillOpacity={0.04 + 0.3 * (leaf.count / most)}
      >
        <title>
          {texts.searchMap.places(leaf.count)}
          {leaf.saturated ? texts.searchMap.maybeMore : ""}
        </title>
      </rect>
    );
  });
}

function Outline({ area }: { area: Area }) {
  if ("polygon" in area) {
    const rings = area.polygon.map(
      (ring) => `M${ring.map(([latitude, longitude]) => `${longitude} ${-latitude}`).join("L")}Z`,
    );
    return <path className="outline" fillRule="evenodd" d={rings.join("")} />;
  }
  const [south, west, north, east] = boundsOf(area);
  if ("circle" in area) {
    return (
      <ellipse
        className="outline"
        cx={(west + east) / 2}
        cy={-(south + north) / 2}
        rx={(east - west) / 2}
        ry={(north - south) / 2}
      />
    );
  }
  return (
    <rect className="outline" x={west} y={-north} width={east - west} height={north - south} />
  );
}

function Name({ label }: { label: Label }) {
  return (
    <span
      className={`map-name foreign ${label.isLeft ? "left" : ""}`}
      style={{ left: `${label.x * 100}%`, top: `${label.y * 100}%` }}
    >
      {label.text}
    </span>
  );
}

function Legend({
  places,
  leaves,
  isAll,
}: {
  places: readonly FoundPlace[];
  leaves: readonly Leaf[];
  isAll: boolean;
}) {
  const count = (tone: string) => places.filter(({ status }) => toneOf(status) === tone).length;
  const full = leaves.filter((leaf) => leaf.saturated).length;
  return (
    <ul className="map-legend small soft">
      {(["new", "selected", "other"] as const).map(
        (tone) =>
          count(tone) > 0 && (
            <li key={tone}>
              <span className={`map-key ${tone}`} /> {count(tone)} {TONES[tone]}
            </li>
          ),
      )}
      {leaves.length > 1 && <li>{texts.searchMap.searched(leaves.length)}</li>}
      {full > 0 && (
        <li>
          <span className="map-key full" /> {texts.searchMap.mayContainMore(full)}
        </li>
      )}
      {!isAll && <li>{texts.searchMap.bestKnownAreShown(places.length)}</li>}
    </ul>
  );
}

const TONES = texts.searchMap.tones;
