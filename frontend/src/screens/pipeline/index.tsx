import { toDecide, useKindCounts, useStages } from "@/api/pipeline";
import { Link } from "@/app/router";
import { useMay } from "@/app/session";
import { Failure, ScreenHead } from "@/kit";
import { DemoNote } from "./Demo";
import { FirstVisit } from "./FirstVisit";
import { Graph } from "./Graph";
import { Jobs } from "./Jobs";
import { isEmpty, standing } from "./standing";
import { ThroughputPanel } from "./ThroughputPanel";
import { Troubles } from "./Troubles";
import "./pipeline.css";
import { texts } from "@/texts/pipeline";

export default function Pipeline() {
  const { data, error, refetch } = useStages();
  const counts = useKindCounts();
  const stages = data ?? [];
  const maySearch = useMay("curate");
  return (
    <div className="screen">
      <ScreenHead
        title={texts.screen.pipeline}
        about={data ? standing(stages, toDecide(counts)) : texts.screen.loading}
        actions={
          maySearch && (
            <Link to="/search" className="button primary">
              {texts.screen.newSearch}
            </Link>
          )
        }
      />
      {error && !data && <Failure error={error} retry={() => void refetch()} />}
      {data && <DemoNote />}
      {data && isEmpty(stages) && <FirstVisit />}
      <Graph stages={stages} counts={counts} />
      <div className="pipeline-panels">
        <div className="stack wide">
          <ThroughputPanel />
          <Jobs />
        </div>
        <div className="stack wide">
          <Troubles />
        </div>
      </div>
    </div>
  );
}
