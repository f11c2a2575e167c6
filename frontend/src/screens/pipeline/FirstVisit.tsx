import { Link } from "@/app/router";
import { Icon, type IconName } from "@/kit";
import { DemoOffer, useDemo } from "./Demo";

const STEPS: readonly { icon: IconName; name: string; text: string }[] = [
  {
    icon: "search",
    name: "Search",
    text: "Enter a business type and a place. You see the cost first.",
  },
  { icon: "check", name: "Decide", text: "Keep what fits at every step, with single keys." },
  { icon: "contact", name: "Export", text: "Contacts, with the source of every value." },
];
/** An empty system explains itself, and offers two ways to begin. */
export function FirstVisit() {
  const demo = useDemo();
  return (
    <section className="first panel" aria-label="Welcome">
      <div className="first-head">
        <h2>Welcome. There is no data yet.</h2>
        <p className="soft">
          A search finds businesses. ScraperSky visits their websites and collects contacts. The
          pipeline below shows each step.
        </p>
      </div>
      <ol className="first-steps">
        {STEPS.map((step) => (
          <li key={step.name}>
            <span className="empty-icon">
              <Icon name={step.icon} size={22} />
            </span>
            <div>
              <h3>{step.name}</h3>
              <p className="small soft">{step.text}</p>
            </div>
          </li>
        ))}
      </ol>
      <div className="first-ways">
        {demo.data?.is_available && <DemoOffer />}
        <div className="first-way">
          <h3>Start a search</h3>
          <p className="small soft">
            OpenStreetMap needs no API key. Only public websites are visited, at a polite pace.
          </p>
          <Link to="/search" className="button">
            Start a search
          </Link>
        </div>
      </div>
    </section>
  );
}
