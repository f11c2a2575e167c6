import { describe, expect, it } from "vitest";
import { around, degreesEast, distance, moved, scaleBar, WORLD, zoomed } from "./area";

describe("the small map", () => {
  it("keeps the point under the pointer where it is", () => {
    const view = zoomed({ latitude: 0, longitude: 0, width: 100 }, 0.5, {
      latitude: 10,
      longitude: 20,
      width: 0,
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
    const view = around(
      [
        [10, 20, 11, 21],
        [12, 22, 13, 24],
      ],
      2,
    );
    expect(view.latitude).toBe(11.5);
    expect(view.longitude).toBe(22);
    expect(view.width).toBeGreaterThanOrEqual(6);
    expect(around([], 2)).toBe(WORLD);
  });
  it("has a scale in round numbers", () => {
    expect(scaleBar({ latitude: 0, longitude: 0, width: 1 }).metres).toBe(20_000);
    expect([distance(500), distance(1500), distance(20_000)]).toEqual(["500 m", "1.5 km", "20 km"]);
  });
});
