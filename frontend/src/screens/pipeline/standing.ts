/** The state of the pipeline in words. */
import type { Job, Stage } from "@/api/pipeline";
import { short } from "@/kit";
import { texts } from "@/texts/pipeline";
import { originNote, paceNote, uselessNotes } from "./limits";

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
  const waiting = sum((stage) => stage.queued);
  const toRetry = sum((stage) => stage.waiting_retry);
  const parts = [];
  if (toDecide) parts.push(texts.standing.toDecide(toDecide));
  if (working) parts.push(texts.standing.running(working));
  if (waiting) parts.push(texts.standing.waiting(waiting));
  if (toRetry) parts.push(texts.standing.retrying(toRetry));
  if (!working && !waiting && !toRetry)
    parts.push(isEmpty(stages) ? texts.standing.noDataYet : texts.standing.nothingIsRunning);
  if (paused) parts.push(texts.standing.paused(paused));
  const said = parts.join(", ");
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}.`;
}

/** What became of the items of a job's last run. */
export function outcomeInWords(job: Job): string {
  const counts = [
    [job.last_succeeded, texts.standing.done],
    [job.last_failed, texts.standing.failed],
    [job.last_retried, texts.standing.toRetry],
  ] as const;
  return counts.flatMap(([count, word]) => (count ? [`${short(count)} ${word}`] : [])).join(", ");
}

export interface Note {
  text: string;
  isWarning: boolean;
}

/** When and where a job runs, or why it does not. */
export function whereItRuns(job: Job): Note {
  const { jobs } = texts;
  if (job.problem) return { text: job.problem, isWarning: true };
  if (!job.enabled) return { text: jobs.disabled, isWarning: false };
  if (job.processes.length === 0) return { text: jobs.noProcessRunsIt, isWarning: true };
  const when = job.next_run_at ? job.trigger : jobs.whenAsked;
  return { text: jobs.inProcesses(when, job.processes.length), isWarning: false };
}

/** What a stage does, or why it does nothing; and its pace, unless it works at once. */
export function notes(stage: Stage): Note[] {
  const found = [
    stage.paused
      ? { text: texts.standing.pausedBecause(stage.paused), isWarning: true }
      : stage.held_back
        ? { text: texts.standing.onHold(stage.held_back), isWarning: true }
        : { text: stage.does, isWarning: false },
  ];
  for (const text of [paceNote(stage), originNote(stage)])
    if (text) found.push({ text, isWarning: false });
  for (const text of uselessNotes(stage)) found.push({ text, isWarning: true });
  return found;
}
