import { expect, it } from "vitest";
import { mapAsked, sizeOfCluster, UPRIGHT } from "./mapping";

const VIEW = { latitude: 47, longitude: -20, width: 0.2 };

it("asks for more than is in sight, and the same after a small move", () => {
  const asked = mapAsked(VIEW);

  expect(asked.west).toBeLessThan(-20.1);
  expect(asked.east).toBeGreaterThan(-19.9);
  expect(asked.south).toBeLessThan(47);
  expect(mapAsked({ ...VIEW, longitude: -20.001 })).toEqual(asked);
  expect(mapAsked({ ...VIEW, longitude: -20.2 })).not.toEqual(asked);
});

it("asks for finer clusters the nearer it looks, within what the server knows", () => {
  expect(mapAsked({ ...VIEW, width: 0.1 }).zoom).toBe(mapAsked(VIEW).zoom + 1);
  expect(mapAsked({ latitude: 0, longitude: 0, width: 360 })).toMatchObject({
    west: -180,
    east: 180,
    zoom: 2,
  });
  expect(mapAsked({ ...VIEW, width: 0.0001 }).zoom).toBe(22);
});

it("draws more leads larger, up to a point", () => {
  expect(sizeOfCluster(2, VIEW)).toBeGreaterThan(sizeOfCluster(1, VIEW));
  expect(sizeOfCluster(1_000_000, VIEW)).toBe(28);
  expect(sizeOfCluster(1, { ...VIEW, ratio: UPRIGHT })).toBeGreaterThan(sizeOfCluster(1, VIEW));
});
