/** Areas as the server takes them, and the arithmetic of a small map. */
import { texts } from "@/texts/search";

export type Box = readonly [south: number, west: number, north: number, east: number];

export type Area =
  | { box: Box }
  | { circle: readonly [latitude: number, longitude: number, metres: number] }
  | { polygon: readonly (readonly (readonly [latitude: number, longitude: number])[])[] };

export interface Point {
  latitude: number;
  longitude: number;
}

export interface View extends Point {
  /** Degrees of longitude from left to right; latitude and longitude are the middle. */
  width: number;
  /** How much wider than high the picture is, where it is not `RATIO`. */
  ratio?: number;
}

export const WORLD: View = { latitude: 20, longitude: 0, width: 360 };
/** How much wider than high a picture usually is. */
export const RATIO = 2;
const METRES_PER_DEGREE = 111_320;
const SMALLEST = 0.002;
const MARGIN = 1.15;

export const degreesNorth = (metres: number): number => metres / METRES_PER_DEGREE;

/** How much narrower a degree to the east is here than at the equator. */
export const narrowing = (latitude: number): number =>
  Math.max(0.05, Math.cos((latitude * Math.PI) / 180));

export const degreesEast = (metres: number, latitude: number): number =>
  degreesNorth(metres) / narrowing(latitude);

/** Degrees of latitude from top to bottom, so that a circle of the land is one of the picture. */
export const heightOf = ({ latitude, width, ratio = RATIO }: View): number =>
  (width * narrowing(latitude)) / ratio;

/** Where a point stands in the picture, as shares of its width and its height. */
export function placed(view: View, point: Point): { x: number; y: number } {
  const east = ((((point.longitude - view.longitude + 180) % 360) + 360) % 360) - 180;
  return {
    x: 0.5 + east / view.width,
    y: 0.5 + (view.latitude - point.latitude) / heightOf(view),
  };
}

/** Nearer or farther around a point that stays where it is. */
export function zoomed(view: View, factor: number, around: Point = view): View {
  const width = Math.min(360, Math.max(SMALLEST, view.width * factor));
  const share = width / view.width;
  return clamped({
    ...view,
    width,
    latitude: around.latitude + (view.latitude - around.latitude) * share,
    longitude: around.longitude + (view.longitude - around.longitude) * share,
  });
}

export function moved(view: View, east: number, north: number): View {
  return clamped({ ...view, latitude: view.latitude + north, longitude: view.longitude + east });
}

function clamped(view: View): View {
  const latitude = Math.min(84, Math.max(-84, view.latitude));
  const longitude = ((((view.longitude + 180) % 360) + 360) % 360) - 180;
  return { ...view, latitude, longitude };
}

/** A view in which all of the boxes fit. */
export function around(boxes: readonly Box[], ratio: number = RATIO): View {
  if (boxes.length === 0) return WORLD;
  const south = Math.min(...boxes.map((box) => box[0]));
  const west = Math.min(...boxes.map((box) => box[1]));
  const north = Math.max(...boxes.map((box) => box[2]));
  const east = Math.max(...boxes.map((box) => box[3]));
  const latitude = (south + north) / 2;
  const high = ((north - south) * ratio) / narrowing(latitude);
  const width = Math.min(360, Math.max(east - west, high, SMALLEST) * MARGIN);
  return { latitude, longitude: (west + east) / 2, width, ...(ratio === RATIO ? {} : { ratio }) };
}

/** The smallest box around an area. */
export function boundsOf(area: Area): Box {
  if ("box" in area) return area.box;
  if ("circle" in area) {
    const [latitude, longitude, metres] = area.circle;
    const north = degreesNorth(metres);
    const east = degreesEast(metres, latitude);
    return [latitude - north, longitude - east, latitude + north, longitude + east];
  }
  return boundsOfPoints(
    area.polygon.flat().map(([latitude, longitude]) => ({ latitude, longitude })),
  );
}

