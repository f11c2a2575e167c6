/** The settings of a stage that an operator changes on its card, without a restart. */
import type { Stage } from "@/api/pipeline";
import type { Schemas } from "@/api/types";
import { day } from "@/kit/format";
import { texts } from "@/texts/pipeline";

export type Changes = Schemas["StageSettingsIn"];
export type LimitName = keyof Changes;
/** What is typed in; nothing means: as the stage was started. */
export type Form = Record<LimitName, string>;

export const WORDS: Record<LimitName, string> = {
  pace: texts.limits.pace,
  interval_minutes: texts.limits.minutesBetweenRuns,
  batch_size: texts.limits.batchSize,
  max_instances: texts.limits.runsAtOnce,
  concurrency: texts.limits.itemsAtOnceInEachProcess,
  rate_per_minute: texts.limits.itemsAMinute,
  high_water: texts.limits.itemsThatMayWait,
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
  if (name === "pace") return value === "interval" ? texts.limits.atSetTimes : texts.limits.atOnce;
  const isUnlimited = value === null || value === undefined || (name === "high_water" && !value);
  return isUnlimited ? texts.limits.noLimit : String(value);
}

/** What the pace in the form comes to. */
export function paceInWords(stage: Stage, form: Form): string {
  const { pace, interval_minutes, batch_size } = stage.started_with;
  if ((form.pace || pace) !== "interval") return texts.limits.itemsAreProcessedAsSoon;
  const minutes = Number(form.interval_minutes || interval_minutes);
  const batch = Number(form.batch_size || batch_size);
  if (!(minutes > 0 && batch > 0)) return "";
  const each = minutes === 1 ? texts.limits.minute : texts.limits.minutes(minutes);
  return texts.limits.atMostEvery(batch, each, Math.round((batch / minutes) * 100) / 100);
}

/** The pace on the card, unless it works at once as it was started; and what was changed. */
export function paceNote(stage: Stage): string | null {
  const pace = stage.pace === "at once" ? [] : [texts.limits.itRuns(stage.pace)];
  const inPace = stage.settings.pace === "interval" ? [...IN_PACE, "batch_size"] : [...IN_PACE];
  const others = NAMES.filter((name) => holds(stage, name) && !inPace.includes(name)).map(
    (name) => `${WORDS[name].toLowerCase()} ${stage.changed?.[name]}`,
  );
  const isChanged = Object.keys(stage.changed ?? {}).length > 0;
  const said = [...pace, ...others].join(", ") || (isChanged ? texts.limits.itRunsAtOnce : "");
  if (!said) return null;
  return isChanged ? texts.limits.changed(said) : `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
}

type Override = Schemas["StageOverrideOut"];

const overrideOf = (stage: Stage, name: string): Override | undefined =>
  stage.overrides?.find((one) => one.setting === name);

function holds(stage: Stage, name: LimitName): boolean {
  const found = overrideOf(stage, name);
  return found !== undefined && found.no_effect === null;
}

/** Who changed a setting, and when. */
function originOf(one: Override): string {
  return texts.limits.origin(one.changed_by ?? "", day(one.changed_at.slice(0, 10)));
}

/** Who changed something of a stage last, and when. */
export function originNote(stage: Stage): string | null {
  const latest = [...(stage.overrides ?? [])].sort((one, other) =>
    other.changed_at.localeCompare(one.changed_at),
  )[0];
  return latest ? texts.limits.changedBy(originOf(latest)) : null;
}

/** What the dialog says under a field that was changed. */
export function changeHint(stage: Stage, name: LimitName): string | undefined {
  const found = overrideOf(stage, name);
  return found && texts.limits.changedFrom(originOf(found), startedWith(stage, name));
}

/** What was changed and does not hold, with the reason. */
export function uselessNotes(stage: Stage): string[] {
  return (stage.overrides ?? []).flatMap(({ setting, value, no_effect }) =>
    no_effect ? [texts.limits.noEffect(wordOf(setting), String(value), no_effect)] : [],
  );
}

const wordOf = (setting: string) => WORDS[setting as LimitName] ?? setting;
