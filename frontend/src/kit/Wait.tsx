/** What stands in the place of something that is on its way. */
import { texts } from "@/texts/kit";

export function Spinner() {
  return <span className="spinner" aria-hidden="true" />;
}

export function Skeleton({ lines = 3, height }: { lines?: number; height?: number }) {
  if (height) return <div className="skeleton" style={{ height }} aria-hidden="true" />;
  return (
    <div className="stack" aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        <div
          key={line}
          className="skeleton line"
          style={{ width: `${92 - ((line * 17) % 40)}%` }}
        />
      ))}
    </div>
  );
}

export function Loading({ what = texts.wait.loading }: { what?: string }) {
  return (
    <div className="loading" role="status">
      <Spinner /> <span className="soft">{what}…</span>
    </div>
  );
}
