/** Searches: what the server says of them, and how a screen asks. */
import { useQuery } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import { filtered, type Kind, kindNamed } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { valueWord } from "@/kit";
import { texts } from "@/texts/search";
import { type Area, type Box, distance } from "./area";

export type Source = Schemas["SourceOut"];
export type SearchIn = Schemas["SearchIn"];
export type Estimate = Schemas["EstimateOut"];
export type Changes = Schemas["SearchChanges"];

export interface Leaf {
  box: Box;
  count: number;
  saturated: boolean;
}

export interface Coverage {
  complete: boolean;
  why: string;
  lacks_service_areas?: boolean;
  leaves: Leaf[];
}

/** A search; what the server keeps as free-form JSON has its shape here. */
export type Search = Omit<Schemas["SearchOut"], "area" | "progress" | "coverage" | "problems"> & {
  area: Area | null;
  progress: {
    phase?: string;
    requests?: number;
    found?: number;
    requests_left?: number | null;
    /** What the words for the place were taken to mean. */
    located?: { name: string; area: Area; alternatives?: string[] };
  };
  coverage: Coverage | null;
  /** What was left out of a file, by line. */
  problems: Schemas["LineProblem"][];
};

export type SearchDetail = Omit<Schemas["SearchDetail"], "record"> & { record: Search };

export const shaped = (detail: Schemas["SearchDetail"]): SearchDetail => ({
  ...detail,
  record: detail.record as Search,
});

export const LIVE = new Set(["Queued", "InProgress"]);

/** The source of what people bring: nothing is asked of anybody, and nothing costs. */
export const FILE = "file";

/** Where a search is shown; that of a file stands with the imports. */
export const searchScreen = (id: string, source: string): string =>
  source === FILE ? `/batches/file/${id}` : `/search/${id}`;

type Asked = Pick<Search, "business_type" | "source">;

/** What was looked for; a file holds what somebody put into it. */
export function kindOf({ business_type: kind, source }: Asked): string {
  return kind || (source === FILE ? texts.searchList.import : texts.searchList.allBusinesses);
}

export function placeOf(search: Search): string {
  if (search.location) {
    return search.radius_m
      ? texts.searchList.around(distance(search.radius_m), search.location)
      : search.location;
  }
  const { area } = search;
  if (area && "circle" in area) {
    const [latitude, longitude, metres] = area.circle;
    return texts.searchList.aroundPoint(
      distance(metres),
      latitude.toFixed(3),
      longitude.toFixed(3),
    );
  }
  return area ? texts.searchList.areaOnTheMap : texts.searchList.everywhere;
}

export const titleOf = (source: string): string => valueWord(source, "source");

export function useSources() {
  return useQuery({
    queryKey: ["sources"],
    queryFn: () => read("/sources"),
    staleTime: 60_000,
  });
}

export function useSearches() {
  return useQuery({
    queryKey: ["searches"],
    queryFn: async () => {
      const page = await read("/searches", { query: { sort: "-created_at", limit: 50 } });
      return { ...page, items: page.items as Search[] };
    },
    refetchInterval: ({ state }) =>
      state.data?.items.some((one) => LIVE.has(one.status)) ? 1500 : 15_000,
  });
}

export interface FoundPlace {
  id: string;
  name: string;
  latitude: number;
  longitude: number;
  status: string;
  address: string | null;
  rating: number | null;
  reviews_count: number | null;
}

const PER_PAGE = 200;
const MOST_SHOWN = 1000;

interface PlacesAnswer {
  items: (Omit<FoundPlace, "latitude" | "longitude" | "name"> & {
    name: string | null;
    latitude: number | null;
    longitude: number | null;
  })[];
  next_cursor: string | null;
}

/** The places of a search that can be put on a map, the best known first. */
export function useFoundPlaces(search: Search) {
  return useQuery({
    queryKey: ["searches", search.id, "places", search.found_count],
    queryFn: async ({ signal }) => {
      const found: FoundPlace[] = [];
      let cursor: string | null = null;
      do {
        const query = {
          filter: [`search_id:equal:${search.id}`, "latitude:known"],
          sort: "-reviews_count",
          limit: PER_PAGE,
          cursor,
        };
        const page: PlacesAnswer = await read("/places/staging", { query, signal });
        for (const { latitude, longitude, name, ...rest } of page.items) {
          if (latitude === null || longitude === null) continue;
          found.push({ ...rest, name: name ?? "", latitude, longitude });
        }
        cursor = page.next_cursor;
      } while (cursor && found.length < MOST_SHOWN);
      return { places: found, isAll: cursor === null };
    },
    placeholderData: (before) => before,
  });
}

/** What searches find. */
function placesKind(): Kind {
  const kind = kindNamed("places");
  if (!kind) throw new Error(texts.data.serverHasNoPlaces);
  return kind;
}

/** The list of what a search found. */
export const placesOf = (search: Search): string =>
  filtered(placesKind().screen, "search_id", search.id);

/** The lead list of what a search found. */
export const companiesOf = (search: Search): string =>
  filtered("/curate/companies", "search_id", search.id);

export const start = (body: SearchIn) => write("POST", "/searches", { body }).then(shaped);

export const estimate = (body: SearchIn, signal?: AbortSignal) =>
  write("POST", "/searches/estimate", { body, signal, timeout: 0 });
