/** A calling card: whom to ask for, how, and why we think so; everything else is folded away. */
import type { ReactNode } from "react";
import { type Kind, recordScreen } from "@/api/kinds";
import { Link } from "@/app/router";
import { Icon, valueWord } from "@/kit";
import { FILE } from "@/screens/search/data";
import { texts } from "@/texts/record";
import { Facts } from "./Facts";
import { InCrm } from "./InCrm";
import { MapMark, MapVerdicts } from "./MapVerdicts";
import { type DetailAnswer, list, type MapVerdict, type Row, text } from "./model";
import { People } from "./People";
import { Email, Phone } from "./Reach";
import { decidesBecause, isImported } from "./standing";
import { Timeline } from "./Timeline";

interface LeadCardProps {
  record: Row;
  detail: DetailAnswer;
}

export function LeadCard({ record, detail }: LeadCardProps) {
  const tags = list(record.tags);
  return (
    <div className="lead-card">
      <Person record={record} />
      <PhoneLine record={record} detail={detail} />
      <EmailLine record={record} />
      <PlaceLine record={record} detail={detail} />
      <InCrm id={record.id} version={record.updated_at} />
      {text(record.notes) && <p className="lead-note foreign">{text(record.notes)}</p>}
      {tags.length > 0 && (
        <p className="row wrap">
          {tags.map((tag) => (
            <span key={tag} className="badge quiet foreign">
              {tag}
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

/** The rest of what is known, folded, and what has happened. */
export function LeadStory({ kind, record, detail }: LeadCardProps & { kind: Kind }) {
  const best = text(record.email);
  const contacts = (detail.related.contacts ?? []).filter(({ label }) => label !== best);
  const verdicts = detail.verdicts ?? [];
  const others = (detail.people ?? []).filter(({ name }) => name !== text(record.decision_maker));
  return (
    <>
      <div className="folds">
        {others.length > 0 && (
          <Fold name={texts.card.morePeople(others.length)}>
            <People people={others} />
          </Fold>
        )}
        {contacts.length > 0 && (
          <Fold name={texts.card.moreAddresses(contacts.length)}>
            <ul>
              {contacts.map(({ id, label }) => (
                <li key={id} className="cut">
                  <Link to={recordScreen("contacts", id)}>
                    <span className="foreign">{label ?? id}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </Fold>
        )}
        {verdicts.length > 0 && (
          <Fold name={texts.verdicts.title(verdicts.filter(isContradicted).length)}>
            <MapVerdicts verdicts={verdicts} />
          </Fold>
        )}
        <Fold name={texts.card.allFacts}>
          <Facts kind={kind} record={record} related={{ ...detail.related, contacts: [] }} />
        </Fold>
      </div>
      <Timeline id={record.id} version={record.updated_at} />
    </>
  );
}

const isContradicted = ({ verdict }: MapVerdict) => verdict === "contradicted";

function Fold({ name, children }: { name: string; children: ReactNode }) {
  return (
    <details>
      <summary>{name}</summary>
      <div className="fold">{children}</div>
    </details>
  );
}

function Person({ record }: { record: Row }) {
  const name = text(record.decision_maker);
  const role = text(record.decision_maker_role);
  if (!name) return <p className="small soft">{texts.card.nobodyIsNamed}</p>;
  return (
    <div className="lead-line">
      <Icon name="contact" />
      <div className="grow">
        <strong className="lead-person foreign">{name}</strong>
        {role && <div className="small soft foreign">{role}</div>}
        <div className="small faint foreign">
          {decidesBecause(text(record.decision_maker_reason))}
        </div>
      </div>
    </div>
  );
}

function PhoneLine({ record, detail }: { record: Row; detail: DetailAnswer }) {
  const phone = text(record.phone);
  if (!phone) return null;
  const seen = detail.evidence.filter(({ field }) => field === "phone");
  // The record of a source has no page; its name stands as the method.
  const places = seen.map(({ url, method, snippet }) =>
    valueWord(url ? "website" : isImported(snippet) ? FILE : method, "source"),
  );
  return (
    <div className="lead-line">
      <Icon name="phone" />
      <div className="grow">
        <span className="row">
          <MapMark verdicts={detail.verdicts ?? []} field="phone" />
          <Phone value={phone} />
        </span>
        {seen.length > 0 && (
          <div className="small faint">{texts.card.phoneSeen([...new Set(places)])}</div>
        )}
      </div>
    </div>
  );
}

/** Where letters have the code behind the town. */
const CODE_LAST = /^(?:AU|CA|GB|IE|IN|NZ|US)$/;

/** "20095 Hamburg", or "Bath BA1 1AA": codes with letters stand behind the town, too. */
function townOf(record: Row): string {
  const [code, city] = [text(record.postal_code), text(record.city)];
  const isLast = CODE_LAST.test(text(record.country) ?? "") || /^[A-Z]/i.test(code ?? "");
  return (isLast ? [city, code] : [code, city]).filter(Boolean).join(" ");
}

/** Where the company is; the mark says whether its website has the same address. */
function PlaceLine({ record, detail }: { record: Row; detail: DetailAnswer }) {
  const parts = [text(record.street), townOf(record)].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <div className="lead-line">
      <Icon name="place" />
      <span className="row grow">
        <MapMark verdicts={detail.verdicts ?? []} field="address" />
        <span className="foreign">{parts.join(", ")}</span>
      </span>
    </div>
  );
}

function EmailLine({ record }: { record: Row }) {
  const email = text(record.email);
  if (!email) return <p className="small soft">{texts.card.noEmail}</p>;
  const whose = text(record.email_person);
  const isOther = whose !== null && whose !== text(record.decision_maker);
  return (
    <div className="lead-line">
      <Icon name="mail" />
      <div className="grow">
        <Email value={email} verdict={text(record.deliverability)} />
        {isOther && (
          <div className="small foreign">
            {texts.card.addressOf([whose, text(record.email_person_role)])}
          </div>
        )}
        <div className="small faint foreign sentence">{text(record.email_reason)}</div>
      </div>
    </div>
  );
}
