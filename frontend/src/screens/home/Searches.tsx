/** What the latest searches brought, and the one next step for each. */
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { Empty, Panel, Status, Time } from "@/kit";
import { kindOf, searchScreen } from "@/screens/search/data";
import { FindContacts } from "@/screens/search/FindContacts";
import { LeadFunnel } from "@/screens/search/LeadFunnel";
import { texts } from "@/texts/home";

export function Searches({ searches }: { searches: readonly Schemas["SearchYield"][] }) {
  return (
    <Panel title={texts.home.searches} about={texts.home.searchesAbout} flush>
      {searches.length === 0 ? (
        <Empty icon="search" title={texts.home.noSearches}>
          {texts.home.noSearchesText}
        </Empty>
      ) : (
        <ul className="home-searches">
          {searches.map(({ id, business_type, source, location, status, created_at, funnel }) => (
            <li key={id}>
              <div className="row apart">
                <Link to={searchScreen(id, source)} className="cut">
                  <strong className="foreign">{kindOf({ business_type, source })}</strong>{" "}
                  <span className="soft foreign">{location}</span>
                </Link>
                {status === "Completed" ? (
                  <span className="small faint">
                    <Time at={created_at} />
                  </span>
                ) : (
                  <Status status={status} />
                )}
              </div>
              {funnel.companies === 0 && (funnel.places > 0 || status !== "Completed") ? (
                // Zeros would say that nothing was found.
                <p className="small soft">
                  {funnel.places > 0 && texts.home.soonCompanies(funnel.places)}
                </p>
              ) : (
                <LeadFunnel funnel={funnel} compact />
              )}
              <FindContacts searchId={id} small />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
