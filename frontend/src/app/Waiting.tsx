/** What waits to be sent; what others have overtaken is asked about, one after the other. */
import type { Entry, Fields } from "@/api/outbox/entry";
import { outbox } from "@/api/outbox/outbox";
import { useEntries } from "@/api/outbox/useOutbox";
import { Button, Dialog, IconButton, said, statusWord, whole, wordOf } from "@/kit";
import { texts } from "@/texts/app";
import { common } from "@/texts/common";
import { texts as values } from "@/texts/values";

const MOST_SHOWN = 50;
const FIELDS: Record<string, string> = values.fields;

export default function Waiting({ onClose }: { onClose: () => void }) {
  const entries = useEntries();
  const refused = entries.find(({ refusal }) => refusal);
  const waiting = entries.filter(({ refusal }) => !refusal);
  return (
    <Dialog
      title={texts.waiting.changesNotSentYet}
      wide
      onClose={onClose}
      actions={<Button onClick={onClose}>{common.close}</Button>}
    >
      <div className="stack">
        {refused && <Refused key={refused.id} entry={refused} />}
        {waiting.length > 0 && <p>{texts.waiting.areSentWhen(waiting.length)}</p>}
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
                  label={texts.waiting.discard(nameOf(entry), entry.said)}
                  onClick={() => void outbox.drop(entry.id)}
                />
              )}
            </li>
          ))}
        </ul>
        {waiting.length > MOST_SHOWN && (
          <p className="soft">{texts.waiting.andMore(whole(waiting.length - MOST_SHOWN))}</p>
        )}
        {entries.length === 0 && <p role="status">{texts.waiting.everythingIsSent}</p>}
      </div>
    </Dialog>
  );
}

const nameOf = ({ records }: Entry): string =>
  texts.waiting.named(records[0]?.name ?? "", records.length - 1);

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
        <p>{texts.waiting.isNoLongerThere}</p>
      ) : (
        <>
          <p>{texts.waiting.someoneElseChangedIt}</p>
          <Values title={texts.waiting.now} fields={theirs} />
          <Values title={texts.waiting.yours} fields={only(concerned.after, theirs)} />
        </>
      )}
      <div className="row wrap">
        <Button look="primary" onClick={() => void outbox.drop(entry.id)}>
          {theirs ? texts.waiting.keepTheirs : texts.waiting.dropMine}
        </Button>
        {theirs !== null && (
          <Button onClick={() => void outbox.insist(entry.id)}>
            {theirs ? texts.waiting.useMine : texts.waiting.tryAgain}
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
