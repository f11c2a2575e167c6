/** The people of a business, the one who decides first. */
import { Sureness } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/record";
import { Address } from "./Cell";
import type { PersonItem } from "./model";
import { Email, Phone } from "./Reach";
import { decidesBecause, reasonSaid } from "./standing";

export function People({ people }: { people: readonly PersonItem[] }) {
  if (!people.length) return null;
  return (
    <section className="related people">
      <h3>{common.people}</h3>
      <ul>
        {people.map((person) => (
          <li key={person.id} title={reasonSaid(person.reason)}>
            <div className="row apart">
              <span className="foreign">
                <strong>{person.name}</strong>
                {person.role && `, ${person.role}`}
              </span>
              <Sureness share={person.confidence} />
            </div>
            {person.is_decision_maker && (
              <p className="small soft foreign">{decidesBecause(person.reason)}</p>
            )}
            {person.reach?.kind === "suggestion" && (
              <p className="small soft foreign">
                {texts.people.suggestion(person.reach.value, person.reach.reason)}
              </p>
            )}
            {person.reach?.kind === "shared_inbox" && (
              <p className="small soft foreign">
                {texts.people.sharedInbox(person.reach.value, person.reach.reason)}
              </p>
            )}
            <div className="small row wrap foreign">
              {person.email && <Email value={person.email} verdict={null} />}
              {person.phone && <Phone value={person.phone} />}
              {person.page_url && <Address value={person.page_url} full />}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
