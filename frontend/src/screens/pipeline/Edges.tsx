import { useLayoutEffect, useRef, useState } from "react";

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

interface Edge {
  key: string;
  path: string;
  to: string;
}

interface EdgesProps {
  /** From which node to which. */
  steps: readonly (readonly [string, string])[];
  moving: ReadonlySet<string>;
}

/** Lines between the nodes, drawn where the nodes happen to stand. */
export function Edges({ steps, moving }: EdgesProps) {
  const own = useRef<SVGSVGElement>(null);
  const [edges, setEdges] = useState<{ list: Edge[]; width: number; height: number }>({
    list: [],
    width: 0,
    height: 0,
  });
  const written = JSON.stringify(steps);
  useLayoutEffect(() => {
    const graph = own.current?.parentElement;
    if (!graph) return;
    const measure = () => setEdges(measured(graph, JSON.parse(written)));
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(graph);
    return () => watch.disconnect();
  }, [written]);
  return (
    <svg ref={own} className="edges" width={edges.width} height={edges.height} aria-hidden="true">
      {edges.list.map((edge) => (
        <g key={edge.key} className={moving.has(edge.to) ? "moving" : ""}>
          <path className="edge" d={edge.path} />
          <path className="flow" d={edge.path} />
        </g>
      ))}
    </svg>
  );
}

function measured(graph: HTMLElement, steps: EdgesProps["steps"]) {
  const frame = graph.getBoundingClientRect();
  const boxes = new Map<string, Box>();
  for (const node of graph.querySelectorAll<HTMLElement>("[data-node]")) {
    const seen = node.getBoundingClientRect();
    boxes.set(node.dataset.node ?? "", {
      left: seen.left - frame.left,
      right: seen.right - frame.left,
      top: seen.top - frame.top,
      bottom: seen.bottom - frame.top,
    });
  }
  const list = steps.flatMap(([from, to]) => {
    const start = boxes.get(from);
    const end = boxes.get(to);
    return start && end ? [{ key: `${from}-${to}`, path: between(start, end), to }] : [];
  });
  return { list, width: graph.scrollWidth, height: graph.scrollHeight };
}

const middle = (low: number, high: number) => (low + high) / 2;

/** Straight to a neighbour; around the corner to one that stands lower. */
export function between(from: Box, to: Box): string {
  const y1 = middle(from.top, from.bottom);
  const y2 = middle(to.top, to.bottom);
  if (to.left >= from.right && Math.abs(y1 - y2) < 60) {
    const x = middle(from.right, to.left);
    return `M${from.right} ${y1} C${x} ${y1} ${x} ${y2} ${to.left} ${y2}`;
  }
  const x1 = middle(from.left, from.right);
  const x2 = middle(to.left, to.right);
  if (Math.abs(x1 - x2) < 40) return `M${x1} ${from.bottom} L${x2} ${to.top}`;
  const turn = middle(from.bottom, to.top);
  const bend = Math.min(14, Math.abs(turn - from.bottom));
  const way = x2 < x1 ? -1 : 1;
  return [
    `M${x1} ${from.bottom}`,
    `V${turn - bend}`,
    `Q${x1} ${turn} ${x1 + way * bend} ${turn}`,
    `H${x2 - way * bend}`,
    `Q${x2} ${turn} ${x2} ${turn + bend}`,
    `V${to.top}`,
  ].join(" ");
}
