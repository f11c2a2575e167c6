import type { KindCount, Stage } from "@/api/pipeline";
import { Skeleton } from "@/kit";
import { texts } from "@/texts/pipeline";
import { Edges } from "./Edges";
import { lanesOf, nameOf, steps } from "./plan";
import { StageCard } from "./StageCard";
import { StoreNode } from "./StoreNode";

interface GraphProps {
  stages: readonly Stage[];
  counts: Partial<Record<string, KindCount>>;
}

/** The whole pipeline at a glance: what waits where, what moves, what is stuck. */
export function Graph({ stages, counts }: GraphProps) {
  const lanes = lanesOf(stages);
  const moving = new Set(stages.filter((stage) => stage.working > 0).map((stage) => stage.stage));
  return (
    <section className="graph" aria-label={texts.graph.thePipeline}>
      <Edges steps={steps(lanes)} moving={moving} />
      {lanes.length === 0 && <Skeleton lines={9} />}
      {lanes.map((lane) => (
        <div key={lane.name} className="lane">
          <h2>{lane.name}</h2>
          <ol className="lane-nodes">
            {lane.nodes.map((node) => (
              <li
                key={nameOf(node)}
                data-node={nameOf(node)}
                className={"stage" in node ? "is-stage" : "is-store"}
              >
                {"stage" in node ? (
                  <StageCard stage={node.stage} />
                ) : (
                  <StoreNode kind={node.kind} count={counts[node.kind.name]} />
                )}
              </li>
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}
