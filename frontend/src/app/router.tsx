/**
 * Addresses: where we are, how to go elsewhere, and what stands after the `?`.
 * The browser's history holds the truth; nothing here keeps a copy of it.
 */
import {
  type AnchorHTMLAttributes,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useMemo,
  useSyncExternalStore,
} from "react";

const MOVED = "scrapersky:moved";

interface Going {
  /** Take the place of the address there is, and of what is known about it. */
  replace?: boolean;
  /** What to know when one is here again. */
  state?: string;
}

export function go(address: string, { replace = false, state }: Going = {}): void {
  const now = location.pathname + location.search + location.hash;
  if (address !== now) {
    if (replace) history.replaceState(history.state, "", address);
    else history.pushState(state ?? null, "", address);
    window.dispatchEvent(new Event(MOVED));
  }
  if (!replace) window.scrollTo(0, 0);
}

function listen(changed: () => void): () => void {
  window.addEventListener("popstate", changed);
  window.addEventListener(MOVED, changed);
  return () => {
    window.removeEventListener("popstate", changed);
    window.removeEventListener(MOVED, changed);
  };
}

export function usePath(): string {
  return useSyncExternalStore(listen, () => location.pathname);
}

export type SearchChange = Record<string, string | readonly string[] | null | undefined>;

/** The words after the `?`, and a way to change some of them (null takes one away). */
export function useSearch(): [URLSearchParams, (change: SearchChange, options?: Going) => void] {
  const text = useSyncExternalStore(listen, () => location.search);
  const search = useMemo(() => new URLSearchParams(text), [text]);
  const change = useCallback((wanted: SearchChange, options?: Going) => {
    go(location.pathname + changed(location.search, wanted), { replace: true, ...options });
  }, []);
  return [search, change];
}

export function changed(text: string, wanted: SearchChange): string {
  const search = new URLSearchParams(text);
  for (const [name, value] of Object.entries(wanted)) {
    search.delete(name);
    if (value === null || value === undefined || value === "") continue;
    for (const one of typeof value === "string" ? [value] : value) search.append(name, one);
  }
  const written = search.toString();
  return written ? `?${written}` : "";
}

/** Match `/curate/{kind}` against a path; null when it is another. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  if (wanted.length !== given.length) return null;
  const found: Record<string, string> = {};
  for (const [place, word] of wanted.entries()) {
    const part = given[place] ?? "";
    if (word.startsWith("{")) found[word.slice(1, -1)] = decoded(part);
    else if (word !== part) return null;
  }
  return found;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { to: string; children?: ReactNode };

export function Link({ to, onClick, ...rest }: LinkProps) {
  function follow(event: MouseEvent<HTMLAnchorElement>) {
    onClick?.(event);
    const elsewhere = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || elsewhere || event.button !== 0) return;
    event.preventDefault();
    go(to);
  }
  return <a href={to} onClick={follow} {...rest} />;
}
