/** One change: of which company, what it was and what it is, and who says so. */
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { Badge, Time, valueWord } from "@/kit";
import { phoneShown } from "@/kit/phone";
import { fieldWord } from "@/screens/curate/filters";
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
  const name = change.company_name ?? change.place_name ?? change.domain ?? "";
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
            <span className="soft">{texts.field[change.field] ?? fieldWord(change.field)}</span>
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
function Whole({ change: { what, new_value: why, new_source: source } }: { change: Change }) {
  const onSource = texts.onSource[what];
  if (onSource && source && !isPage(source)) {
    return <p className="soft">{onSource(valueWord(source, "source"))}</p>;
  }
  return (
    <p>
      {what === "unreachable" && why && <span className="foreign">{why}</span>}{" "}
      <Source address={source} />
    </p>
  );
}

/** A value as people read it: numbers are spaced, and codes have words of their own. */
function written({ field }: Change, value: string): string {
  if (field === "business_status") return texts.status[value] ?? value;
  if (field === "phone" || field === "fax") return phoneShown(value);
  return value;
}

const isPage = (address: string): boolean => /^https?:\/\//.test(address);

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
  return (
    <span className="small faint">
      {texts.screen.from}{" "}
      {isPage(address) ? (
        <a href={address} target="_blank" rel="noreferrer noopener" className="foreign">
          {address.replace(/^https?:\/\/(www\.)?/, "")}
        </a>
      ) : (
        valueWord(address, "source")
      )}
    </span>
  );
}
