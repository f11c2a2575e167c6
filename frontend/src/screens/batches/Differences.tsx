/** What a file says otherwise than is known, before it is imported: what stays, what changes. */
import { kindNamed, recordScreen } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { Link } from "@/app/router";
import { Checkbox, plural, Table, whole } from "@/kit";
import { fieldWord } from "@/screens/curate/filters";
import { texts } from "@/texts/batches";

const MOST_SHOWN = 20;
/** What belongs to a contact is never replaced by a file. */
const OF_CONTACTS = ["person", "role"];

interface DifferencesProps {
  look: Schemas["FileLookOut"];
  replaces: boolean;
  onReplace: (replaces: boolean) => void;
}

export function Differences({ look, replaces, onReplace }: DifferencesProps) {
  const { known_companies: known, differences, differences_count: count } = look;
  const kind = kindNamed("companies");
  const staysOf = ({ field, is_kept }: Schemas["KnownDifferenceOut"]) =>
    is_kept && (!replaces || OF_CONTACTS.includes(field));
  return (
    <section className="stack" aria-label={texts.differences.title}>
      <p role="status">
        {texts.differences.found(plural(known, kind?.one ?? "", kind?.many), count)}
      </p>
      {count > 0 && (
        <>
          <Checkbox
            label={texts.differences.replaceKnownValues}
            checked={replaces}
            onChange={({ target }) => onReplace(target.checked)}
          />
          <Table
            label={texts.differences.title}
            rows={differences.slice(0, MOST_SHOWN).map((one, place) => ({ ...one, place }))}
            keyOf={({ place }) => String(place)}
            columns={[
              {
                name: texts.differences.company,
                show: ({ company, company_id }) => (
                  <Link to={recordScreen("companies", company_id)} target="_blank">
                    <span className="foreign">{company ?? texts.differences.unnamed}</span>
                  </Link>
                ),
              },
              { name: texts.differences.field, show: ({ field }) => fieldWord(field) },
              {
                name: texts.differences.known,
                show: (one) => <Value value={one.known} isShown={staysOf(one)} />,
              },
              {
                name: texts.differences.inTheFile,
                show: (one) => <Value value={one.imported} isShown={!staysOf(one)} />,
              },
            ]}
          />
          {count > MOST_SHOWN && (
            <p className="small soft">{texts.differences.andMore(whole(count - MOST_SHOWN))}</p>
          )}
        </>
      )}
    </section>
  );
}

/** One of two values: the one that is shown after the import is the strong one. */
function Value({ value, isShown }: { value: string | null; isShown: boolean }) {
  if (value === null) return <span className="faint">–</span>;
  return (
    <span className={isShown ? "foreign" : "foreign soft"}>
      {isShown ? <strong>{value}</strong> : value}{" "}
      {isShown && <span className="unseen">{texts.differences.isShown}</span>}
    </span>
  );
}
