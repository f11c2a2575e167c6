/** Light, dark, or as the system says. Read before the first paint by /theme.js, too. */
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const PLACE = "scrapersky.theme";
const watchers = new Set<() => void>();

export function theme(): Theme {
  const set = document.documentElement.dataset.theme;
  return set === "light" || set === "dark" ? set : "system";
}

export function chooseTheme(chosen: Theme): void {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
  try {
    if (chosen === "system") localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, chosen);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  for (const changed of watchers) changed();
}

export function useTheme(): Theme {
  return useSyncExternalStore((changed) => {
    watchers.add(changed);
    return () => watchers.delete(changed);
  }, theme);
}

/** Whether the page is dark right now, and again whenever that changes. */
export function useIsDark(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const media = matchMedia("(prefers-color-scheme: dark)");
      media.addEventListener("change", changed);
      watchers.add(changed);
      return () => {
        media.removeEventListener("change", changed);
        watchers.delete(changed);
      };
    },
    () =>
      theme() === "dark" ||
      (theme() === "system" && matchMedia("(prefers-color-scheme: dark)").matches),
  );
}
