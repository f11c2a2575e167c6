/** Submit a list: pasted, or dropped as a file of any size. */
import { type DragEvent, useEffect, useMemo, useState } from "react";
import { ofKind, write } from "@/api/client";
import { kinds } from "@/api/kinds";
import { go } from "@/app/router";
import {
  Button,
  bytes,
  Dialog,
  Field,
  FormButtons,
  Input,
  Select,
  toast,
  toastError,
  wordOf,
} from "@/kit";
import { FILE, searchScreen } from "@/screens/search/data";
import { texts } from "@/texts/batches";
import { common } from "@/texts/common";
import { fieldsOf, headersFor, Mapping, nameOf, useLook } from "./Mapping";
import { isTable, isTableFile, linesOf, type Submitted } from "./model";

/** What can be submitted, as a batch of it is called. */
const offered = () =>
  kinds().flatMap(({ submission, path }) => (submission ? [{ value: submission, path }] : []));

/** Rows of businesses, which become places; the others are lines of addresses. */
const BUSINESSES = "businesses";
const DOMAINS = "domains";

interface SubmitProps {
  onDone: (batch: string) => void;
  onClose: () => void;
}

export function Submit({ onDone, onClose }: SubmitProps) {
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const [text, setText] = useState("");
  const [file, setFile] = useState<File | null>(null);
  const [isFileTable, setFileTable] = useState(false);
  const [isOver, setOver] = useState(false);
  const [busy, setBusy] = useState(false);
  const [fields, setFields] = useState<string[]>([]);
  const [replacesKnown, setReplacesKnown] = useState(false);
  const lines = linesOf(text);
  const settled = useSettled(text);
  const called = useSettled(name.trim());
  const given = useMemo(
    () => file ?? (settled.trim() ? new Blob([settled]) : null),
    [file, settled],
  );
  const kind = chosen ?? ((file ? isFileTable : isTable(text)) ? BUSINESSES : DOMAINS);
  const isBusinesses = kind === BUSINESSES;
  const look = useLook(isBusinesses ? given : null, fields, called);
  // The headings are not a business.
  const count = isBusinesses ? Math.max(lines.length - 1, 0) : lines.length;
  const isReady = isBusinesses
    ? given !== null && !look.isPlaceholderData && (look.data?.rows ?? 0) > 0
    : file !== null || lines.length > 0;

  async function take(next: File | null) {
    // What the file is, is known before it is shown: nothing is read as something else first.
    setFileTable(next !== null && (await isTableFile(next)));
    setFile(next);
    setFields([]);
  }

  async function submit() {
    if (!isReady) return;
    setBusy(true);
    try {
      if (isBusinesses && given && look.data) {
        const asked = {
          name: name.trim() || nameOf(given),
          fields: fieldsOf(look.data),
          replaces_known: replacesKnown,
        };
        go(searchScreen(await importBusinesses(given, asked), FILE));
        return;
      }
      const done = await send();
      toast({
        kind: done.accepted ? "good" : "info",
        text: texts.submit.accepted(done.accepted),
        hint: texts.submit.alreadyInYourList(done.duplicates, done.refused_count),
      });
      onDone(done.batch_id);
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  }

  function send(): Promise<Submitted> {
    // What is pasted is read like a file: of any length, and with columns.
    const path = offered().find(({ value }) => value === kind)?.path ?? "/domains";
    const list = file ?? new Blob([text]);
    return write("POST", ofKind({ path }, "/import"), {
      file: list,
      query: { name: name.trim() || file?.name },
      headers: headersFor(list),
    });
  }

  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    const dropped = event.dataTransfer.files[0];
    if (dropped) void take(dropped);
  }

  return (
    <Dialog
      title={texts.submit.submitAList}
      wide
      onClose={onClose}
      onSubmit={() => void submit()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!isReady}>
          {file ? texts.submit.submitFile(file.name) : texts.submit.submit(count)}
        </FormButtons>
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is one way; the button below is the other. */}
      <div
        className={`stack drop ${isOver ? "over" : ""}`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <div className="rule-pair">
          <Select
            label={texts.submit.typeOfList}
            value={kind}
            options={[
              { value: BUSINESSES, label: texts.submit.businesses },
              ...offered().map(({ value }) => ({ value, label: wordOf(value) })),
            ]}
            onChange={(event) => setChosen(event.target.value)}
          />
          <Input
            label={texts.submit.nameOptional}
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        {file ? (
          <div className="row apart file">
            <span className="foreign">
              {file.name} <span className="faint">{bytes(file.size)}</span>
            </span>
            <Button small icon="cross" onClick={() => void take(null)}>
              {texts.submit.chooseAnother}
            </Button>
          </div>
        ) : (
          <Field
            label={isBusinesses ? texts.submit.rowsTheHeadingsFirst : texts.submit.onePerLine}
            hint={texts.submit.orDropAFileHere}
          >
            {(props) => (
              <textarea
                className="input mono"
                rows={9}
                spellCheck={false}
                value={text}
                onChange={(event) => {
                  setText(event.target.value);
                  setFields([]);
                }}
                {...props}
              />
            )}
          </Field>
        )}
        {!file && (
          <Field label={common.file}>
            {(props) => (
              <input
                type="file"
                accept=".csv,.txt,.xlsx,.xlsm,text/csv,text/plain"
                onChange={(event) => void take(event.target.files?.[0] ?? null)}
                {...props}
              />
            )}
          </Field>
        )}
        {isBusinesses && given && (
          <Mapping
            look={look}
            replacesKnown={replacesKnown}
            onFields={setFields}
            onReplaceKnown={setReplacesKnown}
          />
        )}
      </div>
    </Dialog>
  );
}

const PAUSE_MS = 400;

/** A text once nobody has typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

interface Asked {
  name: string;
  fields: string[];
  replaces_known: boolean;
}

/** Import a list of businesses; returns the search that reads it. */
async function importBusinesses(file: Blob, asked: Asked): Promise<string> {
  const started = await write("POST", "/searches/file", {
    file,
    query: { ...asked },
    headers: headersFor(file),
  });
  return started.search_id;
}
