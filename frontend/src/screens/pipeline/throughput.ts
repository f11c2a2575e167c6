/** What the throughput chart draws. */
import type { Throughput } from "@/api/pipeline";

const FEWEST = 15;

/** The first minute worth showing: a long nothing at the beginning is left out. */
export function beginning(data: readonly Throughput[]): number {
  const length = data[0]?.minutes.length ?? 0;
  const busy = data.map((stage) => stage.minutes.findIndex((one) => one.done + one.failed > 0));
  const first = Math.min(length, ...busy.filter((place) => place >= 0));
  return Math.max(0, Math.min(first - 2, length - FEWEST));
}

export function plotted(all: readonly Throughput[], hidden: ReadonlySet<string>) {
  const start = beginning(all);
  const data = all.map((stage) => ({ ...stage, minutes: stage.minutes.slice(start) }));
  const times = (data[0]?.minutes ?? []).map((minute) => Date.parse(minute.at) / 1000);
  const series = data.map((stage, place) => ({
    name: stage.title,
    color: `--c${(place % 8) + 1}`,
    values: stage.minutes.map((minute) => minute.done + minute.failed),
    shown: !hidden.has(stage.stage),
  }));
  return { times, series };
}
