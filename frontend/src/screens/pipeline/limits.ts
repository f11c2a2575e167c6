/** The settings of a stage that an operator changes on its card, without a restart. */
import type { Stage } from "@/api/pipeline";
import type { Schemas } from "@/api/types";

export type Changes = Schemas["StageSettingsIn"];
export type LimitName = keyof Changes;
/** What is typed in; nothing means: as the stage was started. */
export type Form = Record<LimitName, string>;

export const WORDS: Record<LimitName, string> = {
  pace: "Pace",
  interval_minutes: "Minutes between runs",
  batch_size: "Batch size",
  max_instances: "Runs at once",
  concurrency: "Items at once in each process",
  rate_per_minute: "Items a minute, over all processes",
  high_water: "Items that may wait",
};
export const NAMES = Object.keys(WORDS) as LimitName[];
const IN_PACE = new Set(["pace", "interval_minutes", "rate_per_minute"]);

export function formOf(stage: Stage): Form {
  const typed = (name: LimitName) => String(stage.changed?.[name] ?? "");
  return Object.fromEntries(NAMES.map((name) => [name, typed(name)])) as Form;
}

/** What was typed since the form was opened; null takes a change back. */
export function changesOf(before: Form, form: Form): Changes {
  const different = NAMES.filter((name) => form[name].trim() !== before[name]);
  return Object.fromEntries(different.map((name) => [name, asValue(name, form[name].trim())]));
}

function asValue(name: LimitName, typed: string): string | number | null {
  if (typed === "") return null;
  return name === "pace" ? typed : Number(typed);
}

/** What brings back what held before a change. */
export function undoing(stage: Stage, changes: Changes): Changes {
  const names = Object.keys(changes) as LimitName[];
  return Object.fromEntries(names.map((name) => [name, stage.changed?.[name] ?? null]));
}

export function startedWith(stage: Stage, name: LimitName): string {
  const value = stage.started_with[name];
  if (name === "pace") return value === "interval" ? "at set times" : "at once";
  const isUnlimited = value === null || value === undefined || (name === "high_water" && !value);
  return isUnlimited ? "no limit" : String(value);
}

/** What the pace in the form comes to. */
export function paceInWords(stage: Stage, form: Form): string {
  const { pace, interval_minutes, batch_size } = stage.started_with;
  if ((form.pace || pace) !== "interval") return "Items are processed as soon as they are queued.";
  const minutes = Number(form.interval_minutes || interval_minutes);
  const batch = Number(form.batch_size || batch_size);
  if (!(minutes > 0 && batch > 0)) return "";
  const each = minutes === 1 ? "minute" : `${minutes} minutes`;
  return `At most ${batch} every ${each}: ${Math.round((batch / minutes) * 100) / 100} a minute.`;
}

/** The pace on the card, unless it works at once as it was started; and what was changed. */
export function paceNote(stage: Stage): string | null {
  const pace = stage.pace === "at once" ? [] : [`runs ${stage.pace}`];
  const inPace = stage.settings.pace === "interval" ? [...IN_PACE, "batch_size"] : [...IN_PACE];
  const others = NAMES.filter(
    (name) => stage.changed?.[name] != null && !inPace.includes(name),
  ).map((name) => `${WORDS[name].toLowerCase()} ${stage.changed?.[name]}`);
  const isChanged = Object.keys(stage.changed ?? {}).length > 0;
  const said = [...pace, ...others].join(", ") || (isChanged ? "runs at once" : "");
  if (!said) return null;
  return isChanged ? `Changed: ${said}` : `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
}
