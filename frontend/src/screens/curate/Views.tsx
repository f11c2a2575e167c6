/** Views: filters, sorting and columns kept under a name. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { asked, useViews, VIEWS, type View, writtenQuery } from "@/api/views";
import { useMay } from "@/app/session";
import {
  Checkbox,
  Dialog,
  FormButtons,
  Input,
  Menu,
  type MenuItem,
  toast,
  toastError,
} from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/curate";

interface ViewsProps {
  kind: Kind;
  /** What stands after the `?` now. */
  query: string;
  /** The columns that are shown now. */
  columns: readonly string[];
  onOpen: (query: string) => void;
}

export function Views({ kind, query, columns, onOpen }: ViewsProps) {
  const queries = useQueryClient();
  const mayAdminister = useMay("administer");
  const [isNaming, setNaming] = useState(false);
  const { data: all = [] } = useViews();
  const views = all.filter((view) => view.kind === kind.name);
  const open = views.find((view) => writtenQuery(view.query) === writtenQuery(asked(query)));

  async function remove(view: View) {
    try {
      await write("DELETE", "/views/{view_id}", { path: { view_id: view.id } });
      toast({ text: texts.views.viewDeleted(view.name) });
    } catch (error) {
      toastError(error);
    }
    await queries.invalidateQueries({ queryKey: VIEWS });
  }

  const items: (MenuItem | "line")[] = [
    ...views.map((view) => ({
      name: view.is_shared ? texts.views.shared(view.name) : view.name,
      checked: view === open,
      run: () => onOpen(writtenQuery(view.query)),
    })),
    ...(views.length ? (["line"] as const) : []),
    { name: texts.views.saveViewAs, icon: "plus", run: () => setNaming(true) },
    ...(open && (open.is_mine || mayAdminister)
      ? [
          {
            name: texts.views.delete(open.name),
            icon: "trash" as const,
            danger: true,
            run: () => void remove(open),
          },
        ]
      : []),
  ];
  return (
    <>
      <Menu label={open ? open.name : texts.views.views} icon="star" items={items} />
      {isNaming && (
        <NameView
          onClose={() => setNaming(false)}
          onName={async (name, isShared) => {
            try {
              const kept = { ...asked(query), columns: [...columns] };
              await write("POST", "/views", {
                body: { name, kind: kind.name, query: kept, is_shared: isShared },
              });
              setNaming(false);
              onOpen(writtenQuery(kept));
              toast({ kind: "good", text: texts.views.savedAs(name) });
            } catch (error) {
              toastError(error);
            }
            await queries.invalidateQueries({ queryKey: VIEWS });
          }}
        />
      )}
    </>
  );
}

interface NameViewProps {
  onName: (name: string, isShared: boolean) => void;
  onClose: () => void;
}

function NameView({ onName, onClose }: NameViewProps) {
  const [name, setName] = useState("");
  const [isShared, setShared] = useState(false);
  const mayShare = useMay("curate");
  return (
    <Dialog
      title={texts.views.saveView}
      onClose={onClose}
      onSubmit={() => name.trim() && onName(name.trim(), isShared)}
      actions={
        <FormButtons onClose={onClose} disabled={!name.trim()}>
          {common.save}
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label={common.name}
          hint={texts.views.savesTheFilters}
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {mayShare && (
          <Checkbox
            label={texts.views.forEverybody}
            checked={isShared}
            onChange={(event) => setShared(event.target.checked)}
          />
        )}
      </div>
    </Dialog>
  );
}
