import { useMemo, useState } from "react";
import { Badge, Panel, plural } from "@/kit";
import { around } from "./area";
import type { Coverage } from "./data";
import { WorldMap } from "./Map";

/** The proof of how completely the area was searched: every cell, and what was in it. */
export function CoverageMap({ coverage }: { coverage: Coverage }) {
  const { leaves } = coverage;
  const whole = useMemo(
    () =>
      around(
        leaves.map((leaf) => leaf.box),
        2,
      ),
    [leaves],
  );
  const [view, setView] = useState(whole);
  const most = Math.max(1, ...leaves.map((leaf) => leaf.count));
  const full = leaves.filter((leaf) => leaf.saturated).length;
  return (
    <Panel
      title="Coverage"
      about={coverage.why}
      actions={
        <Badge tone={coverage.complete ? "good" : "warn"}>
          {coverage.complete ? "complete" : "not complete"}
        </Badge>
      }
    >
      {leaves.length > 0 && (
        <WorldMap
          label={`${plural(leaves.length, "cell")} searched${full ? `, ${full} of them may hold more` : ""}`}
          view={view}
          onView={setView}
        >
          {leaves.map((leaf) => {
            const [south, west, north, east] = leaf.box;
            return (
              <rect
                key={leaf.box.join()}
                className={`leaf ${leaf.saturated ? "full" : ""}`}
                x={west}
                y={-north}
                width={east - west}
                height={north - south}
                fillOpacity={0.08 + 0.6 * (leaf.count / most)}
              >
                <title>
                  {plural(leaf.count, "place")}
                  {leaf.saturated ? ", perhaps more" : ""}
                </title>
              </rect>
            );
          })}
        </WorldMap>
      )}
      {coverage.lacks_service_areas && (
        <p className="small soft">
          Businesses without premises gave all one question can: there may be more of them.
        </p>
      )}
    </Panel>
  );
}