export function boundsOfPoints(points: readonly Point[]): Box {
  const north = points.map(({ latitude }) => latitude);
  const east = points.map(({ longitude }) => longitude);
  return [Math.min(...north), Math.min(...east), Math.max(...north), Math.max(...east)];
}

/** A round distance about a quarter of the picture wide, for the scale bar. */
export function scaleBar(view: View): { metres: number; degrees: number } {
  const whole = view.width * METRES_PER_DEGREE * narrowing(view.latitude);
  const magnitude = 10 ** Math.floor(Math.log10(whole / 4));
  const step = [5, 2, 1].find((one) => one * magnitude <= whole / 4) ?? 1;
  const metres = step * magnitude;
  return { metres, degrees: degreesEast(metres, view.latitude) };
}

export function distance(metres: number): string {
  return metres >= 1000
    ? texts.area.kilometres(Math.round(metres / 100) / 10)
    : `${Math.round(metres)} m`;
}

/** The lines of a net whose meshes are a fifth to a tenth of the picture wide. */
export function netOf(view: View): { columns: number[]; rows: number[]; step: number } {
  const step = STEPS.find((one) => view.width / one >= 5) ?? SMALLEST_STEP;
  const height = heightOf(view);
  return {
    columns: range(view.longitude - view.width / 2, view.longitude + view.width / 2, step),
    rows: range(view.latitude - height / 2, view.latitude + height / 2, step),
    step,
  };
}

const SMALLEST_STEP = 0.0002;
const STEPS = [
  30,
  10,
  5,
  2,
  1,
  0.5,
  0.2,
  0.1,
  0.05,
  0.02,
  0.01,
  0.005,
  0.002,
  0.001,
  0.0005,
  SMALLEST_STEP,
];

function range(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, place) => (first + place) * step);
}

/** Degrees as they stand at the edge of a map: `12.35° E`. */
export function degreesWritten(
  degrees: number,
  step: number,
  of: "longitude" | "latitude",
): string {
  const sides = texts.area.sides[of];
  const turned = of === "longitude" ? ((((degrees + 180) % 360) + 360) % 360) - 180 : degrees;
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const side = Math.abs(turned) < step / 2 ? "" : ` ${turned > 0 ? sides[0] : sides[1]}`;
  return `${Math.abs(turned).toFixed(digits)}°${side}`;
}

export interface Named extends Point {
  id: string;
  name: string;
}

const LETTER = 6.4;
const LINE = 15;
const PER_NAME = 50;
const LONGEST_NAME = 24;

export interface Label {
  id: string;
  text: string;
  x: number;
  y: number;
  isLeft: boolean;
}

/** The names that fit beside their points without covering each other, the first ones first. */
export function labelsOf(places: readonly Named[], view: View, width: number): Label[] {
  const height = width / RATIO;
  const taken: { left: number; right: number; top: number; bottom: number }[] = [];
  const labels: Label[] = [];
  for (const place of places) {
    if (labels.length >= width / PER_NAME) break;
    const { x, y } = placed(view, place);
    if (x < 0 || x > 1 || y < 0.07 || y > 0.9) continue;
    const text = shortened(place.name);
    const long = text.length * LETTER + 10;
    const isLeft = x * width + long > width - 4;
    const left = isLeft ? x * width - long : x * width;
    if (left < 0) continue;
    const box = {
      left,
      right: left + long,
      top: y * height - LINE / 2,
      bottom: y * height + LINE / 2,
    };
    const covers = taken.some(
      (other) =>
        box.left < other.right &&
        other.left < box.right &&
        box.top < other.bottom &&
        other.top < box.bottom,
    );
    if (covers) continue;
    taken.push(box);
    labels.push({ id: place.id, text, x, y, isLeft });
  }
  return labels;
}

function shortened(name: string): string {
  const letters = [...name];
  return letters.length > LONGEST_NAME ? `${letters.slice(0, LONGEST_NAME - 1).join("")}…` : name;
}
