/** Which part of the map is asked for, and how large its points are drawn. */
import { heightOf, type View } from "@/screens/search/area";

const DEEPEST = 22;
/** Beside what is in sight, so that a small move asks nothing new. */
const MARGIN = 0.25;
const STEPS = 4;

/** An upright picture is that of a phone, a thousandth of which is less than half as wide. */
export const UPRIGHT = 0.85;
const UPRIGHT_DOTS = 2.2;

const within = (least: number, value: number, most: number): number =>
  Math.max(least, Math.min(most, value));

/** A part of the map that is asked for: it moves in steps, with some room around. */
export function mapAsked(view: View) {
  const height = heightOf(view);
  const [across, down] = [view.width / STEPS, height / STEPS];
  const longitude = Math.round(view.longitude / across) * across;
  const latitude = Math.round(view.latitude / down) * down;
  const east = view.width * (0.5 + MARGIN);
  const north = height * (0.5 + MARGIN);
  return {
    south: within(-90, latitude - north, 90),
    north: within(-90, latitude + north, 90),
    west: within(-180, longitude - east, 180),
    east: within(-180, longitude + east, 180),
    // What is small on the screen has room for fewer dots.
    zoom: within(0, Math.round(Math.log2((view.ratio ? 400 : 1440) / view.width)), DEEPEST),
  };
}

/** Its radius in thousandths of the picture: more leads are a larger dot, up to a point. */
export const sizeOfCluster = (count: number, { ratio }: View): number =>
  (ratio ? UPRIGHT_DOTS : 1) * (count > 1 ? Math.min(28, 11 + 3 * Math.log2(count)) : 6);
