/** A record on a phone: who it is, and how to reach them with a thumb. */
import { type Column, type Kind, written } from "@/api/kinds";
import { Link } from "@/app/router";
import { Icon, phoneShown, Status } from "@/kit";
import { texts } from "@/texts/curate";
import { otherOwner, type Row, text } from "./model";
import "./lead.css";

interface LeadRowProps {
  kind: Kind;
  row: Row;
  /** Where its name leads to; in a list the row itself is opened. */
  to?: string;
}

export function LeadRow({ kind, row, to }: LeadRowProps) {
  const shownAs = (show: Column["show"]) => kind.columns.find((column) => column.show === show);
  const person = shownAs("person");
  const phone = text(row[shownAs("phone")?.field ?? ""]);
  const email = text(row[shownAs("email")?.field ?? "email"]);
  const whose = otherOwner(row);
  const who = person ? written(row, [person.field, ...person.under]).join(", ") : "";
  return (
    <>
      <span className="grow lead-lines">
        <span className="row apart">
          {to ? (
            <Link to={to} className="foreign cut strong">
              {kind.label(row)}
            </Link>
          ) : (
            <span className="foreign cut strong">{kind.label(row)}</span>
          )}
          <Status status={text(row[kind.status])} field={kind.status} />
        </span>
        {person && <span className="foreign cut small">{who || kind.under(row)}</span>}
        <span className="small soft lead-reach">
          {phone ? (
            <span className="number">{phoneShown(phone)}</span>
          ) : (
            // Where nobody is known, it stands in the line above.
            (who || !person) && <span className="foreign cut">{kind.under(row)}</span>
          )}
          {whose && (
            <span className="foreign cut" title={texts.reach.addressOf(whose)}>
              <Icon name="mail" size={12} /> {whose}
            </span>
          )}
        </span>
      </span>
      {phone && (
        <a
          className="button square thumb"
          href={`tel:${phone}`}
          aria-label={texts.reach.call(phoneShown(phone))}
          onClick={(event) => event.stopPropagation()}
        >
          <Icon name="phone" />
        </a>
      )}
      {email && (
        <a
          className="button square thumb"
          href={`mailto:${email}`}
          aria-label={texts.reach.write(email)}
          onClick={(event) => event.stopPropagation()}
        >
          <Icon name="mail" />
        </a>
      )}
    </>
  );
}
