/** Everything that is known of a record, as people read it. */
import type { ReactNode } from "react";
import { type Kind, kindNamed, recordScreen } from "@/api/kinds";
import { Link } from "@/app/router";
import {
  bytes,
  causeOf,
  hasWords,
  percent,
  phoneShown,
  Status,
  Sureness,
  said,
  Time,
  valueWord,
  whole,
  wordOf,
} from "@/kit";
import { day } from "@/kit/format";
import { texts } from "@/texts/record";
import { Address } from "./Cell";
import { fieldWord } from "./filters";
import { type DetailAnswer, list, type Row, readable, webAddress } from "./model";
import { reasonSaid } from "./standing";

const NOT_FACTS = new Set(["id", "created_by", "updated_at", "priority", "etag", "last_modified"]);

interface FactsProps {
  kind: Kind;
  record: Row;
  related: DetailAnswer["related"];
}

export function Facts({ kind, record, related }: FactsProps) {
  // What stands above already is not said again.
  const above = new Set([kind.status, kind.stageStatus, kind.error]);
  const rest = Object.keys(record).filter(
    (field) => !kind.facts.includes(field) && !NOT_FACTS.has(field) && !field.endsWith("_id"),
  );
  const shown = [...kind.facts, ...rest].filter(
    (field) => !above.has(field) && isKnown(record[field]) && record[field] !== kind.label(record),
  );
  return (
    <>
      <dl className="facts">
        {shown.map((field) => (
          <div key={field}>
            <dt>{fieldWord(field)}</dt>
            <dd className="foreign">
              <Value value={record[field]} field={field} />
            </dd>
          </div>
        ))}
      </dl>
      {Object.entries(related).map(([name, links]) => {
        const other = kindNamed(name);
        if (!links.length) return null;
        return (
          <section key={name} className="related">
            <h3>{other?.title ?? fieldWord(name)}</h3>
            <ul>
              {links.map((link) => (
                <li key={link.id} className="cut">
                  <Link to={recordScreen(name, link.id)}>
                    <span className="foreign">{link.label ?? link.id}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
    </>
  );
}

function isKnown(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return false;
  return typeof value !== "object" || Object.keys(value).length > 0;
}

/** `no_such_domain` is for machines. */
const CODE = /^[a-z]+(_[a-z]+)+$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT/;
/** Whose values are one of a few words. */
const WORDS = new Set(["found_by", "sitemap_type", "source"]);
const SIZES = new Set(["bytes", "size_bytes", "wire_bytes"]);
const SHARES = new Set(["contact_likelihood"]);

/** The verdict of a validation has a line of its own: whether mail arrives. */
function Value({ value, field }: { value: unknown; field: string }): ReactNode {
  if (field === "hours") return <Hours hours={value} />;
  if (field === "phones" && !Array.isArray(value)) return <Phones phones={value} />;
  if (field === "social_links") return <Several values={Object.values(value ?? {})} />;
  if (field === "phone" && typeof value === "string") return phoneShown(value);
  if (field === "categories") return list(value).map(readable).join(", ");
  if (Array.isArray(value)) return <Several values={value} />;
  if (field === "validation" && value) return <Parts parts={{ ...value, verdict: null }} />;
  if (value && typeof value === "object") return <Parts parts={value} />;
  if (typeof value === "boolean") return value ? texts.facts.yes : texts.facts.no;
  if (typeof value === "number" && field === "confidence") return <Sureness share={value} />;
  if (typeof value === "number") return amount(value, field);
  const written = String(value);
  if (field === "decision_maker_reason") return reasonSaid(written);
  if (DAY.test(written)) return day(written);
  if (TIME.test(written)) return <Time at={written} />;
  if (field.endsWith("status")) return <Status status={written} field={field} />;
  if (field === "deliverability") return <Status status={written} field={field} />;
  if (hasWords(field)) return valueWord(written, field);
  if (WORDS.has(field)) return wordOf(written);
  if (field.endsWith("error")) return causeOf(written);
  if (CODE.test(written)) return readable(written);
  return webAddress(written) ? <Address value={written} full /> : written;
}

function amount(value: number, field: string): string {
  if (SHARES.has(field)) return percent(value);
  if (SIZES.has(field)) return bytes(value);
  if (field === "fetch_ms") return texts.facts.ms(whole(value));
  return Number.isInteger(value) && !field.endsWith("status") ? whole(value) : String(value);
}

function Several({ values }: { values: readonly unknown[] }) {
  const lines = list(values);
  if (lines.length === values.length && lines.every((one) => one.length < 24)) {
    return lines.join(", ");
  }
  return (
    <ul>
      {values.map((one, place) => (
        <li key={place}>
          {typeof one === "string" && webAddress(one) ? (
            <Address value={one} full />
          ) : (
            causeOf(said(one))
          )}
        </li>
      ))}
    </ul>
  );
}

/** Whether a key is a name that has a word; an address, for one, stays as it is written. */
const isName = (key: string): boolean => /^\w+$/.test(key);

/** An object, one part a line; what lies deeper is said in a line of its own. */
function Parts({ parts }: { parts: object }) {
  const { text } = parts as { text?: unknown };
  if (typeof text === "string") return text;
  return (
    <dl className="facts inner">
      {Object.entries(parts)
        .filter(([, one]) => isKnown(one))
        .map(([name, one]) => (
          <div key={name}>
            <dt className="foreign">{isName(name) ? fieldWord(name) : name}</dt>
            <dd className="foreign">
              {one && typeof one === "object" && !Array.isArray(one) ? (
                said(one)
              ) : (
                <Value value={one} field={name} />
              )}
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** Every number, with what the page called it and how it wrote it. */
function Phones({ phones }: { phones: unknown }) {
  return (
    <ul>
      {Object.entries((phones ?? {}) as Record<string, Record<string, unknown>>).map(
        ([number, { kind, written }]) => (
          <li key={number}>
            {number}
            <div className="small soft">
              {[kind && wordOf(String(kind)), written && texts.facts.written(String(written))]
                .filter(Boolean)
                .join(", ")}
            </div>
          </li>
        ),
      )}
    </ul>
  );
}

const DAYS: Record<string, string> = texts.facts.days;
const IN_ORDER = Object.keys(DAYS);

/** When it is open, the days in their order. */
function Hours({ hours }: { hours: unknown }) {
  const days = Object.entries((hours ?? {}) as Record<string, unknown>).sort(
    ([one], [other]) => IN_ORDER.indexOf(one) - IN_ORDER.indexOf(other),
  );
  return (
    <dl className="facts inner">
      {days.map(([name, spans]) => (
        <div key={name}>
          <dt>{DAYS[name] ?? wordOf(name)}</dt>
          <dd>{opened(spans)}</dd>
        </div>
      ))}
    </dl>
  );
}

function opened(spans: unknown): string {
  if (!Array.isArray(spans)) return said(spans);
  return spans.map((span) => list(span).join(" – ")).join(", ") || texts.facts.closed;
}
