/** Areas as the server takes them, and the arithmetic of a small map. */

export type Area =
  | { box: [south: number, west: number, north: number, east: number] }
  | { circle: [latitude: number, longitude: number, metres: number] }
  | { polygon: unknown };

export interface View {
  /** Degrees in the middle of the picture. */
  latitude: number;
  longitude: number;
  /** Degrees of longitude from left to right. */
  width: number;
}

export const WORLD: View = { latitude: 20, longitude: 0, width: 360 };
const METRES_PER_DEGREE = 111_320;
const SMALLEST = 0.02;

export const degreesNorth = (metres: number): number => metres / METRES_PER_DEGREE;

export function degreesEast(metres: number, latitude: number): number {
  return degreesNorth(metres) / Math.max(0.05, Math.cos((latitude * Math.PI) / 180));
}

/** Nearer or farther around a point that stays where it is. */
export function zoomed(view: View, factor: number, around = view): View {
  const width = Math.min(360, Math.max(SMALLEST, view.width * factor));
  const share = width / view.width;
  return clamped({
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
export function around(
  boxes: readonly (readonly [number, number, number, number])[],
  aspect: number,
): View {
  if (boxes.length === 0) return WORLD;
  const south = Math.min(...boxes.map((box) => box[0]));
  const west = Math.min(...boxes.map((box) => box[1]));
  const north = Math.max(...boxes.map((box) => box[2]));
  const east = Math.max(...boxes.map((box) => box[3]));
  const width = Math.max(east - west, (north - south) * aspect, SMALLEST) * 1.15;
  return { latitude: (south + north) / 2, longitude: (west + east) / 2, width };
}

/** A round distance about a quarter of the picture wide, for the scale bar. */
export function scaleBar(view: View): { metres: number; degrees: number } {
  const whole = view.width * METRES_PER_DEGREE * Math.cos((view.latitude * Math.PI) / 180);
  const magnitude = 10 ** Math.floor(Math.log10(whole / 4));
  const step = [5, 2, 1].find((one) => one * magnitude <= whole / 4) ?? 1;
  const metres = step * magnitude;
  return { metres, degrees: degreesEast(metres, view.latitude) };
}

export function distance(metres: number): string {
  return metres >= 1000 ? `${Math.round(metres / 100) / 10} km` : `${Math.round(metres)} m`;
}
