/** Searches: what the server says of them, and how a screen asks. */
import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import type { Area } from "./area";

export interface Source {
  name: string;
  title: string;
  ready: boolean;
  why?: string | null;
  hint?: string | null;
  attribution?: string | null;
  licence?: string | null;
  price?: string | null;
}

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

export interface Search {
  id: string;
  business_type: string;
  location: string | null;
  radius_m: number | null;
  area: Area | null;
  source: string;
  budget: string | number | null;
  spent: string | number;
  status: string;
  progress: { phase?: string; requests?: number; found?: number; requests_left?: number | null };
  coverage?: Coverage | null;
  found_count: number;
  new_count: number;
  error: string | null;
  created_at: string;
  updated_at: string;
  finished_at: string | null;
}

export interface SearchIn {
  business_type: string;
  location?: string;
  area?: Area;
  radius_m?: number;
  source: string;
  budget?: number;
  limit?: number;
}

export interface Estimate {
  requests_low: number;
  requests_likely: number | null;
  requests_high: number | null;
  price_low: string | number;
  price_likely: string | number | null;
  price_high: string | number | null;
  free_requests: number | null;
  currency: string;
  is_exact: boolean;
  assumes: string[];
}

export const LIVE = new Set(["Queued", "InProgress"]);

export function useSources() {
  return useQuery({
    queryKey: ["sources"],
    queryFn: () => call<Source[]>("GET", "/sources"),
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

export const start = (body: SearchIn) => call<{ id: string }>("POST", "/searches", { body });

export const estimate = (body: SearchIn, signal?: AbortSignal) =>
  call<Estimate>("POST", "/searches/estimate", { body, signal, patience: 0 });
