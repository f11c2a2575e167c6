/** What the pipeline's state looks like, and how a screen asks for it. */
import { type QueryClient, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { ofKind, read } from "./client";
import { useLive } from "./events";
import { type Kind, kinds } from "./kinds";
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

/** Show what the server has answered about one stage, before the stream says it. */
export function rememberStage(queries: QueryClient, answer: Stage): void {
  queries.setQueryData<Stage[]>(STAGES, (stages) =>
    stages?.map((one) => (one.stage === answer.stage ? answer : one)),
  );
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
  /** How many go on only when somebody has decided. */
  waiting: number;
  byStatus: Record<string, number>;
}

/** How many records of each kind there are, by what people decided about them. */
export function useKindCounts(): Partial<Record<string, KindCount>> {
  return useQueries({
    queries: kinds().map((kind) => ({
      queryKey: ["counts", kind.name],
      queryFn: () => countsOf(kind),
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

async function countsOf(kind: Kind): Promise<KindCount> {
  const byStatus = await counted(kind, kind.status);
  return {
    total: Object.values(byStatus).reduce((sum, count) => sum + count, 0),
    byStatus,
    waiting: byStatus[kind.undecided] ? await countWaiting(kind) : 0,
  };
}

/** A record that its stage has already goes on by itself: nobody waits for a decision. */
async function countWaiting(kind: Kind): Promise<number> {
  if (!kind.stageStatus) return 0;
  const undecided = `${kind.status}:equal:${kind.undecided}`;
  const byStage = await counted(kind, kind.stageStatus, undecided);
  return Object.entries(byStage)
    .filter(([status]) => !kind.busy.includes(status))
    .reduce((sum, [, count]) => sum + count, 0);
}

/** How many records have each value of a field. */
async function counted(
  { path }: Kind,
  field: string,
  ...filter: string[]
): Promise<Record<string, number>> {
  const { facets } = await read(ofKind({ path }, "/facets"), { query: { field, filter } });
  return Object.fromEntries(
    (facets[field] ?? []).map(({ value, count }) => [String(value ?? ""), count]),
  );
}

/** How many records go on only when somebody has decided. */
export function toDecide(counts: ReturnType<typeof useKindCounts>): number {
  return Object.values(counts).reduce((sum, count) => sum + (count?.waiting ?? 0), 0);
}
