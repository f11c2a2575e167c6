import { useMutation, useQueryClient } from "@tanstack/react-query";
import { write } from "@/api/client";
import { filtered, kindNamed } from "@/api/kinds";
import { rememberStage, type Stage } from "@/api/pipeline";
import { Link } from "@/app/router";
import { useMay } from "@/app/session";
import { duration, IconButton, Meter, short, toast, toastError } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/pipeline";
import { PaceButton } from "./Pace";
import { notes } from "./standing";

export function StageCard({ stage }: { stage: Stage }) {
  const total = stage.queued + stage.working + stage.waiting_retry + stage.done + stage.failed;
  return (
    <article
      className={`stage-card ${stage.paused ? "paused" : ""} ${stage.working > 0 ? "busy" : ""}`}
    >
      <header>
        <Link to={goal(stage)} className="stage-name">
          {stage.title}
        </Link>
        <div className="stage-actions">
          <PaceButton stage={stage} />
          <PauseButton stage={stage} />
        </div>
      </header>
      {notes(stage).map(({ text, isWarning }) => (
        <p key={text} className={`stage-note ${isWarning ? "warn" : "faint"}`} title={text}>
          {text}
        </p>
      ))}
      <div className="stage-numbers">
        <span className="depth number">{short(stage.queued)}</span>
        <span className="soft">{texts.stageCard.waiting}</span>
        {stage.working > 0 && (
          <span className="badge accent number">
            {texts.stageCard.running(short(stage.working))}
          </span>
        )}
        {stage.waiting_retry > 0 && (
          <span className="badge warn number">
            {texts.stageCard.toRetry(short(stage.waiting_retry))}
          </span>
        )}
      </div>
      <Meter
        label={texts.stageCard.doneAndFailedOf(stage.title, stage.done, stage.failed, total)}
        total={total}
        parts={[
          { value: stage.done, tone: "good" },
          { value: stage.failed, tone: "bad" },
          { value: stage.working, tone: "accent" },
        ]}
      />
      <dl className="stage-facts small">
        <div>
          <dt>{texts.stageCard.rate}</dt>
          <dd className="number">{rate(stage.rate_per_minute)}</dd>
        </div>
        <div>
          <dt>
            {stage.queued > 0 && stage.eta_seconds
              ? texts.stageCard.doneIn
              : texts.stageCard.oldest}
          </dt>
          <dd className="number">{waiting(stage)}</dd>
        </div>
        <div>
          <dt>{texts.stageCard.errors}</dt>
          <dd className={`number ${stage.errors_last_hour ? "bad" : ""}`}>
            {short(stage.errors_last_hour)} / h
          </dd>
        </div>
      </dl>
    </article>
  );
}

const rate = (perMinute: number) =>
  texts.stageCard.perMinute(short(Math.round(perMinute * 10) / 10));

function waiting(stage: Stage): string {
  if (stage.queued > 0 && stage.eta_seconds) return duration(stage.eta_seconds);
  return stage.oldest_seconds ? duration(stage.oldest_seconds) : "–";
}

/** The list of records that wait for the stage, or of the searches. */
function goal(stage: Stage): string {
  const screen = kindNamed(stage.kind)?.screen;
  if (!screen) return "/search";
  return stage.queued > 0 ? filtered(screen, stage.field, stage.queued_status) : screen;
}

function PauseButton({ stage }: { stage: Stage }) {
  const queries = useQueryClient();
  const may = useMay("operate");
  const command = stage.paused ? "resume" : "pause";
  const change = useMutation({
    mutationFn: (wanted: "pause" | "resume") =>
      write("POST", "/stages/{stage}/{command}", {
        path: { stage: stage.stage, command: wanted },
        body: { reason: texts.stageCard.pausedByHand },
      }),
    onSuccess: (answer, wanted) => {
      rememberStage(queries, answer);
      const said = wanted === "pause" ? texts.stageCard.isPaused : texts.stageCard.isRunningAgain;
      toast({
        kind: "good",
        text: `${stage.title} ${said}.`,
        action: {
          name: common.undo,
          run: () => change.mutate(wanted === "pause" ? "resume" : "pause"),
        },
      });
    },
    onError: (error) => toastError(error),
  });
  if (!may) return null;
  return (
    <IconButton
      small
      icon={stage.paused ? "play" : "pause"}
      label={texts.stageCard.pauseOrResume(Boolean(stage.paused), stage.title.toLowerCase())}
      busy={change.isPending}
      onClick={() => change.mutate(command)}
    />
  );
}
