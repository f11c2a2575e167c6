import { kinds } from "@/api/kinds";
import type { KindCount } from "@/api/pipeline";
import { Link } from "@/app/router";
import { Panel, short, whole } from "@/kit";

/** How many records came how far; each bar is measured against the largest. */
export function Funnel({ counts }: { counts: Partial<Record<string, KindCount>> }) {
  const totals = kinds().map(({ name }) => counts[name]?.total ?? 0);
  const most = Math.max(1, ...totals);
  return (
    <Panel title="Funnel" about="Records so far, and how many are decided">
      <ol className="funnel">
        {kinds().map((kind, place) => {
          const total = totals[place] ?? 0;
          const chosen = total - (counts[kind.name]?.byStatus[kind.undecided] ?? 0);
          return (
            <li key={kind.name}>
              <Link to={kind.screen}>{kind.title}</Link>
              <div
                className="funnel-bar"
                role="img"
                aria-label={`${whole(total)} ${kind.many}, ${whole(chosen)} of them decided`}
              >
                <span className="all" style={{ width: `${scaled(total, most)}%` }}>
                  <span
                    className="chosen"
                    style={{ width: `${total ? (chosen / total) * 100 : 0}%` }}
                  />
                </span>
              </div>
              <span className="number">{short(total)}</span>
            </li>
          );
        })}
      </ol>
      <p className="small faint funnel-legend">
        <span className="key chosen" /> decided <span className="key all" /> new; bars use a
        logarithmic scale
      </p>
    </Panel>
  );
}

/** Thousands of pages beside a dozen places: by their logarithm both stay in sight. */
export function scaled(value: number, most: number): number {
  return value > 0 ? Math.max(3, (Math.log1p(value) / Math.log1p(most)) * 100) : 0;
}
