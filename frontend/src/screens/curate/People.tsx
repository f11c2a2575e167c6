/** The people of a business, the one who decides first. */
import { percent } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/curate";
import { Address } from "./Cell";
import type { PersonItem } from "./model";

export function People({ people }: { people: readonly PersonItem[] }) {
  if (!people.length) return null;
  return (
    <section className="related people">
      <h3>{common.people}</h3>
      <ul>
        {people.map((person) => (
          <li key={person.id} title={person.reason}>
            <div className="row apart">
              <span className="foreign">
                <strong>{person.name}</strong>
                {person.role && `, ${person.role}`}
              </span>
              <span className="small faint number">{percent(person.confidence)}</span>
            </div>
            {person.is_decision_maker && (
              <p className="small soft foreign">{texts.people.decisionMaker(person.reason)}</p>
            )}
            <div className="small row wrap foreign">
              {person.email && <span>{person.email}</span>}
              {person.phone && <span>{person.phone}</span>}
              {person.page_url && <Address value={person.page_url} full />}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
