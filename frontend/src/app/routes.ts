/** Every screen: its address, its name, how to get there. Each is loaded when first opened. */
import { type ComponentType, lazy } from "react";
import { kinds } from "@/api/kinds";
import type { IconName } from "@/kit";
import { texts } from "@/texts/app";
import { common } from "@/texts/common";
import { retried } from "./retried";
import type { Permission } from "./session";

export interface ScreenProps {
  /** The named parts of the address, like the kind in /curate/{kind}. */
  params: Record<string, string>;
}

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
  screen("/", () => import("@/screens/pipeline")),
  screen("/search", () => import("@/screens/search")),
  screen("/search/{id}", () => import("@/screens/search")),
  screen("/curate/{kind}", () => import("@/screens/curate")),
  screen("/rules", () => import("@/screens/rules")),
  screen("/batches", () => import("@/screens/batches")),
  screen("/batches/{id}", () => import("@/screens/batches")),
  screen("/dead-letters", () => import("@/screens/dead-letters")),
  screen("/settings", () => import("@/screens/settings")),
  screen("/settings/{part}", () => import("@/screens/settings")),
];

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
}

const WORK: Group = {
  name: texts.routes.work,
  places: [
    { to: "/", name: texts.routes.pipeline, icon: "pipeline", key: "h" },
    { to: "/search", name: common.search, icon: "search", key: "s" },
  ],
};

const AUTOMATE: Group = {
  name: texts.routes.automate,
  places: [
    { to: "/rules", name: texts.routes.rules, icon: "rules", key: "r" },
    { to: "/batches", name: texts.routes.batches, icon: "batch", key: "a" },
    { to: "/dead-letters", name: common.failed, icon: "letter", key: "x" },
  ],
};

/** Where one can go: the kinds of records stand between what is fixed, leads first. */
export function navigation(): readonly Group[] {
  const places = (isStep: boolean): Place[] =>
    kinds()
      .filter((kind) => kind.isStep === isStep)
      .map(({ screen: to, title: name, icon, key }) => ({ to, name, icon, key }));
  return [
    WORK,
    { name: texts.routes.leads, places: places(false).reverse() },
    { name: texts.routes.steps, places: places(true) },
    AUTOMATE,
  ];
}

export const SETTINGS: Place = {
  to: "/settings",
  name: common.settings,
  icon: "settings",
  key: "t",
};
