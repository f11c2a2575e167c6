/** Records that could not be processed. */
import { plural } from "@/kit/format";

export const texts = {
  screen: {
    wontBeRetried: "won't be retried",
    outOfRetries: "out of retries",
    itCrashedItsWorkers: "it crashed its workers",
    queuedForRetry: "queued for retry",
    dismissed: "dismissed",
    recordsDone: (changed: number, done: string) => `${plural(changed, "record")} ${done}.`,
    recordsThatCouldNotBeProcessed:
      "Records that could not be processed. Fix the cause, then retry them, or dismiss them.",
    records: (total: number) => plural(total, "record"),
    nothingHasFailed: "Nothing has failed",
    recordThatCannotBeProcessed:
      "A record that cannot be processed appears here, with the reason and every attempt.",
    causes: (title: string, reasons: string) => `${title}: ${reasons}, last`,
    hide: "Hide",
    show: "Show",
    retry: "Retry",
    dismiss: "Dismiss",
    retryRecords: (count: number) => `Retry ${plural(count, "record")}?`,
    dismissFailures: (count: number) => `Dismiss ${plural(count, "failure")}?`,
    eachOneStartsOverWithAll: "Each one starts over with all its attempts.",
    recordsStayMarkedAsFailed: "The records stay marked as failed; they only leave this list.",
    attempts: (tries: number) => plural(tries, "attempt"),
    history: "History",
    attempt: (tries: number, outcome: string) => `Try ${tries}: ${outcome}`,
    by: (worker: string) => `by ${worker}`,
  },
};
