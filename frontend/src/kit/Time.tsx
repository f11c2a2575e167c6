/** A time as people say it; the exact one shows on hovering. One clock ticks for all. */
import { useSyncExternalStore } from "react";
import { exact, relative } from "./format";

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
  /** It is still to come. What has happened is never "in 4 s", whatever the clocks say. */
  isPlanned?: boolean;
}

export function Time({ at, isPlanned = false }: TimeProps) {
  const current = useSyncExternalStore(tick, () => now);
  if (!at) return <span className="faint">–</span>;
  const then = new Date(at).getTime();
  const reference = new Date(isPlanned ? Date.now() : Math.max(current, then));
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at, reference)}
    </time>
  );
}
