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

export function Time({ at }: { at: string | null | undefined }) {
  const current = useSyncExternalStore(tick, () => now);
  if (!at) return <span className="faint">–</span>;
  const reference = new Date(Math.max(current, Date.now() - 5000));
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at, reference)}
    </time>
  );
}
