import { describe, expect, it } from "vitest";
import { type KindOut, rememberKinds } from "@/api/kinds";
import type { Job, Stage, Throughput } from "@/api/pipeline";
import { between } from "./Edges";
import {
  changeHint,
  changesOf,
  formOf,
  originNote,
  paceInWords,
  paceNote,
  undoing,
  uselessNotes,
} from "./limits";
import { lanesOf, nameOf, steps } from "./plan";
import { isEmpty, notes, outcomeInWords, standing, whereItRuns } from "./standing";
import { beginning, plotted } from "./throughput";

const STARTED: Stage["settings"] = {
  pace: "eager",
  interval_minutes: 5,
  batch_size: 10,
  max_instances: 1,
  concurrency: 10,
  rate_per_minute: null,
  high_water: 10_000,
};

const stage = (given: Partial<Stage>): Stage => ({
  stage: "x",
  title: "X",
  does: "works",
  lane: "Find",
  kind: "pages",
  makes: null,
  field: "status",
  queued_status: "Queued",
  queued: 0,
  working: 0,
  waiting_retry: 0,
  held: 0,
  done: 0,
  failed: 0,
  rate_per_minute: 0,
  errors_last_hour: 0,
  pace: "at once",
  settings: STARTED,
  started_with: STARTED,
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
  const kind = (name: string): KindOut => ({
    name,
    path: `/${name}`,
    title: name,
    singular: name,
    plural: name,
    icon: "page",
    key: null,
    about: "",
    source: null,
    label: [],
    unnamed: "",
    under: [],
    decision: {
      field: "status",
      choices: [],
      undecided: "New",
      on: "Selected",
      starts: "x",
      stage_field: "x_status",
      error_field: "x_error",
      unattended: null,
      is_within_site_budget: false,
      busy: [],
    },
    columns: [],
    facts: [],
    exported: [],
    submission: null,
    presets: [],
    required: {},
    is_step: false,
    is_mergeable: false,
    has_priority: false,
    has_owner: false,
    has_pairs: false,
    has_site_budget: false,
    form: null,
    quick_filters: [],
  });
  it("has stages in their order, and records after what makes them", () => {
    rememberKinds([kind("places"), kind("letters")]);
    const lanes = lanesOf([
      stage({ stage: "search", kind: "searches", makes: "places" }),
      stage({ stage: "scan", kind: "places" }),
      stage({ stage: "post", kind: "letters", lane: "Send" }),
    ]);

    expect(lanes.map(({ name, nodes }) => [name, nodes.map(nameOf)])).toEqual([
      ["Find", ["search", "places", "scan"]],
      ["Send", ["letters", "post"]],
    ]);
    expect(steps(lanes)).toHaveLength(4);
    expect(steps(lanes)[0]).toEqual(["search", "places"]);
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
    expect(standing([stage({})])).toBe("No data yet.");
    expect(standing([stage({ done: 1 })])).toBe("Nothing is running.");
    expect(standing([stage({ working: 1, queued: 2, paused: "why" })])).toBe(
      "1 item running, 2 items waiting, 1 stage paused.",
    );
    expect(standing([stage({ queued: 2, waiting_retry: 3 })])).toBe(
      "2 items waiting, 3 items to retry.",
    );
  });
  it("does not say that nothing is to do while records wait for a person", () => {
    expect(standing([stage({ done: 1 })], 300)).toBe("300 records to decide, nothing is running.");
  });
  it("is empty only when nothing ever was", () => {
    expect(isEmpty([stage({})])).toBe(true);
    expect(isEmpty([stage({ failed: 1 })])).toBe(false);
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

describe("the notes on a stage", () => {
  const texts = (given: Partial<Stage>) => notes(stage(given)).map((note) => note.text);

  it("says what it does, or why it does nothing", () => {
    const full = "Page curation has no room: at most 10 may wait for it";

    expect(texts({})).toEqual(["works"]);
    expect(texts({ held_back: full })).toEqual([`On hold: ${full}`]);
    expect(texts({ held_back: full, paused: "lunch" })).toEqual(["Paused: lunch"]);
  });

  it("show its pace unless it works at once", () => {
    expect(texts({ pace: "at once, at most 30 a minute" })).toEqual([
      "works",
      "Runs at once, at most 30 a minute",
    ]);
  });
});

it("says what became of the items of a run, and leaves out what did not happen", () => {
  const job = { id: "x", name: "X", trigger: "every minute", running: 0 } as Job;

  expect(outcomeInWords(job)).toBe("");
  expect(
    outcomeInWords({ ...job, last_items: 9, last_succeeded: 8, last_failed: 0, last_retried: 1 }),
  ).toBe("8 done, 1 to retry");
});

it("says of a job that nobody runs why that is", () => {
  const job = { trigger: "every minute", enabled: true, processes: ["a", "b"] } as Job;
  const next = { ...job, next_run_at: "2026-01-01T00:00:00Z" };

  expect(whereItRuns(next).text).toBe("every minute, in 2 processes");
  expect(whereItRuns({ ...job, processes: ["a"] }).text).toBe("when asked, in 1 process");
  expect(whereItRuns({ ...next, problem: "no" })).toEqual({ text: "no", isWarning: true });
  expect(whereItRuns({ ...job, processes: [] })).toEqual({
    text: "no process runs it",
    isWarning: true,
  });
  expect(whereItRuns({ ...job, enabled: false, processes: [] }).text).toBe("disabled");
});

describe("the pace of a stage", () => {
  const changed = stage({ changed: { batch_size: 4, rate_per_minute: 30 } });

  it("sends only what was typed, and null for what was emptied", () => {
    const before = formOf(changed);

    expect(changesOf(before, before)).toEqual({});
    expect(changesOf(before, { ...before, batch_size: "", pace: "interval" })).toEqual({
      pace: "interval",
      batch_size: null,
    });
    expect(changesOf(before, { ...before, interval_minutes: " 2.5" })).toEqual({
      interval_minutes: 2.5,
    });
  });

  it("goes back to what held before, also where that was the setting", () => {
    expect(undoing(changed, { batch_size: 8, pace: "interval" })).toEqual({
      batch_size: 4,
      pace: null,
    });
  });

  it("says what the form comes to before it is saved", () => {
    const form = formOf(changed);

    expect(paceInWords(changed, form)).toContain("as soon as they are queued");
    expect(paceInWords(changed, { ...form, pace: "interval" })).toBe(
      "At most 4 every 5 minutes: 0.8 a minute.",
    );
    expect(paceInWords(changed, { ...form, pace: "interval", interval_minutes: "0" })).toBe("");
  });

  const override = (given: object = {}) => ({
    setting: "concurrency",
    value: 3,
    changed_by: "Ada",
    changed_at: "2026-11-18T09:00:00Z",
    no_effect: null,
    ...given,
  });

  it("says who changed something last, and in the form who changed what", () => {
    const earlier = override({ setting: "batch_size", changed_by: "Bob" });
    const overrides = [override({ changed_at: "2026-11-19T09:00:00Z" }), earlier];

    expect(originNote(stage({}))).toBeNull();
    expect(originNote(stage({ overrides }))).toMatch(/^Changed by Ada on .*19/);
    expect(changeHint(stage({ overrides }), "batch_size")).toMatch(
      /^Changed by Bob on .*18.*; as started: 10/,
    );
  });

  it("says of what does not hold why, and does not show it as if it did", () => {
    const useless = override({ no_effect: "Input should be greater than 0" });
    const given = stage({ changed: { concurrency: 3 }, overrides: [useless] });

    expect(paceNote(given)).not.toContain("3");
    expect(uselessNotes(given)).toEqual([
      "Items at once in each process 3 has no effect: Input should be greater than 0. Clear it or change it.",
    ]);
  });

  it("says on the card what was changed", () => {
    expect(paceNote(stage({}))).toBeNull();
    const faster = stage({ changed: { concurrency: 3 }, overrides: [override()] });
    expect(paceNote(faster)).toBe("Changed: items at once in each process 3");
    expect(paceNote(stage({ pace: "at most 10 every 5 minutes" }))).toBe(
      "Runs at most 10 every 5 minutes",
    );
  });
});
