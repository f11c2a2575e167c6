/** Columns of one's own; with all its values one is deleted by whoever administers. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import type { Schemas } from "@/api/types";
import { useMay } from "@/app/session";
import { Button, Dialog, Input, Select, toast, toastError, wordOf } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/dialogs";
import { tagsIn } from "./edit";
import { nameFor } from "./own";

type OwnType = Schemas["OwnType"];
type OwnColumn = Schemas["CompanyColumnOut"];

const TYPES: readonly OwnType[] = ["text", "number", "date", "choice"];
const COLUMNS = ["company-columns"] as const;

export default function OwnColumns({ kind, onClose }: { kind: Kind; onClose: () => void }) {
  const queries = useQueryClient();
  const mayDelete = useMay("administer");
  const [title, setTitle] = useState("");
  const [type, setType] = useState<OwnType>("text");
  const [choices, setChoices] = useState("");
  const [doomed, setDoomed] = useState<string | null>(null);
  const columns = useQuery({ queryKey: COLUMNS, queryFn: () => read("/company-columns") });
  const given = type === "choice" ? tagsIn(choices) : [];
  const isReady = title.trim() !== "" && (type !== "choice" || given.length > 0);

  async function act(work: () => Promise<unknown>, said: string) {
    try {
      await work();
      toast({ kind: "good", text: said });
      setTitle("");
      setChoices("");
    } catch (error) {
      toastError(error);
    }
    setDoomed(null);
    await queries.invalidateQueries({ queryKey: COLUMNS });
    await queries.invalidateQueries({ queryKey: ["fields", kind.name] });
  }

  function add() {
    if (!isReady) return;
    const heading = title.trim();
    const body = { name: nameFor(heading), title: heading, type, choices: given };
    void act(
      () => write("POST", "/company-columns", { body }),
      texts.ownColumns.columnAdded(heading),
    );
  }

  function remove({ id, title: heading }: OwnColumn) {
    if (doomed !== id) {
      setDoomed(id);
      return;
    }
    const path = { column_id: id };
    void act(
      () => write("DELETE", "/company-columns/{column_id}", { path }),
      texts.ownColumns.columnDeleted(heading),
    );
  }

  return (
    <Dialog
      title={texts.ownColumns.yourColumns}
      onClose={onClose}
      onSubmit={add}
      actions={
        <>
          <Button onClick={onClose}>{common.close}</Button>
          <Button type="submit" look="primary" disabled={!isReady}>
            {texts.ownColumns.addColumn}
          </Button>
        </>
      }
    >
      <div className="stack">
        {(columns.data ?? []).map((column) => (
          <div key={column.id} className="row">
            <span className="grow foreign">
              {column.title} <span className="small soft">{wordOf(column.type)}</span>
            </span>
            {mayDelete && (
              <Button
                small
                look={doomed === column.id ? "danger" : "quiet"}
                icon="trash"
                onClick={() => remove(column)}
              >
                {doomed === column.id ? texts.ownColumns.deleteWithAllItsValues : common.delete}
              </Button>
            )}
          </div>
        ))}
        <Input
          label={texts.ownColumns.heading}
          maxLength={100}
          value={title}
          onChange={({ target }) => setTitle(target.value)}
        />
        <Select
          label={texts.ownColumns.type}
          value={type}
          options={TYPES.map((value) => ({ value, label: wordOf(value) }))}
          onChange={({ target }) => setType(target.value as OwnType)}
        />
        {type === "choice" && (
          <Input
            label={texts.ownColumns.choices}
            hint={common.separatedByCommas}
            value={choices}
            onChange={({ target }) => setChoices(target.value)}
          />
        )}
      </div>
    </Dialog>
  );
}
