/** What the pipeline's state looks like, and how a screen asks for it. */
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { ofKind, read } from "./client";
import { useLive } from "./events";
import { kinds } from "./kinds";
import type { Stage } from "./types";

export type { Job, Stage, Throughput, Trouble } from "./types";

export const STAGES = ["stages"] as const;

/** The stages, kept current by the stream; asked for once, and again after a gap. */
export function useStages() {
  const queries = useQueryClient();
  useLive<Stage[]>("stages", async (stages) => {
    // An answer that is still on its way is older than this, and would replace it for good.
    await queries.cancelQueries({ queryKey: STAGES });
    queries.setQueryData(STAGES, stages);
  });
  return useQuery({
    queryKey: STAGES,
    queryFn: () => read("/stages"),
    staleTime: 30_000,
  });
}

export function useThroughput(minutes: number) {
  return useQuery({
    queryKey: ["throughput", minutes],
    queryFn: () => read("/stages/throughput", { query: { minutes } }),
    refetchInterval: 15_000,
  });
}

export function useTroubles() {
  return useQuery({
    queryKey: ["troubles"],
    queryFn: () => read("/stages/errors", { query: { limit: 12 } }),
    refetchInterval: 15_000,
  });
}

export function useJobs() {
  return useQuery({
    queryKey: ["jobs"],
    queryFn: () => read("/scheduler/jobs"),
    refetchInterval: 10_000,
  });
}

export interface KindCount {
  total: number;
  byStatus: Record<string, number>;
}

/** How many records of each kind there are, by what people decided about them. */
export function useKindCounts(): Partial<Record<string, KindCount>> {
  return useQueries({
    queries: kinds().map(({ name, path, status }) => ({
      queryKey: ["counts", name],
      queryFn: async () => {
        const { facets } = await read(ofKind({ path }, "/facets"), {
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
        results.flatMap((result, place) =>
          result.data ? [[kinds()[place]?.name, result.data]] : [],
        ),
      ),
  });
}

/** How many records go on only when somebody has decided. */
export function toDecide(counts: ReturnType<typeof useKindCounts>): number {
  return kinds()
    .filter(({ stageStatus }) => stageStatus !== "")
    .reduce((sum, { name, undecided }) => sum + (counts[name]?.byStatus[undecided] ?? 0), 0);
}
