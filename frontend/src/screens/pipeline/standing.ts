/** The state of the pipeline in words. */
import type { Stage } from "@/api/pipeline";
import { plural } from "@/kit";

export function isEmpty(stages: readonly Stage[]): boolean {
  return stages.every(
    (one) => one.queued + one.working + one.waiting_retry + one.done + one.failed === 0,
  );
}

const QUIET = "Nothing to do: all that was queued is done";

/** The state of everything in one sentence. */
export function standing(stages: readonly Stage[]): string {
  const sum = (of: (stage: Stage) => number) =>
    stages.reduce((total, stage) => total + of(stage), 0);
  const paused = stages.filter((stage) => stage.paused).length;
  const working = sum((stage) => stage.working);
  const waiting = sum((stage) => stage.queued + stage.waiting_retry);
  const parts = [];
  if (working) parts.push(`${plural(working, "item")} at work`);
  if (waiting) parts.push(`${plural(waiting, "item")} waiting`);
  if (!parts.length) parts.push(isEmpty(stages) ? "Nothing to do yet" : QUIET);
  if (paused) parts.push(`${plural(paused, "stage")} paused`);
  return `${parts.join(", ")}.`;
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
        ? { text: `Held back: ${stage.held_back}`, isWarning: true }
        : { text: stage.does, isWarning: false },
  ];
  if (stage.pace !== "at once") found.push({ text: `Works ${stage.pace}`, isWarning: false });
  return found;
}
