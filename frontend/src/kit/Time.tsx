/** A time as people say it; the exact one shows on hovering. One clock ticks for all. */
import { useSyncExternalStore } from "react";
import { exact, past, relative } from "./format";

let now = Date.now();
const watchers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(changed: () => void): () => void {
  watchers.add(changed);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const watcher of watchers) watcher();
  }, 5000);
  return () => {
    watchers.delete(changed);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

interface TimeProps {
  at: string | null | undefined;
  /** It is still to come. */
  isPlanned?: boolean;
}

export function Time({ at, isPlanned = false }: TimeProps) {
  const current = useSyncExternalStore(tick, () => now);
  if (!at) return <span className="faint">–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {isPlanned ? relative(at) : past(at, current)}
    </time>
  );
}
