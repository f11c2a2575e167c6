import { kinds } from "@/api/kinds";
import type { KindCount } from "@/api/pipeline";
import { Link } from "@/app/router";
import { Panel, short, whole } from "@/kit";
import { texts } from "@/texts/pipeline";

/** How many records came how far; each bar is measured against the largest. */
export function Funnel({ counts }: { counts: Partial<Record<string, KindCount>> }) {
  const totals = kinds().map(({ name }) => counts[name]?.total ?? 0);
  const most = Math.max(1, ...totals);
  return (
    <Panel title={texts.funnel.funnel} about={texts.funnel.recordsSoFar}>
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
                aria-label={texts.funnel.ofThemDecided(whole(total), kind.many, whole(chosen))}
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
        <span className="key chosen" /> {texts.funnel.decided} <span className="key all" />{" "}
        {texts.funnel.newBarsUseALogarithmicScale}
      </p>
    </Panel>
  );
}

/** Thousands of pages beside a dozen places: by their logarithm both stay in sight. */
export function scaled(value: number, most: number): number {
  return value > 0 ? Math.max(3, (Math.log1p(value) / Math.log1p(most)) * 100) : 0;
}
