/** What waits to be sent; what others have overtaken is asked about, one after the other. */
import type { Entry, Fields } from "@/api/outbox/entry";
import { outbox } from "@/api/outbox/outbox";
import { useEntries } from "@/api/outbox/useOutbox";
import { Button, Dialog, IconButton, said, statusWord, whole, wordOf } from "@/kit";
import { common } from "@/texts/common";
import { texts as values } from "@/texts/values";
import { texts } from "@/texts/waiting";

const MOST_SHOWN = 50;
const FIELDS: Record<string, string> = values.fields;

export default function Waiting({ onClose }: { onClose: () => void }) {
  const entries = useEntries();
  const refused = entries.find(({ refusal }) => refusal);
  const waiting = entries.filter(({ refusal }) => !refusal);
  return (
    <Dialog
      title={texts.changesNotSentYet}
      wide
      onClose={onClose}
      actions={<Button onClick={onClose}>{common.close}</Button>}
    >
      <div className="stack">
        {refused && <Refused key={refused.id} entry={refused} />}
        {waiting.length > 0 && <p>{texts.areSentWhen(waiting.length)}</p>}
        <ul className="stack">
          {waiting.slice(0, MOST_SHOWN).map((entry) => (
            <li key={entry.id} className="row">
              <span className="grow">
                <strong className="foreign">{nameOf(entry)}</strong>{" "}
                <span className="soft">{entry.said}</span>
              </span>
              {entry.tries === 0 && (
                <IconButton
                  icon="cross"
                  small
                  label={texts.discard(nameOf(entry), entry.said)}
                  onClick={() => void outbox.drop(entry.id)}
                />
              )}
            </li>
          ))}
        </ul>
        {waiting.length > MOST_SHOWN && (
          <p className="soft">{texts.andMore(whole(waiting.length - MOST_SHOWN))}</p>
        )}
        {entries.length === 0 && <p role="status">{texts.everythingIsSent}</p>}
      </div>
    </Dialog>
  );
}

const nameOf = ({ records }: Entry): string =>
  texts.named(records[0]?.name ?? "", records.length - 1);

function Refused({ entry }: { entry: Entry }) {
  const { refusal } = entry;
  const [concerned] = entry.records;
  if (!refusal || !concerned) return null;
  const { theirs } = refusal;
  return (
    <section className="stack" aria-label={nameOf(entry)}>
      <h3 className="foreign">{nameOf(entry)}</h3>
      {theirs === undefined ? (
        <p>{[refusal.title, refusal.hint].filter(Boolean).join(" ")}</p>
      ) : theirs === null ? (
        <p>{texts.isNoLongerThere}</p>
      ) : (
        <>
          <p>{texts.someoneElseChangedIt}</p>
          <Values title={texts.now} fields={theirs} />
          <Values title={texts.yours} fields={only(concerned.after, theirs)} />
        </>
      )}
      <div className="row wrap">
        <Button look="primary" onClick={() => void outbox.drop(entry.id)}>
          {theirs ? texts.keepTheirs : texts.dropMine}
        </Button>
        {theirs !== null && (
          <Button onClick={() => void outbox.insist(entry.id)}>
            {theirs ? texts.useMine : texts.tryAgain}
          </Button>
        )}
      </div>
    </section>
  );
}

const only = (fields: Fields, names: Fields): Fields =>
  Object.fromEntries(Object.keys(names).map((name) => [name, fields[name]]));

function Values({ title, fields }: { title: string; fields: Fields }) {
  return (
    <dl className="small">
      {Object.entries(fields)
        .filter(([name]) => !(name === "owner_id" && "owner" in fields))
        .map(([name, value]) => (
          <div key={name} className="row">
            <dt className="soft">
              {title} · {FIELDS[name] ?? wordOf(name)}
            </dt>
            <dd className="foreign">
              {typeof value === "string" && name.endsWith("status")
                ? statusWord(value, name)
                : said(value)}
            </dd>
          </div>
        ))}
    </dl>
  );
}
