/** How far came what a search found, step by step; every bar is measured against the first. */

import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { percent, whole } from "@/kit";
import { texts } from "@/texts/funnel";
import "./funnel.css";

export type Funnel = Schemas["FunnelOut"];

type Step = Exclude<keyof Funnel, "search_id" | "companies">;

const LEADS = "/curate/companies";
/** The steps in their order, with the filter that shows what is in each. */
const STEPS: readonly { step: Step; filter: string }[] = [
  { step: "places", filter: "" },
  { step: "websites", filter: "website:known" },
  { step: "emails", filter: "email_kind:known" },
  { step: "named_people", filter: "email_kind:equal:person" },
  { step: "contacted", filter: "lead_status:one_of:Contacted,Replied,Won,Lost" },
  { step: "won", filter: "lead_status:equal:Won" },
];

export function LeadFunnel({ funnel, compact }: { funnel: Funnel; compact?: boolean }) {
  const most = Math.max(1, funnel.places);
  return (
    <ol className={`lead-funnel ${compact ? "compact" : ""}`}>
      {STEPS.map(({ step, filter }) => {
        const share = funnel[step] / most;
        const found = [`search_id:equal:${funnel.search_id}`, filter].filter(Boolean);
        const query = new URLSearchParams(found.map((one) => ["filter", one]));
        return (
          <li key={step}>
            <Link to={`${LEADS}?${query}`}>{texts.funnel.steps[step]}</Link>
            <span className="lead-bar" aria-hidden="true">
              <span className={step} style={{ width: `${share * 100}%` }} />
            </span>
            <span className="number">{whole(funnel[step])}</span>
            {!compact && (
              <span className="number small faint">{step !== "places" && percent(share)}</span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
