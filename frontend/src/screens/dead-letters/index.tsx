/** Dead letters: what failed for good, grouped by its cause, with the story of each. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import { recordScreen } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { useMay } from "@/app/session";
import {
  Button,
  Confirm,
  causeOf,
  Dialog,
  Empty,
  Failure,
  Panel,
  ScreenHead,
  Skeleton,
  Time,
  toast,
  toastError,
  whole,
  wordOf,
} from "@/kit";
import "./dead-letters.css";
import { common } from "@/texts/common";
import { texts } from "@/texts/failed";

type Group = Schemas["DeadGroupOut"];
type Command = "replay" | "discard";

const REASONS: Record<string, string> = {
  gave_up: texts.screen.wontBeRetried,
  exhausted: texts.screen.outOfRetries,
  quarantined: texts.screen.itCrashedItsWorkers,
};

const keyOf = ({ stage, kind, cause }: Group) => `${stage} ${kind} ${cause}`;

export default function DeadLetters() {
  const queries = useQueryClient();
  const mayCurate = useMay("curate");
  const [open, setOpen] = useState<string | null>(null);
  const [story, setStory] = useState<string | null>(null);
  const [asked, setAsked] = useState<{ command: Command; group: Group } | null>(null);
  const [busy, setBusy] = useState(false);
  const groups = useQuery({
    queryKey: ["dead-letters", "groups"],
    queryFn: () => read("/dead-letters/groups", { query: { limit: 200 } }),
    refetchInterval: 15_000,
  });

  async function carryOut(command: Command, body: Schemas["DeadChosen"]) {
    setBusy(true);
    try {
      const { changed } = await write("POST", `/dead-letters/${command}`, { body });
      const done = command === "replay" ? texts.screen.queuedForRetry : texts.screen.dismissed;
      toast({ kind: "good", text: texts.screen.recordsDone(changed, done) });
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
    setAsked(null);
    setStory(null);
    // A letter that is gone has no story to ask for again.
    await queries.invalidateQueries({
      queryKey: ["dead-letters"],
      predicate: ({ queryKey }) => queryKey[1] !== "story",
    });
  }

  const total = groups.data?.reduce((sum, { count }) => sum + count, 0) ?? 0;
  return (
    <div className="screen">
      <ScreenHead
        title={common.failed}
        about={texts.screen.recordsThatCouldNotBeProcessed}
        actions={groups.data && <span className="soft number">{texts.screen.records(total)}</span>}
      />
      {groups.error ? (
        <Failure error={groups.error} retry={() => void groups.refetch()} />
      ) : !groups.data ? (
        <Skeleton lines={6} />
      ) : groups.data.length === 0 ? (
        <Empty icon="check" title={texts.screen.nothingHasFailed}>
          <p>{texts.screen.recordThatCannotBeProcessed}</p>
        </Empty>
      ) : (
        <ul className="stack">
          {groups.data.map((group) => {
            const key = keyOf(group);
            const body = { stage: group.stage, kind: group.kind, cause: group.cause };
            return (
              <li key={key}>
                <Panel>
                  <div className="row wrap letter-group">
                    <strong className="number letter-count">{whole(group.count)}</strong>
                    <div className="grow">
                      <h2 className="foreign">{causeOf(group.cause)}</h2>
                      <p className="small soft">
                        {texts.screen.causes(group.title, REASONS[group.kind] ?? group.kind)}{" "}
                        <Time at={group.last_at} />
                      </p>
                    </div>
                    <Button
                      small
                      aria-expanded={open === key}
                      onClick={() => setOpen(open === key ? null : key)}
                    >
                      {open === key ? texts.screen.hide : texts.screen.show}
                    </Button>
                    {mayCurate && (
                      <>
                        <Button
                          small
                          icon="refresh"
                          onClick={() => setAsked({ command: "replay", group })}
                        >
                          {texts.screen.retry}
                        </Button>
                        <Button
                          small
                          icon="trash"
                          onClick={() => setAsked({ command: "discard", group })}
                        >
                          {texts.screen.dismiss}
                        </Button>
                      </>
                    )}
                  </div>
                  {open === key && <Letters query={body} onOpen={setStory} />}
                </Panel>
              </li>
            );
          })}
        </ul>
      )}
      {asked && (
        <Confirm
          title={
            asked.command === "replay"
              ? texts.screen.retryRecords(asked.group.count)
              : texts.screen.dismissFailures(asked.group.count)
          }
          action={asked.command === "replay" ? texts.screen.retry : texts.screen.dismiss}
          danger={asked.command === "discard"}
          busy={busy}
          onClose={() => setAsked(null)}
          onConfirm={() =>
            void carryOut(asked.command, {
              stage: asked.group.stage,
              kind: asked.group.kind,
              cause: asked.group.cause,
            })
          }
        >
          <p className="foreign">
            {asked.group.title}: {causeOf(asked.group.cause)}
          </p>
          <p className="soft">
            {asked.command === "replay"
              ? texts.screen.eachOneStartsOverWithAll
              : texts.screen.recordsStayMarkedAsFailed}
          </p>
        </Confirm>
      )}
      {story && (
        <LetterStory
          id={story}
          busy={busy}
          onClose={() => setStory(null)}
          {...(mayCurate
            ? { onCommand: (command: Command) => void carryOut(command, { ids: [story] }) }
            : {})}
        />
      )}
    </div>
  );
}

/** Where the record of a letter is looked at. */

