/** What the pipeline's state looks like, and how a screen asks for it. */
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "./client";
import { useLive } from "./events";
import { KIND_NAMES, KINDS, type KindName } from "./kinds";

export interface Stage {
  stage: string;
  title: string;
  kind: string;
  queued: number;
  working: number;
  waiting_retry: number;
  held: number;
  done: number;
  failed: number;
  oldest_seconds?: number | null;
  rate_per_minute: number;
  eta_seconds?: number | null;
  errors_last_hour: number;
  paused?: string | null;
  next: string[];
}

export interface Throughput {
  stage: string;
  title: string;
  minutes: { at: string; done: number; failed: number }[];
}

export interface Trouble {
  stage: string;
  title: string;
  cause: string;
  count: number;
  items: number;
  final: number;
  example?: string | null;
  first_at: string;
  last_at: string;
}

export interface Job {
  id: string;
  name: string;
  trigger: string;
  next_run_at?: string | null;
  running: number;
  last_outcome?: string | null;
  last_run_at?: string | null;
  last_items?: number | null;
  last_seconds?: number | null;
  last_error?: string | null;
  problem?: string | null;
}

export const STAGES = ["stages"] as const;

/** The stages, kept current by the stream; asked for once, and again after a gap. */
export function useStages() {
  const queries = useQueryClient();
  useLive<Stage[]>("stages", (stages) => queries.setQueryData(STAGES, stages));
  return useQuery({
    queryKey: STAGES,
    queryFn: () => call<Stage[]>("GET", "/stages"),
    staleTime: 30_000,
  });
}

export function useThroughput(minutes: number) {
  return useQuery({
    queryKey: ["throughput", minutes],
    queryFn: () => call<Throughput[]>("GET", "/stages/throughput", { query: { minutes } }),
    refetchInterval: 15_000,
  });
}

export function useTroubles() {
  return useQuery({
    queryKey: ["troubles"],
    queryFn: () => call<Trouble[]>("GET", "/stages/errors", { query: { limit: 12 } }),
    refetchInterval: 15_000,
  });
}

export function useJobs() {
  return useQuery({
    queryKey: ["jobs"],
    queryFn: () => call<Job[]>("GET", "/scheduler/jobs"),
    refetchInterval: 10_000,
  });
}

export interface KindCount {
  total: number;
  byStatus: Record<string, number>;
}

interface Facets {
  facets: Record<string, { value: string | null; count: number }[]>;
}

/** How many records of each kind there are, by what people decided about them. */
export function useKindCounts(): Partial<Record<KindName, KindCount>> {
  return useQueries({
    queries: KIND_NAMES.map((name) => ({
      queryKey: ["counts", name],
      queryFn: async () => {
        const { path, status } = KINDS[name];
        const { facets } = await call<Facets>("GET", `${path}/facets`, {
          query: { field: status },
        });
        const values = facets[status] ?? [];
        return {
          total: values.reduce((sum, value) => sum + value.count, 0),
          byStatus: Object.fromEntries(values.map(({ value, count }) => [value ?? "", count])),
        };
      },
      refetchInterval: 10_000,
    })),
    combine: (results) =>
      Object.fromEntries(
        results.flatMap((result, place) => (result.data ? [[KIND_NAMES[place], result.data]] : [])),
      ),
  });
}
