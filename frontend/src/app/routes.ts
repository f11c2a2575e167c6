/** Every screen: its address, its name, how to get there. Each is loaded when first opened. */
import { type ComponentType, lazy } from "react";
import { kinds } from "@/api/kinds";
import type { IconName } from "@/kit";
import { texts } from "@/texts/app";
import { common } from "@/texts/common";
import { retried } from "./retried";
import type { ScreenProps } from "./screen";
import type { Permission, Session } from "./session";

type Loaded = Promise<{ default: ComponentType<ScreenProps> }>;

export interface Screen {
  pattern: string;
  load: () => Loaded;
  Component: ComponentType<ScreenProps>;
}

function screen(pattern: string, load: () => Loaded): Screen {
  return { pattern, load, Component: lazy(retried(load)) };
}

export const SCREENS: readonly Screen[] = [
  screen("/home", () => import("@/screens/home")),
  screen("/pipeline", () => import("@/screens/pipeline")),
  screen("/changes", () => import("@/screens/changes")),
  screen("/results", () => import("@/screens/results")),
  screen("/search", () => import("@/screens/search")),
  screen("/search/{id}", () => import("@/screens/search")),
  screen("/curate/{kind}", () => import("@/screens/curate")),
  screen("/rules", () => import("@/screens/rules")),
  screen("/batches", () => import("@/screens/batches")),
  screen("/batches/{id}", () => import("@/screens/batches")),
  // A list of businesses is read by a search: what it is to people is an import.
  screen("/batches/file/{id}", () => import("@/screens/search")),
  screen("/dead-letters", () => import("@/screens/dead-letters")),
  screen("/settings", () => import("@/screens/settings")),
  screen("/settings/{part}", () => import("@/screens/settings")),
];

/** Other addresses that people try; each leads to a screen. */
export const OTHER_ADDRESSES: Readonly<Record<string, string>> = {
  "/leads": "/curate/companies",
  "/companies": "/curate/companies",
  "/map": "/curate/companies?view=map",
  "/contacts": "/curate/contacts",
  "/failed": "/dead-letters",
  "/import": "/batches",
  "/imports": "/batches",
};

export interface Place {
  to: string;
  name: string;
  icon: IconName;
  /** The second of two keys; the first is `g`. */
  key: string | null;
  needs?: Permission;
}

export interface Group {
  name: string;
  places: readonly Place[];
  /** Folded away for people who sell. */
  isAdvanced?: boolean;
}

const WORK: Group = {
  name: texts.routes.work,
  places: [
    { to: "/home", name: texts.routes.home, icon: "home", key: "h" },
    { to: "/search", name: common.search, icon: "search", key: "s" },
    { to: "/changes", name: texts.routes.changes, icon: "clock", key: "w" },
    { to: "/batches", name: texts.routes.batches, icon: "upload", key: "a" },
  ],
};

const RESULTS: Place = { to: "/results", name: texts.routes.results, icon: "chart", key: "u" };

const PIPELINE: Place = {
  to: "/pipeline",
  name: texts.routes.pipeline,
  icon: "pipeline",
  key: "i",
};

const AUTOMATE: readonly Place[] = [
  { to: "/rules", name: texts.routes.rules, icon: "rules", key: "r" },
  { to: "/dead-letters", name: common.failed, icon: "letter", key: "x" },
];

/** Where one can go: leads first; the steps that make them are the work of operators. */
export function navigation(): readonly Group[] {
  const places = (isStep: boolean): Place[] =>
    kinds()
      .filter((kind) => kind.isStep === isStep)
      .map(({ screen: to, title: name, icon, key }) => ({ to, name, icon, key }));
  return [
    WORK,
    { name: texts.routes.leads, places: [...places(false).reverse(), RESULTS] },
    {
      name: texts.routes.advanced,
      places: [PIPELINE, ...places(true), ...AUTOMATE],
      isAdvanced: true,
    },
  ];
}

/** Whether somebody keeps the pipeline running, and does not sell at the same desk. */
export const isOperator = ({ is_operator, via }: Session): boolean =>
  is_operator && via !== "local";

/** The screen that an address means: the role decides what one begins with. */
export function resolved(path: string, session: Session): string {
  if (path === "/") return isOperator(session) ? PIPELINE.to : "/home";
  return path;
}

export const SETTINGS: Place = {
  to: "/settings",
  name: common.settings,
  icon: "settings",
  key: "t",
};
