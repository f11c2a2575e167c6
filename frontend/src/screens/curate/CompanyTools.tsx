/** Work on one company: who does it, notes and tags; what it is made of, taken apart again. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, read, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { useMay } from "@/app/session";
import { Button, Dialog, Field, FormButtons, Input, Select, toast, toastError } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/record";
import { clashWords, merge, tagsIn } from "./edit";
import { useFields } from "./fields";
import { type DetailAnswer, type FieldInfo, list, type Row, text } from "./model";
import { OwnInput } from "./OwnInput";
import { ownFields, ownText, ownValues } from "./own";
import { saveEdit } from "./save";

interface CompanyToolsProps {
  kind: Kind;
  detail: DetailAnswer;
  onChanged: () => void;
}

export function CompanyTools({ kind, detail, onChanged }: CompanyToolsProps) {
  const [asked, setAsked] = useState<"edit" | "parts" | null>(null);
  const mayCurate = useMay("curate");
  const fields = useFields(kind, mayCurate);
  if (!mayCurate) return null;
  const close = () => setAsked(null);
  const done = () => {
    close();
    onChanged();
  };
  return (
    <div className="row">
      <Button small icon="edit" onClick={() => setAsked("edit")}>
        {texts.companyTools.assignAndNote}
      </Button>
      <Button small look="quiet" icon="merge" onClick={() => setAsked("parts")}>
        {texts.companyTools.sources}
      </Button>
      {asked === "edit" && !fields.isLoading && (
        <Edit
          kind={kind}
          detail={detail}
          own={ownFields(fields.data ?? [])}
          onDone={done}
          onClose={close}
        />
      )}
      {asked === "parts" && <Parts id={detail.record.id} onDone={done} onClose={close} />}
    </div>
  );
}

interface EditProps {
  kind: Kind;
  detail: DetailAnswer;
  own: readonly FieldInfo[];
  onDone: () => void;
  onClose: () => void;
}

/** A column of one's own. */
type OwnField = `own.${string}`;

interface Fields {
  owner: string;
  notes: string;
  tags: string;
  [field: OwnField]: string;
}

const fieldsOf = (record: Row, own: readonly FieldInfo[]): Fields => ({
  owner: text(record.owner_id) ?? "",
  notes: text(record.notes) ?? "",
  tags: list(record.tags).join(", "),
  ...Object.fromEntries(own.map(({ name }) => [name, ownText(record, name)])),
});

/** What must be sent: only what was changed. */
function changesOf(before: Fields, after: Fields, own: readonly FieldInfo[]) {
  const isChanged = (name: keyof Fields) => (after[name] ?? "").trim() !== (before[name] ?? "");
  const filled = own.filter(({ name }) => isChanged(name as OwnField));
  return {
    ...(isChanged("owner") ? { owner_id: after.owner || null } : {}),
    ...(isChanged("notes") ? { notes: after.notes.trim() || null } : {}),
    ...(isChanged("tags") ? { tags: tagsIn(after.tags) } : {}),
    ...(filled.length ? { own: ownValues(filled, { ...after }) } : {}),
  };
}

function Edit({ kind, detail, own, onDone, onClose }: EditProps) {
  // The version that was opened, not the newest: what others write meanwhile must be noticed.
  const [base, setBase] = useState(detail);
  const [values, setValues] = useState(fieldsOf(detail.record, own));
  const [theirs, setTheirs] = useState<Partial<Fields>>({});
  const [busy, setBusy] = useState(false);
  const { record } = base;
  const set = (name: keyof Fields) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value });
  const people = useQuery({ queryKey: ["assignees"], queryFn: () => read("/assignees") });
  async function save(version: DetailAnswer, wanted: Fields): Promise<void> {
    setBusy(true);
    try {
      await saveEdit(kind, version, changesOf(fieldsOf(version.record, own), wanted, own));
      onDone();
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) await compare(version, wanted);
      else toastError(error);
    }
    setBusy(false);
  }

  async function compare(version: DetailAnswer, wanted: Fields): Promise<void> {
    const now = await read("/companies/{record_id}", { path: { record_id: record.id } });
    const merged = merge(fieldsOf(version.record, own), wanted, fieldsOf(now.record, own));
    setBase(now);
    setValues(merged.values);
    setTheirs(merged.clashes);
    if (Object.keys(merged.clashes).length === 0) await save(now, merged.values);
  }
  return (
    <Dialog
      title={texts.companyTools.edit(text(record.name))}
      onClose={onClose}
      onSubmit={() => void save(base, values)}
      actions={
        <FormButtons onClose={onClose} busy={busy}>
          {common.save}
        </FormButtons>
      }
    >
      <div className="stack">
        <Select
          label={texts.companyTools.assignedTo}
          value={values.owner}
          error={theirs.owner === undefined ? undefined : texts.companyTools.someoneElseChangedThis}
          options={[
            { value: "", label: texts.companyTools.nobody },
            ...(people.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={set("owner")}
        />
        <Input
          label={texts.companyTools.tags}
          hint={common.separatedByCommas}
          error={clashWords(theirs.tags)}
          value={values.tags}
          onChange={set("tags")}
        />
        {own.map((field) => (
          <OwnInput
            key={field.name}
            field={field}
            error={clashWords(theirs[field.name as OwnField])}
            value={values[field.name as OwnField] ?? ""}
            onChange={(value) => setValues({ ...values, [field.name]: value })}
          />
        ))}
        <Field label={texts.companyTools.notes} error={clashWords(theirs.notes)}>
          {(props) => (
            <textarea
              className="input"
              maxLength={10000}
              value={values.notes}
              onChange={set("notes")}
              {...props}
            />
          )}
        </Field>
      </div>
    </Dialog>
  );
}

interface PartsProps {
  id: string;
  onDone: () => void;
  onClose: () => void;
}

function Parts({ id, onDone, onClose }: PartsProps) {
  const path = { record_id: id };
  const parts = useQuery({
    queryKey: ["company-records", id],
    queryFn: () => read("/companies/{record_id}/records", { path }),
  });
  async function act(work: () => Promise<unknown>, said: string) {
    try {
      await work();
      toast({ kind: "good", text: said });
      onDone();
    } catch (error) {
      toastError(error);
    }
  }
  const records = parts.data?.records ?? [];
  const merges = (parts.data?.merges ?? []).filter(({ undone_at }) => undone_at === null);
  return (
    <Dialog title={texts.companyTools.sourcesOfThisCompany} wide onClose={onClose}>
      <ul className="stack">
        {records.map((part) => (
          <li key={part.id} className="row wrap">
            <span className="grow foreign">
              {part.name ?? part.domain}{" "}
              <span className="small soft">
                {[part.source, part.phone, part.street, ...part.reasons]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
            </span>
            {records.length > 1 && (
              <Button
                small
                onClick={() =>
                  void act(
                    () =>
                      write("POST", "/companies/{record_id}/split", {
                        path,
                        body: { records: [part.id] },
                      }),
                    texts.companyTools.itIsNowASeparateCompany,
                  )
                }
              >
                {texts.companyTools.notThisCompany}
              </Button>
            )}
          </li>
        ))}
        {merges.map((merge) => (
          <li key={merge.id} className="row wrap">
            <span className="grow small soft">
              {texts.companyTools.merged(merge.reasons.join(" · "))}
            </span>
            <Button
              small
              icon="undo"
              onClick={() =>
                void act(
                  () =>
                    write("POST", "/company-merges/{merge_id}/undo", {
                      path: { merge_id: merge.id },
                    }),
                  texts.companyTools.mergeWasUndone,
                )
              }
            >
              {texts.companyTools.undoTheMerge}
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
