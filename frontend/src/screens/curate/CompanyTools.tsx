/** Work on one company: who does it, notes and tags; what it is made of, taken apart again. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, read, write } from "@/api/client";
import { useMay } from "@/app/session";
import { Button, Dialog, Field, Input, Select, toast, toastError } from "@/kit";
import { type DetailAnswer, list, text } from "./model";

interface CompanyToolsProps {
  detail: DetailAnswer;
  onChanged: () => void;
}

export function CompanyTools({ detail, onChanged }: CompanyToolsProps) {
  const [asked, setAsked] = useState<"edit" | "parts" | null>(null);
  const mayCurate = useMay("curate");
  if (!mayCurate) return null;
  const close = () => setAsked(null);
  const done = () => {
    close();
    onChanged();
  };
  return (
    <div className="row">
      <Button small icon="edit" onClick={() => setAsked("edit")}>
        Assign and note
      </Button>
      <Button small look="quiet" icon="merge" onClick={() => setAsked("parts")}>
        Made of
      </Button>
      {asked === "edit" && <Edit detail={detail} onDone={done} onClose={close} />}
      {asked === "parts" && <Parts id={detail.record.id} onDone={done} onClose={close} />}
    </div>
  );
}

interface EditProps {
  detail: DetailAnswer;
  onDone: () => void;
  onClose: () => void;
}

function Edit({ detail, onDone, onClose }: EditProps) {
  const { record, etag } = detail;
  const [owner, setOwner] = useState(text(record.owner_id) ?? "");
  const [notes, setNotes] = useState(text(record.notes) ?? "");
  const [tags, setTags] = useState(list(record.tags).join(", "));
  const [busy, setBusy] = useState(false);
  const people = useQuery({ queryKey: ["assignees"], queryFn: () => read("/assignees") });
  async function save() {
    setBusy(true);
    const named = tags.split(",").flatMap((tag) => tag.trim() || []);
    const body = { owner_id: owner || null, notes: notes.trim() || null, tags: named };
    try {
      await write("PATCH", "/companies/{record_id}", {
        path: { record_id: record.id },
        body,
        headers: { "If-Match": etag },
      });
      toast({ kind: "good", text: "Saved." });
      onDone();
    } catch (error) {
      if (error instanceof ApiError && error.status === 412) onDone();
      else setBusy(false);
      toastError(error);
    }
  }
  return (
    <Dialog
      title={`Work on ${text(record.name) ?? "this company"}`}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy}>
            Save
          </Button>
        </>
      }
    >
      <div className="stack">
        <Select
          label="Assigned to"
          value={owner}
          options={[
            { value: "", label: "Nobody" },
            ...(people.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(event) => setOwner(event.target.value)}
        />
        <Input
          label="Tags"
          hint="Separated by commas."
          value={tags}
          onChange={(event) => setTags(event.target.value)}
        />
        <Field label="Notes">
          {(props) => (
            <textarea
              className="input"
              maxLength={10000}
              value={notes}
              onChange={(event) => setNotes(event.target.value)}
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
    <Dialog title="What this company is made of" wide onClose={onClose}>
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
                    "It is a company of its own now.",
                  )
                }
              >
                Not this company
              </Button>
            )}
          </li>
        ))}
        {merges.map((merge) => (
          <li key={merge.id} className="row wrap">
            <span className="grow small soft">Merged: {merge.reasons.join(" · ")}</span>
            <Button
              small
              icon="undo"
              onClick={() =>
                void act(
                  () =>
                    write("POST", "/company-merges/{merge_id}/undo", {
                      path: { merge_id: merge.id },
                    }),
                  "The merge is undone.",
                )
              }
            >
              Undo the merge
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
