import { describe, expect, it } from "vitest";
import {
  around,
  boundsOf,
  degreesEast,
  degreesWritten,
  distance,
  heightOf,
  labelsOf,
  moved,
  netOf,
  placed,
  scaleBar,
  WORLD,
  zoomed,
} from "./area";

describe("the small map", () => {
  it("keeps the point under the pointer where it is", () => {
    const view = zoomed({ latitude: 0, longitude: 0, width: 100 }, 0.5, {
      latitude: 10,
      longitude: 20,
    });
    expect(view).toEqual({ latitude: 5, longitude: 10, width: 50 });
  });
  it("is never larger than the world, and goes round it", () => {
    expect(zoomed(WORLD, 4).width).toBe(360);
    expect(moved({ latitude: 0, longitude: 179, width: 10 }, 2, 0).longitude).toBe(-179);
    expect(moved({ latitude: 80, longitude: 0, width: 10 }, 0, 50).latitude).toBe(84);
  });
  it("makes degrees wider towards the poles", () => {
    expect(degreesEast(111_320, 0)).toBeCloseTo(1);
    expect(degreesEast(111_320, 60)).toBeCloseTo(2);
  });
  it("shows all boxes", () => {
    const view = around([
      [10, 20, 11, 21],
      [12, 22, 13, 24],
    ]);
    expect(view.latitude).toBe(11.5);
    expect(view.longitude).toBe(22);
    expect(view.width).toBeGreaterThanOrEqual(6);
    expect(heightOf(view)).toBeGreaterThanOrEqual(3);
    expect(around([])).toBe(WORLD);
  });
  it("shows a circle of the land as a circle", () => {
    const [south, west, north, east] = boundsOf({ circle: [60, 10, 5000] });
    const view = around([[south, west, north, east]]);
    const high = (north - south) / heightOf(view);
    const wide = (east - west) / view.width;
    expect(high / wide).toBeCloseTo(2);
  });
  it("places a point by its share of the picture, also over the edge of the world", () => {
    const view = { latitude: 0, longitude: 180, width: 10 };
    expect(placed(view, { latitude: 0, longitude: -180 })).toEqual({ x: 0.5, y: 0.5 });
    expect(placed(view, { latitude: 2.5, longitude: -175 })).toEqual({ x: 1, y: 0 });
  });
  it("draws a net and writes what its lines are", () => {
    const { columns, step } = netOf({ latitude: 41, longitude: -8.6, width: 0.1 });
    expect(step).toBe(0.02);
    expect(columns.map((east) => degreesWritten(east, step, "longitude"))).toContain("8.60° W");
    expect(degreesWritten(185, 5, "longitude")).toBe("175° W");
    expect(degreesWritten(0, 1, "latitude")).toBe("0°");
  });
  it("names the first places, and none over another", () => {
    const at = (name: string, longitude: number) => ({ id: name, name, longitude, latitude: 0 });
    const view = { latitude: 0, longitude: 0, width: 1 };
    const labels = labelsOf([at("First", 0), at("Hidden", 0.001), at("Right", 0.49)], view, 500);
    expect(labels.map(({ text, isLeft }) => [text, isLeft])).toEqual([
      ["First", false],
      ["Right", true],
    ]);
  });
  it("has a scale in round numbers", () => {
    expect(scaleBar({ latitude: 0, longitude: 0, width: 1 }).metres).toBe(20_000);
    expect([distance(500), distance(1500), distance(20_000)]).toEqual(["500 m", "1.5 km", "20 km"]);
  });
});
