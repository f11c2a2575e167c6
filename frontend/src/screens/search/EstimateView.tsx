import { Failure, money, Spinner, short } from "@/kit";
import { texts } from "@/texts/search";
import type { Sum } from "./wanted";

interface EstimateProps {
  missing: string | null;
  count: number;
  sum: Sum | null;
  error: unknown;
  isPending: boolean;
  budget: number | null;
}

/** Requests and price before running. */
export function EstimateView({ missing, count, sum, error, isPending, budget }: EstimateProps) {
  if (missing) return <p className="estimate soft">{missing}</p>;
  if (error) return <Failure error={error} />;
  if (!sum) {
    return (
      <p className="estimate soft row" role="status">
        <Spinner /> {texts.estimateView.workingOutThePrice}
      </p>
    );
  }
  const isFree = sum.priceHigh === 0 || (sum.priceHigh === null && sum.priceLow === 0);
  const capped = budget !== null && (sum.priceHigh === null || sum.priceHigh > budget * count);
  return (
    <div className="estimate" role="status" aria-busy={isPending}>
      <dl>
        <div>
          <dt>{texts.estimateView.searches}</dt>
          <dd className="number">{count}</dd>
        </div>
        <div>
          <dt>{texts.estimateView.requests}</dt>
          <dd className="number">{between(sum.low, sum.high, short)}</dd>
        </div>
        <div>
          <dt>{texts.estimateView.price}</dt>
          <dd className={`number ${isFree ? "good" : ""}`}>
            {isFree
              ? texts.estimateView.free
              : between(sum.priceLow, sum.priceHigh, (value) => money(value, sum.currency))}
          </dd>
        </div>
      </dl>
      <ul className="small soft">
        {sum.free > 0 && <li>{texts.estimateView.plus(sum.free)}</li>}
        {capped && budget !== null && (
          <li>{texts.estimateView.stopsAtPerSearch(money(budget, sum.currency))}</li>
        )}
        {sum.notes.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

function between(low: number, high: number | null, write: (value: number) => string): string {
  if (high === null) return texts.estimateView.atLeast(write(low));
  return low === high ? write(low) : `${write(low)} – ${write(high)}`;
}
