/** Deciding about everything that matches: first how many that is, then the decision. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLive } from "@/api/events";
import type { Kind } from "@/api/kinds";
import { Confirm, Failure, Loading, Meter, plural, statusWord, toastError, whole } from "@/kit";
import { texts } from "@/texts/dialogs";
import { countFor, type Wide } from "./decide";
import { describe } from "./filters";

interface WideDialogProps {
  kind: Kind;
  wide: Wide;
  decide: (wide: Wide) => Promise<void>;
  onClose: () => void;
}

interface Progress {
  kind: string;
  changed: number;
}

export default function WideDialog({ kind, wide, decide, onClose }: WideDialogProps) {
  const [isRunning, setRunning] = useState(false);
  const [reached, setReached] = useState(0);
  const count = useQuery({
    queryKey: ["wide", kind.name, wide],
    queryFn: () => countFor(kind, wide),
    staleTime: 0,
    gcTime: 0,
  });
  useLive<Progress>("action", (progress) => {
    if (isRunning && progress.kind === kind.name) setReached(progress.changed);
  });

  async function run() {
    setRunning(true);
    try {
      await decide(wide);
      onClose();
    } catch (error) {
      toastError(error);
      setRunning(false);
    }
  }

  const matched = count.data?.matched ?? 0;
  const word = statusWord(wide.status, kind.status);
  return (
    <Confirm
      title={
        count.data
          ? texts.wide.setTo(plural(matched, kind.one, kind.many), word)
          : texts.wide.counting
      }
      action={isRunning ? texts.wide.working : texts.wide.set(whole(matched), word)}
      busy={isRunning || !count.data}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      {count.error ? (
        <Failure error={count.error} retry={() => void count.refetch()} />
      ) : !count.data ? (
        <Loading what={texts.wide.countingWhatMatches} />
      ) : (
        <div className="stack">
          <p>
            {wide.filters.length || wide.words
              ? texts.wide.allMatching
              : texts.wide.allNoFilter(kind.many)}
            <strong className="foreign">
              {[
                ...wide.filters.map((filter) => describe(filter, kind)),
                wide.words && `"${wide.words}"`,
              ]
                .filter(Boolean)
                .join("; ")}
            </strong>
          </p>
          <p className="soft">
            {wide.status === kind.decisions[0]?.status && texts.wide.theyAreQueuedForTheNext}
            {texts.wide.youCanUndoThisInOne}
          </p>
          {isRunning && (
            <Meter
              label={texts.wide.decidedSoFar}
              total={matched}
              parts={[{ value: reached, tone: "good" }]}
            />
          )}
        </div>
      )}
    </Confirm>
  );
}
