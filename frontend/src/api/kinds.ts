/** The kinds of records people decide about, as the server declares them. */
import { useQuery } from "@tanstack/react-query";
import { type IconName, iconNamed } from "@/kit";
import { read } from "./client";
import type { Schemas } from "./types";

export type KindOut = Schemas["RecordKindOut"];
export type Column = Schemas["ColumnOut"];
export type Values = Record<string, unknown>;

export interface Choice {
  status: string;
  /** The key that decides it. */
  key: string;
  icon: IconName;
}

export interface Kind {
  /** As in the page's address. */
  id: string;
  /** As the server calls it. */
  name: string;
  /** Below /api/v3. */
  path: string;
  /** The screen's address. */
  screen: string;
  title: string;
  one: string;
  many: string;
  icon: IconName;
  /** The second of two keys that lead to the screen; the first is `g`. */
  key: string | null;
  about: string;
  /** What to do when there are none. */
  source: Schemas["RecordSourceOut"] | null;
  /** The field a person decides in, and its value before that. */
  status: string;
  undecided: string;
  /** The field of the stage that a decision sets going, and of its last failure; "": none. */
  stageStatus: string;
  error: string;
  /** The status that sets the stage going. */
  on: string | null;
  /** Which of the undecided are taken where nobody decides; null: none. */
  unattended: readonly Schemas["Condition"][] | null;
  /** What the stage's field says of records that it has, or has had. */
  busy: readonly string[];
  decisions: readonly Choice[];
  columns: readonly Column[];
  /** Questions people ask of the list, each with the filter that answers it. */
  quickFilters: readonly Schemas["QuickFilterOut"][];
  /** Fields that are shown first in the pane; the rest follow. */
  facts: readonly string[];
  /** The columns its file may have. */
  exported: readonly string[];
  /** What a batch of them is called, where they can be submitted. */
  submission: string | null;
  /** Ready-made columns and headings for files. */
  presets: readonly string[];
  /** The fields without which the program of a preset refuses a row. */
  required: Readonly<Record<string, readonly string[]>>;
  /** Whether it is a step between a search and its leads. */
  isStep: boolean;
  /** Whether several can be made one. */
  isMergeable: boolean;
  /** Whether one can be more urgent than another. */
  hasPriority: boolean;
  /** Whether people assign them to each other. */
  hasOwner: boolean;
  /** Whether people say which two are one. */
  hasPairs: boolean;
  /** Whether a detail shows what may be taken of a site. */
  hasSiteBudget: boolean;
  /** Whether only the best of each site may be selected. */
  isWithinSiteBudget: boolean;
  /** The form in which one is edited. */
  form: KindOut["form"];
  label: (row: Values) => string;
  under: (row: Values) => string;
}

const KINDS = ["kinds"] as const;
const state: { kinds: readonly Kind[] } = { kinds: [] };

/** Ask for the kinds once; no screen is shown before they are known. */
export function useKinds(enabled: boolean) {
  return useQuery({
    queryKey: KINDS,
    queryFn: async () => rememberKinds(await read("/kinds")),
    staleTime: Number.POSITIVE_INFINITY,
    enabled,
  });
}

export function rememberKinds(declared: readonly KindOut[]): readonly Kind[] {
  state.kinds = declared.flatMap((kind) => (kind.decision ? [kindOf(kind, kind.decision)] : []));
  return state.kinds;
}

/** Every kind that is decided about, in the order of the pipeline. */
export const kinds = (): readonly Kind[] => state.kinds;

export const kindNamed = (name: string): Kind | undefined =>
  state.kinds.find((kind) => kind.name === name);

/** The kind behind `/curate/sitemap-files`. */
export const kindOfScreen = (id: string): Kind | undefined =>
  state.kinds.find((kind) => kind.id === id);

/** The address of a kind's list with one filter set. */
export function filtered(screen: string, field: string, value: string): string {
  return `${screen}?filter=${encodeURIComponent(`${field}:equal:${value}`)}`;
}

/** The address of one record; what is not decided about is a search. */
export function recordScreen(kind: string, id: string): string {
  const screen = kindNamed(kind)?.screen;
  return screen ? `${screen}?open=${id}` : `/search/${id}`;
}

function kindOf(declared: KindOut, decision: Schemas["DecisionOut"]): Kind {
  const id = declared.name.replaceAll("_", "-");
  return {
    id,
    name: declared.name,
    path: declared.path,
    screen: `/curate/${id}`,
    title: declared.title,
    one: declared.singular,
    many: declared.plural,
    icon: iconNamed(declared.icon),
    key: declared.key,
    about: declared.about,
    source: declared.source,
    status: decision.field,
    undecided: decision.undecided,
    stageStatus: decision.stage_field ?? "",
    error: decision.error_field ?? "",
    on: decision.on,
    unattended: decision.unattended,
    busy: decision.busy,
    decisions: decision.choices.map((choice) => ({ ...choice, icon: iconNamed(choice.icon) })),
    columns: declared.columns,
    quickFilters: declared.quick_filters,
    facts: declared.facts,
    exported: declared.exported,
    submission: declared.submission,
    presets: declared.presets,
    required: declared.required,
    isStep: declared.is_step,
    isMergeable: declared.is_mergeable,
    hasPriority: declared.has_priority,
    hasOwner: declared.has_owner,
    hasPairs: declared.has_pairs,
    hasSiteBudget: declared.has_site_budget,
    isWithinSiteBudget: decision.is_within_site_budget,
    form: declared.form,
    label: (row) => written(row, declared.label)[0] ?? declared.unnamed,
    under: (row) => written(row, declared.under).join(" · "),
  };
}

/** The texts that some fields of a record hold. */
export function written(row: Values, fields: readonly string[]): string[] {
  return fields.flatMap((field) => {
    const value = row[field];
    return typeof value === "string" && value !== "" ? [value] : [];
  });
}
