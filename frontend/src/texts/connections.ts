/** Connections to CRMs: accounts, fields, runs, and what was written. */
import { plural, whole } from "@/kit/format";

interface Undone {
  deleted: number;
  restored: number;
  kept: number;
}

/** What the meters of connectors count: one call may be counted for the second and the day. */
const UNITS: Record<string, string> = {
  burst: "call",
  second: "call",
  daily: "call",
  fast: "call",
  slow: "call of the slow kind (100 an hour)",
  search: "search",
};
const LIMITS: Record<string, string> = {
  daily: "calls",
  tokens: "tokens",
  budget: "your budget",
};

export const texts = {
  list: {
    connections: "Connections",
    about: "Leads are written into your CRM, and its changes come back.",
    connect: "Connect a CRM",
    none: "No CRM connected yet",
    connectOne: "Connect one: nothing is written until you have seen what would change.",
    name: "Name",
    account: "Account",
    state: "State",
    written: "Written",
    waiting: "Waiting",
    since: "Since",
  },
  state: {
    problem: "Needs attention",
    paused: "Paused",
    active: "Active",
    needsWorker: "No worker is running",
  },
  form: {
    connectACrm: "Connect a CRM",
    connect: "Connect",
    connected: "Connected. It is paused until the first run.",
    crm: "CRM",
    name: "Name (optional)",
    optional: (label: string) => `${label} (optional)`,
    keptEncrypted: "Kept encrypted, and never shown again.",
  },
  one: {
    allConnections: "All connections",
    test: "Test",
    pause: "Pause",
    undoLastRun: "Undo last run",
    deleted: "Connection deleted.",
    done: {
      pause: "Paused. What waits is kept.",
      resume: "Resumed.",
      test: "The credential works, and our fields are there.",
    },
    standing: (done: string, waiting: string) => `${done} written, ${waiting} waiting`,
    runBegan: "Run began",
    progress: "Progress of the run",
    doneBy: "Expected to be done",
    doneSoon: "Expected to be done within a minute",
    left: (left: string, allowed: string, name: string) =>
      `${left} of ${allowed} left today (${LIMITS[name] ?? name})`,
    newCredential: "New credential",
    credentialKept: "The new credential works, and is kept.",
    pauseToUndo: "Pause it to undo its last run.",
    undoNeedsAPause: "While it is paused, its last run can be undone.",
    undoTheLastRun: "Undo the last run?",
    whatUndoDoes:
      "Records that it made are deleted there, and values that it changed are put back. What somebody has edited there since stays.",
    undone: ({ deleted, restored, kept }: Undone) =>
      `${plural(deleted, "record")} deleted, ${restored} restored, ${kept} kept.`,
    deleteThis: (name: string) => `Delete the connection "${name}"?`,
    whatDeleteDoes: (records: string) =>
      `${records} stay in the CRM. Which of them is which lead is forgotten here.`,
  },
  differences: {
    none: "Nothing differs",
    here: "Here",
    there: "There",
    whose: "Whose stands there",
    ours: "Write ours",
    theirs: "Leave theirs",
    asks: "Waits for your answer",
    leftAsItIs: "Left, as you said",
  },
  parts: {
    run: "Write leads",
    differences: "Differences",
    company: "Company fields",
    person: "Person fields",
    log: "Log",
    problems: "Problems",
  },
  map: {
    readingFields: "Reading their fields",
    about: "Where each value goes. Fields have the labels that they have in the CRM.",
    ours: "Value",
    theirs: "Field there",
    fieldFor: (name: string) => `Field for ${name}`,
    notWritten: "Not written",
    whoWins: "Who wins",
    whoWinsFor: (name: string) => `Who wins for ${name}`,
    options: "Options",
    optionsOf: (count: number) => plural(count, "option"),
    ourValues: "Our values for it, separated by commas.",
    save: "Save fields",
    saved: "Fields saved.",
  },
  rules: {
    fill: "Only empty fields, and what we wrote",
    ours: "Ours",
    theirs: "Theirs",
    ask: "Show me the difference",
  },
  run: {
    about:
      "See ten of them as they would stand there, compare them with what is there, then write.",
    what: "What",
    which: "Which",
    all: "All",
    preview: "Preview ten",
    compare: "Compare",
    write: "Write them",
    queued: "Queued. They are written in the background.",
    asTheyWouldStand: "As they would stand there",
    notes: "Notes",
    noOption: (name: string, value: string) => `${name}: no option stands for "${value}"`,
  },
  comparison: {
    title: "What would be written",
    lead: "Lead",
    summary: (counts: Record<"creates" | "updates" | "unchanged" | "refused", string>) =>
      `${counts.creates} new, ${counts.updates} changed, ${counts.unchanged} the same, ${counts.refused} refused.`,
    matched: (count: string) => `${count} of them are there already and become the same record.`,
    takes: (price: string, time: string | null) =>
      `It takes ${price || "no calls"}${time ? `, and at least ${time}` : ""}.`,
    unit: (count: number, meter: string) => {
      const unit = UNITS[meter] ?? meter;
      if (unit === "search") return plural(count, unit, "searches");
      const [noun = unit, ...rest] = unit.split(" ");
      return [plural(count, noun), ...rest].join(" ");
    },
    showAll: (count: number) => `Show all ${whole(count)}`,
    compared: (some: string, all: string) =>
      `Compared were ${some} of ${all}; what it takes is of all of them.`,
    along: { person: "Their best contacts go along", company: "Their companies go along" },
    fieldsOf: (kind: "companies" | "contacts") =>
      kind === "companies" ? "Fields of companies" : "Fields of contacts",
    kept: (fields: string) => `Left as they are there: ${fields}.`,
    field: "Field there",
    there: "There now",
    written: "Would be written",
  },
  log: {
    nothing: "Nothing written yet",
    when: "When",
    record: "Record",
    numbered: (kind: string, number: string) => `${kind} ${number}`,
    what: "What",
    made: "Made",
    changed: "Changed",
    undone: "Undone",
    values: "Values",
  },
  problems: { none: "No problems", why: "Why" },
  states: {
    refused: "Refused",
    unlinked: "Deleted there",
    unknown: "Being checked",
    erasing: "Being erased there",
  } as Record<string, string>,
};
