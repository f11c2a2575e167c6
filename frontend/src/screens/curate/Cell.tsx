/** A value of a record as its column shows it. */
import type { ReactNode } from "react";
import { type Column, written } from "@/api/kinds";
import { bytes, percent, phoneShown, Status, Sureness, short, Time, valueWord } from "@/kit";
import { FollowUpDay } from "./FollowUp";
import {
  addressShown,
  list,
  number,
  otherOwner,
  type Row,
  readable,
  text,
  webAddress,
} from "./model";
import { isOwn, ownShown } from "./own";
import { Email, Phone, WholeAddress } from "./Reach";

type Shown = (column: Column, row: Row) => ReactNode;

const NUMBERS: readonly Column["show"][] = ["number", "bytes", "share"];

export const isNumber = ({ field, show }: Column): boolean =>
  NUMBERS.includes(show) && field !== "confidence";

const FOLLOW_UP = "follow_up_on";

/** Its width for CSS grid. */
export const widthOf = ({ width, grow }: Column): string =>
  grow ? `minmax(${width}rem, ${grow}fr)` : `${width}rem`;

export function cell(column: Column, row: Row): ReactNode {
  if (column.only_with && !text(row[column.only_with])) return <None />;
  if (column.field === FOLLOW_UP) {
    const day = text(row[FOLLOW_UP]);
    return day ? <FollowUpDay value={day} /> : <None />;
  }
  if (isOwn(column.field)) return <Words value={ownShown(row, column)} />;
  return SHOWN[column.show](column, row);
}

const None = () => <span className="faint">–</span>;

function Words({ value, strong }: { value: string | null; strong?: boolean }) {
  if (!value) return <None />;
  return (
    <span className={`foreign cut ${strong ? "strong" : ""}`} title={value}>
      {value}
    </span>
  );
}

const words: Shown = (column, row) => <Words value={first(column, row)} />;

function first({ field, instead }: Column, row: Row): string | null {
  return written(row, [field, ...instead])[0] ?? null;
}

/** A text as it is, and the first of several in words. */
const saidOf = (row: Row, field: string): string[] =>
  Array.isArray(row[field]) ? list(row[field]).slice(0, 1).map(readable) : written(row, [field]);

/** A name with a smaller line below it. */
const titled: Shown = (column, row) => {
  const name = first(column, row);
  const more = column.under.flatMap((field) => saidOf(row, field)).join(" · ");
  if (!name && !more) return <None />;
  return (
    <span className="two-lines" title={[name, more].filter(Boolean).join("\n")}>
      {name?.includes("@") ? (
        <span className="foreign strong address">
          <WholeAddress value={name} />
        </span>
      ) : (
        name && <span className="foreign cut strong">{phoneShown(name)}</span>
      )}
      {more && <span className="foreign cut small soft">{more}</span>}
    </span>
  );
};

/** Whom to ask for, and below it what they do. */
const person: Shown = (column, row) => {
  const name = first(column, row);
  const role = written(row, column.under).join(", ");
  if (!name && !role) return <None />;
  return (
    <span className="two-lines" title={[name, role].filter(Boolean).join("\n")}>
      {name && <span className="foreign cut strong">{name}</span>}
      {role && <span className="foreign cut small soft">{role}</span>}
    </span>
  );
};

const phone: Shown = ({ field }, row) => {
  const value = text(row[field]);
  return value ? <Phone value={value} inList /> : <None />;
};

/** The address, and whose it is if it is not the person's beside it. */
const email: Shown = (column, row) => {
  const value = text(row[column.field]);
  if (!value) return <None />;
  const whose = otherOwner(row);
  return (
    <span className="two-lines mail">
      <Email
        value={value}
        verdict={text(row.deliverability)}
        reason={[whose, ...written(row, column.under)].filter(Boolean).join("\n")}
        inList
      />
      {whose && <span className="foreign cut soft whose">{whose}</span>}
    </span>
  );
};

/** A number in its own words. */
const counted =
  (say: (value: number) => string): Shown =>
  ({ field }, row) => {
    const value = number(row[field]);
    return value === null ? <None /> : say(value);
  };

const rating: Shown = ({ field }, row) => {
  const stars = number(row[field]);
  if (stars === null) return <None />;
  const reviews = number(row.reviews_count);
  return (
    <span>
      {stars.toFixed(1)}{" "}
      <span className="faint">{reviews === null ? "" : `(${short(reviews)})`}</span>
    </span>
  );
};

const SHOWN: Readonly<Record<Column["show"], Shown>> = {
  text: words,
  title: titled,
  person,
  email,
  phone,
  strong: (column, row) => <Words value={first(column, row)} strong />,
  link: ({ field }, row) => <Address value={row[field]} />,
  word: ({ field }, row) => {
    const value = text(row[field]);
    return value ? <span className="cut">{valueWord(value, field)}</span> : <None />;
  },
  status: ({ field }, row) => <Status status={text(row[field])} field={field} />,
  list: ({ field }, row) => <Words value={list(row[field]).map(readable).join(", ")} />,
  number: counted(short),
  bytes: counted(bytes),
  share: (column, row) => {
    const value = number(row[column.field]);
    if (column.field !== "confidence") return counted(percent)(column, row);
    return value === null ? <None /> : <Sureness share={value} />;
  },
  rating,
  time: ({ field }, row) => <Time at={text(row[field])} />,
};

/** An address from elsewhere: opened in its own tab, which learns nothing of this page. */
export function Address({ value, full }: { value: unknown; full?: boolean }) {
  const said = text(value);
  if (!said) return <None />;
  const href = webAddress(said);
  const shown = full ? said : addressShown(said);
  const whole = full ? undefined : said;
  if (!href) {
    return (
      <span className="foreign cut" title={whole}>
        {said}
      </span>
    );
  }
  return (
    <a
      className="foreign cut"
      title={whole}
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      tabIndex={full ? 0 : -1}
      onClick={(event) => event.stopPropagation()}
    >
      {shown}
    </a>
  );
}
