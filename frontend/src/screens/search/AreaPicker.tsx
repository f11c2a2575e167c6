import { useState } from "react";
import { Field, Input } from "@/kit";
import { texts } from "@/texts/search";
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
      <legend>{texts.areaPicker.where}</legend>
      <div className="choices">
        <label>
          <input
            type="radio"
            name="mode"
            checked={wanted.mode === "name"}
            onChange={() => change({ mode: "name" })}
          />
          {texts.areaPicker.byName}
        </label>
        <label>
          <input
            type="radio"
            name="mode"
            checked={wanted.mode === "point"}
            onChange={() => change({ mode: "point", radiusKm: wanted.radiusKm || "5" })}
          />
          {texts.areaPicker.onTheMap}
        </label>
      </div>
      {wanted.mode === "name" ? (
        <Field label={texts.areaPicker.place} bare hint={texts.areaPicker.oneTown}>
          {(props) => (
            <textarea
              className="input lines"
              rows={2}
              placeholder={texts.areaPicker.austinTx}
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
        label={texts.areaPicker.radiusInKm}
        type="number"
        min={0.1}
        max={200}
        step="any"
        placeholder={wanted.mode === "name" ? texts.areaPicker.wholePlace : "5"}
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
        label={texts.areaPicker.mapClickToChooseTheCenter}
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
          label={texts.areaPicker.latitude}
          type="number"
          step="any"
          min={-90}
          max={90}
          value={point?.latitude ?? ""}
          onChange={(event) => typed({ latitude: Number(event.target.value) })}
        />
        <Input
          label={texts.areaPicker.longitude}
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
