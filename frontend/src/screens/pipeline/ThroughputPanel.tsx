import { lazy, Suspense, useMemo, useState } from "react";
import { type Throughput, useThroughput } from "@/api/pipeline";
import { retried } from "@/app/retried";
import { Failure, Panel, Select, Skeleton, whole } from "@/kit";
import { texts } from "@/texts/pipeline";
import { plotted } from "./throughput";

const Chart = lazy(retried(() => import("@/kit/chart/Chart")));
const SPANS = [
  { value: "30", label: texts.throughputPanel.halfAnHour },
  { value: "60", label: texts.throughputPanel.oneHour },
  { value: "360", label: texts.throughputPanel.sixHours },
];

/** What the stages settled, minute by minute. */
export function ThroughputPanel() {
  const [span, setSpan] = useState("60");
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const { data, error, refetch } = useThroughput(Number(span));
  const { times, series } = useMemo(() => plotted(data ?? [], hidden), [data, hidden]);
  function toggle(stage: string) {
    const next = new Set(hidden);
    if (!next.delete(stage)) next.add(stage);
    setHidden(next);
  }
  return (
    <Panel
      title={texts.throughputPanel.throughput}
      about={texts.throughputPanel.itemsFinishedPerMinute}
      actions={
        <Select
          bare
          label={texts.throughputPanel.timeRange}
          options={SPANS}
          value={span}
          onChange={(event) => setSpan(event.target.value)}
        />
      }
    >
      {error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data ? (
        <>
          <Suspense fallback={<Skeleton height={220} />}>
            <Chart label={summary(data, span)} times={times} series={series} filled />
          </Suspense>
          <ul className="legend">
            {data.map((stage, place) => (
              <li key={stage.stage}>
                <button
                  type="button"
                  aria-pressed={!hidden.has(stage.stage)}
                  onClick={() => toggle(stage.stage)}
                >
                  <span className={`swatch c${place + 1}`} />
                  {stage.title}
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <Skeleton height={220} />
      )}
    </Panel>
  );
}

function summary(data: readonly Throughput[], span: string): string {
  const parts = data.map((stage) => {
    const done = stage.minutes.reduce((sum, minute) => sum + minute.done + minute.failed, 0);
    return `${stage.title} ${whole(done)}`;
  });
  return texts.throughputPanel.itemsFinishedInTheLastMinutes(span, parts.join(", "));
}
