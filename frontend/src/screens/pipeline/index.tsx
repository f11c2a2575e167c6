import { type Stage, useKindCounts, useStages } from "@/api/pipeline";
import { Link } from "@/app/router";
import { Failure, plural, ScreenHead } from "@/kit";
import { DemoNote, FirstVisit } from "./FirstVisit";
import { Funnel } from "./Funnel";
import { Graph } from "./Graph";
import { Jobs } from "./Jobs";
import { ThroughputPanel } from "./ThroughputPanel";
import { Troubles } from "./Troubles";
import "./pipeline.css";

export default function Pipeline() {
  const { data, error, refetch } = useStages();
  const counts = useKindCounts();
  const stages = data ?? [];
  return (
    <div className="screen">
      <ScreenHead
        title="Pipeline"
        about={data ? standing(stages) : "Asking how it stands…"}
        actions={
          <Link to="/search" className="button primary">
            New search
          </Link>
        }
      />
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {data && (isEmpty(stages) ? <FirstVisit /> : <DemoNote />)}
      <Graph stages={stages} counts={counts} />
      <div className="pipeline-panels">
        <div className="stack wide">
          <ThroughputPanel />
          <Jobs />
        </div>
        <div className="stack wide">
          <Funnel counts={counts} />
          <Troubles />
        </div>
      </div>
    </div>
  );
}

export function isEmpty(stages: readonly Stage[]): boolean {
  return stages.every(
    (one) => one.queued + one.working + one.waiting_retry + one.done + one.failed === 0,
  );
}

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
  if (!parts.length) parts.push("Nothing to do: all that was queued is done");
  if (paused) parts.push(`${plural(paused, "stage")} paused`);
  return `${parts.join(", ")}.`;
}
