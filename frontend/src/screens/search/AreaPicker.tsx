import { useState } from "react";
import { Field, Input } from "@/kit";
import { degreesEast, degreesNorth, type View, WORLD } from "./area";
import { Dot, WorldMap } from "./Map";
import type { Wanted } from "./wanted";

interface AreaPickerProps {
  wanted: Wanted;
  change: (part: Partial<Wanted>) => void;
}

/** Where: by name, or around a point of the map. */
export function AreaPicker({ wanted, change }: AreaPickerProps) {
  const [view, setView] = useState<View>(WORLD);
  return (
    <fieldset className="area">
      <legend>Where</legend>
      <div className="choices">
        <label>
          <input
            type="radio"
            name="mode"
            checked={wanted.mode === "name"}
            onChange={() => change({ mode: "name" })}
          />
          By name
        </label>
        <label>
          <input
            type="radio"
            name="mode"
            checked={wanted.mode === "point"}
            onChange={() => change({ mode: "point", radiusKm: wanted.radiusKm || "5" })}
          />
          On the map
        </label>
      </div>
      {wanted.mode === "name" ? (
        <Field label="Place" bare hint="One town, district or region per line">
          {(props) => (
            <textarea
              className="input lines"
              rows={2}
              placeholder="Austin, TX"
              value={wanted.where}
              onChange={(event) => change({ where: event.target.value })}
              {...props}
            />
          )}
        </Field>
      ) : (
        <PointPicker wanted={wanted} change={change} view={view} setView={setView} />
      )}
      <Input
        label="Radius in km"
        type="number"
        min={0.1}
        max={200}
        step="any"
        placeholder={wanted.mode === "name" ? "whole place" : "5"}
        value={wanted.radiusKm}
        onChange={(event) => change({ radiusKm: event.target.value })}
      />
    </fieldset>
  );
}

function PointPicker({
  wanted,
  change,
  view,
  setView,
}: AreaPickerProps & { view: View; setView: (view: View) => void }) {
  const { point } = wanted;
  const metres = Number(wanted.radiusKm) * 1000;
  function typed(part: { latitude?: number; longitude?: number }) {
    const next = { latitude: point?.latitude ?? 0, longitude: point?.longitude ?? 0, ...part };
    change({ point: next });
    setView({ ...next, width: Math.min(view.width, 10) });
  }
  return (
    <>
      <WorldMap
        label="Map: click to choose the center of the area"
        view={view}
        onView={setView}
        onPick={(picked) =>
          change({
            point: { latitude: round(picked.latitude), longitude: round(picked.longitude) },
          })
        }
      >
        {point && (
          <g className="target">
            <ellipse
              cx={point.longitude}
              cy={-point.latitude}
              rx={degreesEast(metres, point.latitude)}
              ry={degreesNorth(metres)}
            />
            <Dot className="middle" at={point} view={view} size={6} />
          </g>
        )}
      </WorldMap>
      <div className="search-row">
        <Input
          label="Latitude"
          type="number"
          step="any"
          min={-90}
          max={90}
          value={point?.latitude ?? ""}
          onChange={(event) => typed({ latitude: Number(event.target.value) })}
        />
        <Input
          label="Longitude"
          type="number"
          step="any"
          min={-180}
          max={180}
          value={point?.longitude ?? ""}
          onChange={(event) => typed({ longitude: Number(event.target.value) })}
        />
      </div>
    </>
  );
}

const round = (degrees: number) => Math.round(degrees * 10_000) / 10_000;
