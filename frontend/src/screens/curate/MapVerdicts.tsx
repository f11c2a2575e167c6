/** What a company's own website says of what the map says: a mark, and all of it in a list. */
import { Icon, Sureness, valueWord } from "@/kit";
import { texts } from "@/texts/record";
import { Address } from "./Cell";
import { fieldWord } from "./filters";
import { marked } from "./marked";
import type { MapVerdict } from "./model";

const MARKS = {
  confirmed: { icon: "check", tone: "good" },
  contradicted: { icon: "cross", tone: "bad" },
} as const;

interface MarkProps {
  verdicts: readonly MapVerdict[];
  field: MapVerdict["field"];
}

/** A tick or a cross beside a value; nothing where the website does not say. */
export function MapMark({ verdicts, field }: MarkProps) {
  const found = verdicts.find((one) => one.field === field);
  const mark = found && MARKS[found.verdict as keyof typeof MARKS];
  if (!found || !mark) return null;
  const words = texts.verdicts.mark(found.verdict === "confirmed", found.said);
  return (
    <span className={`verdict ${mark.tone}`} title={words} data-map={found.verdict}>
      <Icon name={mark.icon} size={14} />
      <span className="unseen foreign">{words}</span>
    </span>
  );
}

/** Every field that the map gives, with the verdict, the reason and where it stands. */
export function MapVerdicts({ verdicts }: { verdicts: readonly MapVerdict[] }) {
  return (
    <ol className="evidence">
      {verdicts.map((one) => (
        <li key={one.field}>
          <div className="row apart">
            <strong>
              {fieldWord(one.field)}: {texts.verdicts.words[one.verdict]}
            </strong>
            {one.url && (
              <span className="small faint">
                <Sureness share={one.confidence} />
              </span>
            )}
          </div>
          <div className="foreign">
            {texts.verdicts.claimed(valueWord(one.source, "source"))} {one.claimed}
          </div>
          {one.said && (
            <div className="foreign">
              {texts.verdicts.said} {one.said}
            </div>
          )}
          {one.snippet && (
            <blockquote className="foreign small">
              {marked(one.snippet, one.said).map((part, at) =>
                part.isMark ? <mark key={at}>{part.text}</mark> : <span key={at}>{part.text}</span>,
              )}
            </blockquote>
          )}
          <div className="small faint row wrap">
            <span>{one.why}</span>
            {one.url && <Address value={one.url} full />}
          </div>
        </li>
      ))}
    </ol>
  );
}
