/** From what stands in the form to the searches it means. */

import { texts } from "@/texts/search";
import type { Estimate, SearchIn, Source } from "./data";

export interface Wanted {
  what: string;
  where: string;
  mode: "name" | "point";
  radiusKm: string;
  point: { latitude: number; longitude: number } | null;
  source: string;
  budget: string;
  limit: string;
  file: string;
}

export const NOTHING: Wanted = {
  what: "",
  where: "",
  mode: "name",
  radiusKm: "",
  point: null,
  source: "",
  budget: "",
  limit: "",
  file: "",
};

export const MOST = 20;

const lines = (text: string) =>
  text
    .split(/[\n;]/)
    .map((line) => line.trim())
    .filter(Boolean);

/** Every kind of business in every place: one search each, or why there is none. */
export function searchesOf(
  wanted: Wanted,
  source?: Source,
): { searches: SearchIn[]; missing: string | null } {
  if (source?.takes.includes("file")) return searchOfFile(wanted);
  const kinds = [...new Set(lines(wanted.what))];
  const places = wanted.mode === "name" ? [...new Set(lines(wanted.where))] : [""];
  const missing = missingIn(wanted, kinds, places, source);
  if (missing) return { searches: [], missing };
  const radius = Number(wanted.radiusKm) * 1000;
  const common = {
    source: wanted.source,
    ...(wanted.budget ? { budget: Number(wanted.budget) } : {}),
    ...(wanted.limit ? { limit: Number(wanted.limit) } : {}),
  };
  const searches = kinds.flatMap((business_type) =>
    places.map((location) => ({
      business_type,
      ...common,
      ...(wanted.mode === "name"
        ? { location, ...(radius > 0 ? { radius_m: radius } : {}) }
        : { area: circle(wanted) }),
    })),
  );
  return { searches, missing: null };
}

function missingIn(
  wanted: Wanted,
  kinds: string[],
  places: string[],
  source?: Source,
): string | null {
  if (!kinds.length) return texts.wanted.enterABusinessType;
  if (!places.length) return texts.wanted.enterAPlace;
  if (wanted.mode === "point" && !wanted.point) return texts.wanted.chooseAPointOnTheMap;
  if (wanted.mode === "point" && !(Number(wanted.radiusKm) > 0)) return texts.wanted.enterARadius;
  if (!wanted.source) return texts.wanted.chooseASource;
  if (source && !source.is_ready) return texts.wanted.thisSourceIsNotSetUp;
  if (source?.needs_budget && !wanted.budget) return texts.wanted.thisSourceCostsMoney;
  if (kinds.length * places.length > MOST) return texts.wanted.youCanStartUpToSearches(MOST);
  return null;
}

function searchOfFile(wanted: Wanted): { searches: SearchIn[]; missing: string | null } {
  if (!wanted.file.trim()) return { searches: [], missing: texts.wanted.enterAFileName };
  const kind = lines(wanted.what)[0];
  const search = {
    source: wanted.source,
    file: wanted.file.trim(),
    ...(kind ? { business_type: kind } : {}),
  };
  return { searches: [search], missing: null };
}

function circle(wanted: Wanted): { circle: [number, number, number] } {
  const { latitude, longitude } = wanted.point ?? { latitude: 0, longitude: 0 };
  return { circle: [latitude, longitude, Number(wanted.radiusKm) * 1000] };
}

/** What the form must say so that it means these searches (or a few more of their mixture). */
export function remaining(searches: readonly SearchIn[]): Pick<Wanted, "what" | "where"> {
  const joined = (values: (string | null | undefined)[]) =>
    [...new Set(values.filter(Boolean))].join("\n");
  return {
    what: joined(searches.map((search) => search.business_type)),
    where: joined(searches.map((search) => search.location)),
  };
}

export interface Sum {
  low: number;
  high: number | null;
  priceLow: number;
  priceHigh: number | null;
  free: number;
  currency: string;
  isExact: boolean;
  notes: string[];
}

/** What all of the searches take together; unknown is unknown for the sum, too. */
export function summed(estimates: readonly Estimate[]): Sum | null {
  const first = estimates[0];
  if (!first) return null;
  const add = (values: (string | number | null)[]) =>
    values.some((value) => value === null)
      ? null
      : values.reduce<number>((sum, value) => sum + Number(value), 0);
  return {
    low: add(estimates.map((one) => one.requests_low)) ?? 0,
    high: add(estimates.map((one) => one.requests_high)),
    priceLow: add(estimates.map((one) => one.price_low)) ?? 0,
    priceHigh: add(estimates.map((one) => one.price_high)),
    free: add(estimates.map((one) => one.free_requests ?? 0)) ?? 0,
    currency: first.currency,
    isExact: estimates.every((one) => one.is_exact),
    notes: [...new Set(estimates.flatMap((one) => one.notes))],
  };
}
