/** What waits to be sent, for the parts of the page. */
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { Session } from "../types";
import type { Entry } from "./entry";
import { outbox } from "./outbox";
import { openStore } from "./store";

/** Send what this person's tabs have kept, as long as they are here. */
export function useSending({ tenant, email, via }: Session): void {
  const person = `${tenant.id} ${email ?? via}`;
  useEffect(() => outbox.open(person, openStore()), [person]);
}

export function useEntries(): readonly Entry[] {
  return useSyncExternalStore(outbox.watch, outbox.snapshot);
}

/** Hear which records of a kind have nothing waiting any more, or something else than before. */
export function useLeft(kind: string, run: (ids: readonly string[]) => void): void {
  const newest = useRef(run);
  useEffect(() => {
    newest.current = run;
  });
  useEffect(
    () =>
      outbox.onLeft((entry) => {
        if (entry.kind === kind) newest.current(entry.records.map(({ id }) => id));
      }),
    [kind],
  );
}
