import { Failure, money, plural, Spinner, short } from "@/kit";
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
        <Spinner /> Working out the price…
      </p>
    );
  }
  const isFree = sum.priceHigh === 0 || (sum.priceHigh === null && sum.priceLow === 0);
  const capped = budget !== null && (sum.priceHigh === null || sum.priceHigh > budget * count);
  return (
    <div className="estimate" role="status" aria-busy={isPending}>
      <dl>
        <div>
          <dt>Searches</dt>
          <dd className="number">{count}</dd>
        </div>
        <div>
          <dt>Requests</dt>
          <dd className="number">{between(sum.low, sum.high, short)}</dd>
        </div>
        <div>
          <dt>Price</dt>
          <dd className={`number ${isFree ? "good" : ""}`}>
            {isFree
              ? "free"
              : between(sum.priceLow, sum.priceHigh, (value) => money(value, sum.currency))}
          </dd>
        </div>
      </dl>
      <ul className="small soft">
        {sum.free > 0 && <li>plus {plural(sum.free, "free request")}</li>}
        {capped && budget !== null && (
          <li>Stops at {money(budget, sum.currency)} per search, whatever is left.</li>
        )}
        {sum.notes.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </div>
  );
}

function between(low: number, high: number | null, write: (value: number) => string): string {
  if (high === null) return `at least ${write(low)}`;
  return low === high ? write(low) : `${write(low)} – ${write(high)}`;
}
