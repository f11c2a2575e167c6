/** Several records that are one: keep one, and let it take in the others. */
import { useState } from "react";
import { ofKind, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { Confirm, toastError } from "@/kit";
import { texts } from "@/texts/curate";
import type { Row } from "./model";

interface MergeProps {
  kind: Kind;
  rows: readonly Row[];
  onDone: (action: string | null, said: string) => void;
  onClose: () => void;
}

export function Merge({ kind, rows, onDone, onClose }: MergeProps) {
  const [into, setInto] = useState(rows[0]?.id ?? "");
  const [busy, setBusy] = useState(false);
  async function merge() {
    setBusy(true);
    try {
      const ids = rows.map(({ id }) => id).filter((id) => id !== into);
      const merged = await write("POST", ofKind(kind, "/merge"), { body: { ids, into } });
      onDone(merged.action_id, texts.merge.merged(rows.length, kind.many));
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  }
  return (
    <Confirm
      title={texts.merge.merge(rows.length, kind.many)}
      action={texts.merge.action}
      busy={busy}
      onConfirm={() => void merge()}
      onClose={onClose}
    >
      <fieldset className="stack merge">
        <legend className="small soft">{texts.merge.whichOneShouldStay}</legend>
        {rows.map((row) => (
          <label key={row.id} className="check">
            <input
              type="radio"
              name="into"
              checked={row.id === into}
              onChange={() => setInto(row.id)}
            />
            <span className="grow foreign">
              {kind.label(row)} <span className="small soft">{kind.under(row)}</span>
            </span>
          </label>
        ))}
      </fieldset>
    </Confirm>
  );
}
