/** Views: filters, sorting and columns kept under a name. */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { asked, useViews, VIEWS, type View, writtenQuery } from "@/api/views";
import { Dialog, FormButtons, Input, Menu, type MenuItem, toast, toastError } from "@/kit";

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
  const [isNaming, setNaming] = useState(false);
  const { data: all = [] } = useViews();
  const views = all.filter((view) => view.kind === kind.name);
  const open = views.find((view) => writtenQuery(view.query) === writtenQuery(asked(query)));

  async function remove(view: View) {
    try {
      await write("DELETE", "/views/{view_id}", { path: { view_id: view.id } });
      toast({ text: `View "${view.name}" deleted.` });
    } catch (error) {
      toastError(error);
    }
    await queries.invalidateQueries({ queryKey: VIEWS });
  }

  const items: (MenuItem | "line")[] = [
    ...views.map((view) => ({
      name: view.name,
      checked: view === open,
      run: () => onOpen(writtenQuery(view.query)),
    })),
    ...(views.length ? (["line"] as const) : []),
    { name: "Save view…", icon: "plus", run: () => setNaming(true) },
    ...(open
      ? [
          {
            name: `Delete "${open.name}"`,
            icon: "trash" as const,
            danger: true,
            run: () => void remove(open),
          },
        ]
      : []),
  ];
  return (
    <>
      <Menu label={open ? open.name : "Views"} icon="star" items={items} />
      {isNaming && (
        <NameView
          onClose={() => setNaming(false)}
          onName={async (name) => {
            try {
              const kept = { ...asked(query), columns: [...columns] };
              await write("POST", "/views", { body: { name, kind: kind.name, query: kept } });
              setNaming(false);
              onOpen(writtenQuery(kept));
              toast({ kind: "good", text: `Saved as "${name}".` });
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

function NameView({ onName, onClose }: { onName: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  return (
    <Dialog
      title="Save view"
      onClose={onClose}
      onSubmit={() => name.trim() && onName(name.trim())}
      actions={
        <FormButtons onClose={onClose} disabled={!name.trim()}>
          Save
        </FormButtons>
      }
    >
      <Input
        label="Name"
        hint="Saves the filters, the search, the sort order and the columns."
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </Dialog>
  );
}
