/** Searches: what the server says of them, and how a screen asks. */
import { useQuery } from "@tanstack/react-query";
import { call, read } from "@/api/client";
import type { Schemas } from "@/api/types";
import type { Area } from "./area";

export type Source = Schemas["SourceOut"];
export type SearchIn = Schemas["SearchIn"];
export type Estimate = Schemas["EstimateOut"];
export type Changes = Schemas["Changes"];

export interface Leaf {
  box: [number, number, number, number];
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
export type Search = Omit<Schemas["SearchOut"], "area" | "progress" | "coverage"> & {
  area: Area | null;
  progress: { phase?: string; requests?: number; found?: number; requests_left?: number | null };
  coverage: Coverage | null;
};

export type SearchDetail = Omit<Schemas["SearchDetail"], "record"> & { record: Search };

export const LIVE = new Set(["Queued", "InProgress"]);

const TITLES: Record<string, string> = {
  osm: "OpenStreetMap",
  google: "Google Places",
  file: "A file",
  demo: "The demo town",
};

export const titleOf = (source: string): string => TITLES[source] ?? source;

export function useSources() {
  return useQuery({
    queryKey: ["sources"],
    queryFn: () => read("/sources"),
    staleTime: 60_000,
  });
}

interface SearchList {
  items: Search[];
  next_cursor: string | null;
  total: { count: number; is_exact: boolean };
}

export function useSearches() {
  return useQuery({
    queryKey: ["searches"],
    queryFn: () =>
      call<SearchList>("GET", "/searches", { query: { sort: "-created_at", limit: 50 } }),
    refetchInterval: ({ state }) =>
      state.data?.items.some((one) => LIVE.has(one.status)) ? 1500 : 15_000,
  });
}

export const start = (body: SearchIn) => call<SearchDetail>("POST", "/searches", { body });

export const estimate = (body: SearchIn, signal?: AbortSignal) =>
  call<Estimate>("POST", "/searches/estimate", { body, signal, patience: 0 });
