/** A sample to check: values of this list at random, one after the other, marked by key. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { read, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { Button, Dialog, percent, Select, toastError, whole } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/dialogs";
import { Address } from "./Cell";
import { marked } from "./marked";

type SampleAnswer = Schemas["SampleDetail"];
type Field = Schemas["SampleIn"]["field"];
type Mark = NonNullable<Schemas["MarkIn"]["mark"]>;

const FIELDS: readonly Field[] = ["email", "phone", "person", "role", "address"];
const MARKS: Readonly<Record<string, Mark>> = { r: "right", w: "wrong", "?": "unknown" };

interface SampleProps {
  kind: Kind;
  /** The list that it is drawn from, as in its address. */
  filter: readonly string[];
  words: string;
  onClose: () => void;
}

export default function SampleDialog({ kind, filter, words, onClose }: SampleProps) {
  const [field, setField] = useState<Field>("email");
  const [sample, setSample] = useState<SampleAnswer | null>(null);
  const [busy, setBusy] = useState(false);
  async function draw() {
    setBusy(true);
    try {
      const body = { kind: kind.name as "companies", field, filter: [...filter], q: words || null };
      setSample(await write("POST", "/samples", { body }));
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  }
  if (sample) return <Marking sample={sample} onClose={onClose} />;
  return (
    <Dialog
      title={common.checkASample}
      onClose={onClose}
      onSubmit={() => void draw()}
      actions={
        <>
          <Button onClick={onClose}>{common.close}</Button>
          <Button look="primary" type="submit" busy={busy}>
            {texts.sample.draw}
          </Button>
        </>
      }
    >
      <div className="stack">
        <p className="small soft">{texts.sample.about}</p>
        <Select
          label={texts.sample.field}
          value={field}
          options={FIELDS.map((one) => ({ value: one, label: texts.sample.fields[one] }))}
          onChange={({ target }) => setField(target.value as Field)}
        />
        <Earlier kind={kind} filter={filter} words={words} />
      </div>
    </Dialog>
  );
}

/** What samples of this very list have measured before. */
function Earlier({ kind, filter, words }: Pick<SampleProps, "kind" | "filter" | "words">) {
  const { data } = useQuery({
    queryKey: ["samples", kind.name],
    queryFn: () => read("/samples", { query: { kind: kind.name } }),
  });
  const asked = JSON.stringify([filter, words]);
  const same = (data ?? []).filter(
    ({ query }) => JSON.stringify([query.filter ?? [], query.q ?? ""]) === asked,
  );
  if (!same.length) return null;
  return (
    <ul className="small" aria-label={texts.sample.earlier}>
      {same.map((one) => (
        <li key={one.id}>
          {texts.sample.fields[one.field as Field]}: <Measured precision={one.precision} />
        </li>
      ))}
    </ul>
  );
}

/** The next value without a mark; undo takes the last mark back. */
function Marking({ sample, onClose }: { sample: SampleAnswer; onClose: () => void }) {
  const queries = useQueryClient();
  const [marks, setMarks] = useState<readonly Mark[]>([]);
  const [precision, setPrecision] = useState(sample.precision);
  // Keys may come faster than answers: what was pressed counts at once, and is sent in its order.
  const latest = useRef<readonly Mark[]>([]);
  const sent = useRef<Promise<unknown>>(Promise.resolve());
  const value = sample.values[marks.length];
  function keep(next: readonly Mark[]) {
    latest.current = next;
    setMarks(next);
  }
  async function send(position: number, mark: Mark | null) {
    const path = { sample_id: sample.id, position };
    const route = "/samples/{sample_id}/values/{position}";
    try {
      setPrecision(await write("PUT", route, { path, body: { mark } }));
      void queries.invalidateQueries({ queryKey: ["samples"] });
    } catch (error) {
      toastError(error);
      // What is not kept is asked again.
      keep(latest.current.slice(0, position - 1));
    }
  }
  function later(position: number, mark: Mark | null) {
    sent.current = sent.current.then(() => send(position, mark));
  }
  function put(mark: Mark) {
    const next = sample.values[latest.current.length];
    if (!next) return;
    keep([...latest.current, mark]);
    later(next.position, mark);
  }
  function undo() {
    const last = sample.values[latest.current.length - 1];
    if (!last) return;
    keep(latest.current.slice(0, -1));
    later(last.position, null);
  }
  useEffect(() => {
    function pressed(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const mark = MARKS[event.key];
      if (mark) put(mark);
      else if (event.key === "u") undo();
      else return;
      // Elsewhere `?` shows the keys.
      event.preventDefault();
    }
    window.addEventListener("keydown", pressed, { capture: true });
    return () => window.removeEventListener("keydown", pressed, { capture: true });
  });
  return (
    <Dialog
      title={common.checkASample}
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{common.close}</Button>
          <Button icon="undo" hotkey="u" disabled={!marks.length} onClick={undo}>
            {texts.sample.undo}
          </Button>
          {value && (
            <>
              <Button hotkey="?" onClick={() => put("unknown")}>
                {texts.sample.unknown}
              </Button>
              <Button hotkey="w" onClick={() => put("wrong")}>
                {texts.sample.wrong}
              </Button>
              <Button look="primary" hotkey="r" onClick={() => put("right")}>
                {texts.sample.right}
              </Button>
            </>
          )}
        </>
      }
    >
      <div className="stack" aria-live="polite">
        <p className="small soft">
          {texts.sample.place(Math.min(marks.length + 1, sample.drawn), sample.drawn)}
        </p>
        {value ? (
          <>
            <p className="foreign sampled">
              <strong>{value.value ?? texts.sample.forgotten}</strong>{" "}
              <span className="soft">{value.domain}</span>
            </p>
            {value.snippet && (
              <blockquote className="foreign small">
                {marked(value.snippet, value.value).map((part, at) =>
                  part.isMark ? (
                    <mark key={at}>{part.text}</mark>
                  ) : (
                    <span key={at}>{part.text}</span>
                  ),
                )}
              </blockquote>
            )}
            {value.url && <Address value={value.url} full />}
          </>
        ) : (
          <p>{sample.drawn ? texts.sample.done : texts.sample.empty}</p>
        )}
        <p data-measured={precision.right + precision.wrong}>
          <Measured precision={precision} />
        </p>
        {!value && sample.drawn > 0 && (
          <p>
            <a href={`/api/v3/samples/${sample.id}/export`} download={`sample-${sample.id}.jsonl`}>
              {texts.sample.export}
            </a>
          </p>
        )}
      </div>
    </Dialog>
  );
}

/** "18 of 20 right: 90 % (70 % to 97 %)". */
function Measured({ precision }: { precision: SampleAnswer["precision"] }) {
  const { right, wrong, share, low, high } = precision;
  if (share === null || low === null || high === null) return texts.sample.nothingMarked;
  return texts.sample.measured(
    whole(right),
    whole(right + wrong),
    percent(share),
    percent(low),
    percent(high),
  );
}
