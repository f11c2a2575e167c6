/** The pipeline as a picture: lanes of stages and of the records between them. */
import { type Kind, kindNamed } from "@/api/kinds";
import type { Stage } from "@/api/types";

export type Node = { stage: Stage } | { kind: Kind };

export interface Lane {
  name: string;
  nodes: Node[];
}

/** Stages in their order, each followed by the records it makes; others stand before theirs. */
export function lanesOf(stages: readonly Stage[]): Lane[] {
  const lanes: Lane[] = [];
  const shown = new Set<string>();
  const made = new Set(stages.map(({ makes }) => makes));
  for (const stage of stages) {
    let lane = lanes.find(({ name }) => name === stage.lane);
    if (!lane) {
      lane = { name: stage.lane, nodes: [] };
      lanes.push(lane);
    }
    const before = made.has(stage.kind) ? undefined : kindNamed(stage.kind);
    const after = stage.makes ? kindNamed(stage.makes) : undefined;
    if (before && !shown.has(before.name)) lane.nodes.push({ kind: before });
    lane.nodes.push({ stage });
    if (after && !shown.has(after.name)) lane.nodes.push({ kind: after });
    for (const kind of [before, after]) if (kind) shown.add(kind.name);
  }
  return lanes;
}

export const nameOf = (node: Node): string => ("stage" in node ? node.stage.stage : node.kind.name);

/** Every step from one node to the next, over the ends of the lanes, too. */
export function steps(lanes: readonly Lane[]): [string, string][] {
  const names = lanes.flatMap((lane) => lane.nodes.map(nameOf));
  return names.slice(1).map((name, place) => [names[place] ?? "", name]);
}
