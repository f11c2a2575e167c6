import type { KindName } from "@/api/kinds";
import type { KindCount, Stage } from "@/api/pipeline";
import { Edges } from "./Edges";
import { LANES, nameOf } from "./plan";
import { StageCard } from "./StageCard";
import { StoreNode } from "./StoreNode";

interface GraphProps {
  stages: readonly Stage[];
  counts: Partial<Record<KindName, KindCount>>;
}

/** The whole pipeline at a glance: what waits where, what moves, what is stuck. */
export function Graph({ stages, counts }: GraphProps) {
  const byName = new Map(stages.map((stage) => [stage.stage, stage]));
  const moving = new Set(stages.filter((stage) => stage.working > 0).map((stage) => stage.stage));
  return (
    <section className="graph" aria-label="The pipeline">
      <Edges moving={moving} />
      {LANES.map((lane) => (
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
                  <StageCard stage={byName.get(node.stage)} note={node.note} />
                ) : (
                  <StoreNode kind={node.kind} count={counts[node.kind]} />
                )}
              </li>
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}
