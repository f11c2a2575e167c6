/**
 * Keys: each screen says which it knows and what they do; the map at `?` is made from that.
 * A key is written as it is pressed ("j", "?", "Escape", "Shift+j", "Mod+a"), and two in a
 * row with a space between ("g p"). `Mod` is Cmd on a Mac and Ctrl elsewhere.
 */
import { useEffect, useMemo, useRef, useSyncExternalStore } from "react";

export interface Key {
  keys: string | readonly string[];
  does: string;
  run: (event: KeyboardEvent) => void;
  /** Works while typing into a field, too. */
  whileTyping?: boolean;
  /** Not listed in the map. */
  unlisted?: boolean;
}

interface Section {
  name: string;
  keys: readonly Key[];
}

const SEQUENCE_MS = 900;
let sections: readonly Section[] = [];
const watchers = new Set<() => void>();

function change(next: readonly Section[]): void {
  sections = next;
  for (const changed of watchers) changed();
}

/** Make keys work while the component is there; the newest section wins. */
export function useKeys(name: string, keys: readonly Key[], enabled = true): void {
  const newest = useRef(keys);
  useEffect(() => {
    newest.current = keys;
  });
  const shape = keys.map((key) => `${key.keys}:${key.does}`).join("|");
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another set of keys is a change; what they run is read when pressed.
  const section = useMemo<Section>(
    () => ({
      name,
      keys: keys.map((key, place) => ({
        ...key,
        run: (event) => newest.current[place]?.run(event),
      })),
    }),
    [name, shape],
  );
  useEffect(() => {
    if (!enabled) return;
    change([...sections, section]);
    return () => change(sections.filter((other) => other !== section));
  }, [section, enabled]);
}

export function useKeySections(): readonly Section[] {
  return useSyncExternalStore(
    (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    () => sections,
  );
}

export function written(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? "Mod+" : "";
  const isLetter = event.key.length === 1;
  const shift = event.shiftKey && (!isLetter || /[a-z]/i.test(event.key)) ? "Shift+" : "";
  const alt = event.altKey ? "Alt+" : "";
  const key = event.key === " " ? "Space" : isLetter ? event.key.toLowerCase() : event.key;
  return `${mod}${alt}${shift}${key}`;
}

/** Find the key that is meant; the section that came last is asked first. */
export function find(
  pressed: string,
  before: string,
  all: readonly Section[],
): Key | "wait" | null {
  const both = before ? `${before} ${pressed}` : pressed;
  let isStart = false;
  for (const section of [...all].reverse()) {
    for (const key of section.keys) {
      const names = typeof key.keys === "string" ? [key.keys] : key.keys;
      if (names.includes(both)) return key;
      isStart ||= names.some((name) => name.startsWith(`${both} `));
    }
  }
  if (isStart) return "wait";
  return before ? find(pressed, "", all) : null;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  if (target instanceof HTMLInputElement) {
    return !["checkbox", "radio", "button", "submit", "range"].includes(target.type);
  }
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Listen to the keyboard; called once by the page. */
export function listenToKeys(): () => void {
  let before = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  function pressed(event: KeyboardEvent) {
    if (event.defaultPrevented || event.isComposing) return;
    if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
    // A dialog is alone while it is open: its own keys work, those below it do not.
    if (document.querySelector("dialog[open]") && event.key !== "?") return;
    const key = find(written(event), before, sections);
    clearTimeout(timer);
    before = "";
    if (key === null) return;
    if (key === "wait") {
      if (isTyping(event.target)) return;
      before = written(event);
      timer = setTimeout(() => {
        before = "";
      }, SEQUENCE_MS);
      return;
    }
    if (isTyping(event.target) && !key.whileTyping) return;
    event.preventDefault();
    key.run(event);
  }
  window.addEventListener("keydown", pressed);
  return () => {
    clearTimeout(timer);
    window.removeEventListener("keydown", pressed);
  };
}
