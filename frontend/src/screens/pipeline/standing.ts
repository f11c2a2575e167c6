/** The state of the pipeline in words. */
import type { Job, Stage } from "@/api/pipeline";
import { plural, short } from "@/kit";
import { paceNote } from "./limits";

export function isEmpty(stages: readonly Stage[]): boolean {
  return stages.every(
    (one) => one.queued + one.working + one.waiting_retry + one.done + one.failed === 0,
  );
}

/** The state of everything in one sentence: what the machine does, and what waits for a person. */
export function standing(stages: readonly Stage[], toDecide = 0): string {
  const sum = (of: (stage: Stage) => number) =>
    stages.reduce((total, stage) => total + of(stage), 0);
  const paused = stages.filter((stage) => stage.paused).length;
  const working = sum((stage) => stage.working);
  const waiting = sum((stage) => stage.queued + stage.waiting_retry);
  const parts = [];
  if (toDecide) parts.push(`${plural(toDecide, "record")} to decide`);
  if (working) parts.push(`${plural(working, "item")} running`);
  if (waiting) parts.push(`${plural(waiting, "item")} waiting`);
  if (!working && !waiting) parts.push(isEmpty(stages) ? "no data yet" : "nothing is running");
  if (paused) parts.push(`${plural(paused, "stage")} paused`);
  const said = parts.join(", ");
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** What became of the items of a job's last run. */
export function outcomeInWords(job: Job): string {
  const counts = [
    [job.last_succeeded, "done"],
    [job.last_failed, "failed"],
    [job.last_retried, "to retry"],
  ] as const;
  return counts.flatMap(([count, word]) => (count ? [`${short(count)} ${word}`] : [])).join(", ");
}

export interface Note {
  text: string;
  isWarning: boolean;
}

/** What a stage does, or why it does nothing; and its pace, unless it works at once. */
export function notes(stage: Stage): Note[] {
  const found = [
    stage.paused
      ? { text: `Paused: ${stage.paused}`, isWarning: true }
      : stage.held_back
        ? { text: `On hold: ${stage.held_back}`, isWarning: true }
        : { text: stage.does, isWarning: false },
  ];
  const pace = paceNote(stage);
  if (pace) found.push({ text: pace, isWarning: false });
  return found;
}
