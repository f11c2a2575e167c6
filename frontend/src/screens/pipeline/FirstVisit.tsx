import { Link } from "@/app/router";
import { Icon } from "@/kit";

/** An empty system explains itself. */
export function FirstVisit() {
  return (
    <section className="first panel" aria-label="Welcome">
      <span className="empty-icon">
        <Icon name="bolt" size={26} />
      </span>
      <div className="grow">
        <h2>Welcome. Nothing is here yet.</h2>
        <p className="soft">
          A search finds businesses; ScraperSky follows each to its website and brings back contacts
          with the source of every value. Between the steps you decide what is worth it.
        </p>
      </div>
      <Link to="/search" className="button primary">
        Start a search
      </Link>
    </section>
  );
}
