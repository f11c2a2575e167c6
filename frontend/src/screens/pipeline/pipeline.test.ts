import { describe, expect, it } from "vitest";
import type { Stage, Throughput } from "@/api/pipeline";
import { between } from "./Edges";
import { scaled } from "./Funnel";
import { LANES, nameOf, steps } from "./plan";
import { isEmpty, standing } from "./standing";
import { beginning, plotted } from "./throughput";

const stage = (given: Partial<Stage>): Stage => ({
  stage: "x",
  title: "X",
  kind: "pages",
  queued: 0,
  working: 0,
  waiting_retry: 0,
  held: 0,
  done: 0,
  failed: 0,
  rate_per_minute: 0,
  errors_last_hour: 0,
  next: [],
  ...given,
});

const minutes = (...done: number[]): Throughput => ({
  stage: "x",
  title: "X",
  minutes: done.map((count, place) => ({
    at: new Date(place * 60_000).toISOString(),
    done: count,
    failed: 0,
  })),
});

describe("the picture of the pipeline", () => {
  it("has every node once, and a step between each two", () => {
    const names = LANES.flatMap((lane) => lane.nodes.map(nameOf));
    expect(new Set(names).size).toBe(names.length);
    expect(steps()).toHaveLength(names.length - 1);
    expect(steps()[0]).toEqual(["place_search", "places"]);
  });
  it("draws straight to a neighbour and around the corner to the next lane", () => {
    const box = { left: 0, right: 10, top: 0, bottom: 10 };
    expect(between(box, { left: 20, right: 30, top: 0, bottom: 10 })).toMatch(/^M10 5 C/);
    expect(between(box, { left: 0, right: 10, top: 50, bottom: 60 })).toBe("M5 10 L5 50");
    expect(between(box, { left: 200, right: 210, top: 90, bottom: 99 })).toMatch(
      /^M5 10 V.*Q.*H.*Q.*V90$/,
    );
  });
});

describe("how it stands", () => {
  it("is one sentence", () => {
    expect(standing([stage({})])).toBe("Nothing to do yet.");
    expect(standing([stage({ done: 1 })])).toBe("Nothing to do: all that was queued is done.");
    expect(standing([stage({ working: 1, queued: 2, paused: "why" })])).toBe(
      "1 item at work, 2 items waiting, 1 stage paused.",
    );
  });
  it("is empty only when nothing ever was", () => {
    expect(isEmpty([stage({})])).toBe(true);
    expect(isEmpty([stage({ failed: 1 })])).toBe(false);
  });
  it("keeps small numbers in sight", () => {
    expect(scaled(0, 100)).toBe(0);
    expect(scaled(100, 100)).toBe(100);
    expect(scaled(1, 1_000_000)).toBeGreaterThanOrEqual(3);
  });
});

describe("throughput", () => {
  it("leaves a long nothing at the beginning out", () => {
    const quiet = Array.from({ length: 60 }, () => 0);
    expect(
      beginning([minutes(...quiet.slice(0, 40), ...Array.from({ length: 20 }, () => 1))]),
    ).toBe(38);
    expect(beginning([minutes(...quiet)])).toBe(45);
    expect(beginning([minutes(1, 2, 3)])).toBe(0);
    expect(beginning([])).toBe(0);
  });
  it("has a line per stage, hidden when asked", () => {
    const { times, series } = plotted([minutes(1, 2)], new Set(["x"]));
    expect(times).toEqual([0, 60]);
    expect(series).toEqual([{ name: "X", color: "--c1", values: [1, 2], shown: false }]);
  });
});
