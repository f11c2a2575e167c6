/** The pipeline as a picture: three lanes of stages and of the records between them. */
import type { KindName } from "@/api/kinds";

export type Node = { stage: string; note: string } | { kind: KindName };

export interface Lane {
  name: string;
  nodes: readonly Node[];
}

export const LANES: readonly Lane[] = [
  {
    name: "Find businesses",
    nodes: [
      { stage: "place_search", note: "asks the place sources" },
      { kind: "places" },
      { stage: "deep_scan", note: "fetches every detail" },
      { kind: "businesses" },
    ],
  },
  {
    name: "Map their websites",
    nodes: [
      { stage: "domain_extraction", note: "finds the own domain" },
      { kind: "domains" },
      { stage: "domain_metadata", note: "visits the home page" },
      { stage: "sitemap_submission", note: "finds the sitemaps" },
    ],
  },
  {
    name: "Harvest contacts",
    nodes: [
      { kind: "sitemap_files" },
      { stage: "sitemap_import", note: "reads and rates the pages" },
      { kind: "pages" },
      { stage: "page_curation", note: "extracts the contacts" },
      { kind: "contacts" },
      { stage: "contact_validation", note: "checks addresses" },
    ],
  },
];

export const nameOf = (node: Node): string => ("stage" in node ? node.stage : node.kind);

/** Every step from one node to the next, over the ends of the lanes, too. */
export function steps(lanes: readonly Lane[] = LANES): [string, string][] {
  const names = lanes.flatMap((lane) => lane.nodes.map(nameOf));
  return names.slice(1).map((name, place) => [names[place] ?? "", name]);
}
