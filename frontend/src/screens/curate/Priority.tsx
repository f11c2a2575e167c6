/** How urgent records are: a stage takes those of a higher priority first. */
import { useState } from "react";
import { ofKind, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { plural, Select, toast, toastError } from "@/kit";
import { texts } from "@/texts/curate";
import { PRIORITIES, priorityWord } from "./priorities";

interface PriorityProps {
  kind: Kind;
  ids: readonly string[];
  /** What they have now; left out where several may differ. */
  current?: number;
  onSet: () => void;
}

export function Priority({ kind, ids, current, onSet }: PriorityProps) {
  const [busy, setBusy] = useState(false);
  async function set(priority: number) {
    setBusy(true);
    try {
      await write("POST", ofKind(kind, "/priority"), { body: { ids: [...ids], priority } });
      toast({
        kind: "good",
        text: `${plural(ids.length, kind.one, kind.many)}: ${priorityWord(priority)}`,
      });
      onSet();
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  }
  const known = current ?? null;
  const values = known === null || PRIORITIES.includes(known) ? PRIORITIES : [known, ...PRIORITIES];
  return (
    <Select
      bare
      label={texts.priority.priority}
      className="priority"
      value={known === null ? "" : String(known)}
      disabled={busy}
      options={[
        ...(known === null ? [{ value: "", label: texts.priority.choosePriority }] : []),
        ...values.map((one) => ({ value: String(one), label: priorityWord(one) })),
      ]}
      onChange={({ target }) => target.value !== "" && void set(Number(target.value))}
    />
  );
}
