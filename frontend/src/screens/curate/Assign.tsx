/** Work on several companies at once: who does it, their tags, a column of one's own. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { outbox } from "@/api/outbox/outbox";
import type { Schemas } from "@/api/types";
import { Dialog, FormButtons, Input, plural, Select, toastError } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/dialogs";
import { tagsIn } from "./edit";
import { useFields } from "./fields";
import type { Row } from "./model";
import { OwnInput } from "./OwnInput";
import { ownFields, ownValues } from "./own";
import { saySaved } from "./save";

export type Work = Schemas["WorkIn"];
/** Which records are meant: by their ids, or all that match. */
export type Meant = Pick<Work, "ids" | "filter" | "q">;
export type Worked = Schemas["WorkOut"];

const AS_IT_IS = "";
const NOBODY = "nobody";

interface AssignProps {
  kind: Kind;
  meant: Meant;
  /** Those of them that are in sight. */
  rows: readonly Row[];
  count: number;
  onDone: (worked: Worked) => void;
  onClose: () => void;
}

export default function Assign({ kind, meant, rows, count, onDone, onClose }: AssignProps) {
  const [owner, setOwner] = useState(AS_IT_IS);
  const [added, setAdded] = useState("");
  const [removed, setRemoved] = useState("");
  const [column, setColumn] = useState("");
  const [value, setValue] = useState("");
  const [busy, setBusy] = useState(false);
  const people = useQuery({ queryKey: ["assignees"], queryFn: () => read("/assignees") });
  const own = ownFields(useFields(kind).data ?? []);
  const chosen = own.filter(({ name }) => name === column);
  const isReady = owner !== AS_IT_IS || Boolean(added.trim() || removed.trim() || column);
  async function apply() {
    if (!isReady || busy) return;
    setBusy(true);
    const body: Work = {
      ...meant,
      ...(owner === AS_IT_IS ? {} : { owner_id: owner === NOBODY ? null : owner }),
      add_tags: tagsIn(added),
      remove_tags: tagsIn(removed),
      own: ownValues(chosen, { [column]: value }),
    };
    try {
      if (!meant.ids) return onDone(await write("POST", "/companies/work", { body }));
      const outcome = await (await submit(body)).soon;
      if (outcome.state === "done") return onDone(outcome.answer as Worked);
      saySaved(true);
      onClose();
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  }
  function submit(body: Work) {
    const after = {
      ...("owner_id" in body
        ? {
            owner_id: body.owner_id,
            owner: people.data?.find(({ id }) => id === body.owner_id)?.name ?? null,
          }
        : {}),
      ...(column ? { own: body.own } : {}),
    };
    return outbox.submit({
      method: "POST",
      path: "/companies/work",
      body,
      kind: kind.path,
      records: rows.map((row) => ({
        id: row.id,
        name: kind.label(row),
        before: Object.fromEntries(Object.keys(after).map((name) => [name, row[name]])),
        after,
      })),
      said: texts.assign.action,
    });
  }
  return (
    <Dialog
      title={texts.assign.assign(plural(count, kind.one, kind.many))}
      onClose={onClose}
      onSubmit={() => void apply()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!isReady}>
          {texts.assign.apply}
        </FormButtons>
      }
    >
      <div className="stack">
        <Select
          label={texts.assign.assignedTo}
          value={owner}
          options={[
            { value: AS_IT_IS, label: texts.assign.noChange },
            { value: NOBODY, label: texts.assign.nobody },
            ...(people.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={({ target }) => setOwner(target.value)}
        />
        <Input
          label={texts.assign.addTags}
          hint={common.separatedByCommas}
          value={added}
          onChange={({ target }) => setAdded(target.value)}
        />
        <Input
          label={texts.assign.removeTags}
          value={removed}
          onChange={({ target }) => setRemoved(target.value)}
        />
        {own.length > 0 && (
          <Select
            label={texts.assign.yourColumn}
            value={column}
            options={[
              { value: "", label: texts.assign.noChange },
              ...own.map(({ name, title }) => ({ value: name, label: title ?? name })),
            ]}
            onChange={({ target }) => {
              setColumn(target.value);
              setValue("");
            }}
          />
        )}
        {chosen.map((field) => (
          <OwnInput
            key={field.name}
            field={field}
            label={common.value}
            hint={texts.assign.leaveItEmptyToClear}
            value={value}
            onChange={setValue}
          />
        ))}
      </div>
    </Dialog>
  );
}
