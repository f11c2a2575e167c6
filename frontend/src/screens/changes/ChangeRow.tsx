/** One change: of which company, what it was and what it is, and who says so. */
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { Badge, Time } from "@/kit";
import { texts } from "@/texts/changes";

type Change = Schemas["DifferenceOut"];

const TONES: Record<string, string> = {
  new: "good",
  back: "good",
  reopened: "good",
  gone: "bad",
  closed: "bad",
  unreachable: "warn",
  moved: "violet",
  renamed: "violet",
};

export function ChangeRow({ change }: { change: Change }) {
  const name = change.place_name ?? change.domain ?? "";
  const to = change.company_id ? `/curate/companies?open=${change.company_id}` : null;
  return (
    <li>
      <span className="changes-what">
        <Badge tone={TONES[change.what] ?? "accent"}>{texts.what[change.what]}</Badge>
      </span>
      <div className="grow">
        <p className="row wrap">
          {to ? (
            <Link to={to}>
              <strong className="foreign">{name}</strong>
            </Link>
          ) : (
            <strong className="foreign">{name}</strong>
          )}
          {change.field && (
            <span className="soft">{texts.field[change.field] ?? change.field}</span>
          )}
        </p>
        {change.field ? <Values change={change} /> : <Whole change={change} />}
      </div>
      <span className="small faint">
        <Time at={change.at} />
      </span>
    </li>
  );
}

/** Of the whole record only its source is told, and why a website could not be read. */
function Whole({ change }: { change: Change }) {
  const why = change.what === "unreachable" ? change.new_value : null;
  return (
    <p>
      {why && <span className="foreign">{why}</span>} <Source address={change.new_source} />
    </p>
  );
}

/** A value as people read it: the states of a business have words of their own. */
function written(change: Change, value: string): string {
  return change.field === "business_status" ? (texts.status[value] ?? value) : value;
}

function Values({ change }: { change: Change }) {
  return (
    <dl className="changes-values">
      {change.old_value && (
        <div>
          <dt>{texts.screen.was}</dt>
          <dd>
            <del className="foreign">{written(change, change.old_value)}</del>{" "}
            <Source address={change.old_source} />
          </dd>
        </div>
      )}
      {change.new_value && (
        <div>
          <dt>{texts.screen.is}</dt>
          <dd>
            <span className="foreign">{written(change, change.new_value)}</span>{" "}
            <Source address={change.new_source} />
          </dd>
        </div>
      )}
    </dl>
  );
}

/** Where it was seen: a page that can be opened, or the name of a source of places. */
function Source({ address }: { address: string | null }) {
  if (!address) return null;
  const isPage = /^https?:\/\//.test(address);
  return (
    <span className="small faint">
      {texts.screen.from}{" "}
      {isPage ? (
        <a href={address} target="_blank" rel="noreferrer noopener" className="foreign">
          {address.replace(/^https?:\/\/(www\.)?/, "")}
        </a>
      ) : (
        address
      )}
    </span>
  );
}