function Letters({
  query,
  onOpen,
}: {
  query: Record<string, string>;
  onOpen: (id: string) => void;
}) {
  const letters = useQuery({
    queryKey: ["dead-letters", "list", query],
    queryFn: () => read("/dead-letters", { query: { ...query, limit: 100 } }),
  });
  if (letters.error) return <Failure error={letters.error} retry={() => void letters.refetch()} />;
  if (!letters.data) return <Skeleton lines={3} />;
  return (
    <ul className="letters">
      {letters.data.items.map((letter) => (
        <li key={letter.id} className="row">
          <button type="button" className="grow cut letter" onClick={() => onOpen(letter.id)}>
            <span className="foreign">{letter.label ?? letter.record_id}</span>
          </button>
          <span className="small faint">{texts.screen.attempts(letter.tries)}</span>
          <span className="small faint">
            <Time at={letter.died_at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function LetterStory({
  id,
  busy,
  onCommand,
  onClose,
}: {
  id: string;
  busy: boolean;
  onCommand?: (command: Command) => void;
  onClose: () => void;
}) {
  const story = useQuery({
    queryKey: ["dead-letters", "story", id],
    queryFn: () => read("/dead-letters/{letter_id}", { path: { letter_id: id } }),
  });
  const letter = story.data;
  return (
    <Dialog
      title={letter?.title ?? texts.screen.history}
      wide
      onClose={onClose}
      actions={
        onCommand && (
          <>
            <Button icon="trash" busy={busy} onClick={() => onCommand("discard")}>
              {texts.screen.dismiss}
            </Button>
            <Button look="primary" icon="refresh" busy={busy} onClick={() => onCommand("replay")}>
              {texts.screen.retry}
            </Button>
          </>
        )
      }
    >
      {story.error ? (
        <Failure error={story.error} retry={() => void story.refetch()} />
      ) : !letter ? (
        <Skeleton lines={5} />
      ) : (
        <div className="stack">
          <p>
            <Link to={recordScreen(letter.record_kind, letter.record_id)}>
              <span className="foreign">{letter.label ?? letter.record_id}</span>
            </Link>
          </p>
          {letter.why && <p className="foreign">{causeOf(letter.why)}</p>}
          <ol className="attempts">
            {letter.attempts.map((attempt, place) => (
              <li key={place}>
                <div className="row apart">
                  <strong>{texts.screen.attempt(attempt.tries, wordOf(attempt.outcome))}</strong>
                  <span className="small faint">
                    <Time at={attempt.settled_at} />
                  </span>
                </div>
                {attempt.why && <div className="small foreign">{causeOf(attempt.why)}</div>}
                {attempt.worker && (
                  <div className="small faint foreign">{texts.screen.by(attempt.worker)}</div>
                )}
              </li>
            ))}
          </ol>
        </div>
      )}
    </Dialog>
  );
}
