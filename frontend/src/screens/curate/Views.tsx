/** Views: filters and sorting kept under a name. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { Button, Dialog, Input, Menu, type MenuItem, toast, toastError } from "@/kit";

interface Asked {
  filter: string[];
  q: string | null;
  sort: string | null;
}

interface View {
  id: string;
  name: string;
  kind: string;
  query: Asked;
}

/** What a list is asked for, out of an address and back into one. */
function asked(query: string): Asked {
  const search = new URLSearchParams(query);
  return { filter: search.getAll("filter"), q: search.get("q"), sort: search.get("sort") };
}

function written({ filter, q, sort }: Asked): string {
  const search = new URLSearchParams(filter.map((one) => ["filter", one]));
  if (q) search.set("q", q);
  if (sort) search.set("sort", sort);
  return search.toString();
}

interface ViewsProps {
  kind: Kind;
  /** What stands after the `?` now. */
  query: string;
  onOpen: (query: string) => void;
}

export function Views({ kind, query, onOpen }: ViewsProps) {
  const queries = useQueryClient();
  const [isNaming, setNaming] = useState(false);
  const key = ["views", kind.name];
  const { data } = useQuery({
    queryKey: key,
    queryFn: () => call<View[]>("GET", "/views", { query: { kind: kind.name } }),
  });
  const views = data ?? [];
  const open = views.find((view) => written(view.query) === written(asked(query)));

  async function remove(view: View) {
    try {
      await call("DELETE", `/views/${view.id}`);
      toast({ text: `The view "${view.name}" is gone.` });
    } catch (error) {
      toastError(error);
    }
    await queries.invalidateQueries({ queryKey: key });
  }

  const items: (MenuItem | "line")[] = [
    ...views.map((view) => ({
      name: view.name,
      checked: view === open,
      run: () => onOpen(written(view.query)),
    })),
    ...(views.length ? (["line"] as const) : []),
    { name: "Keep this view…", icon: "plus", run: () => setNaming(true) },
    ...(open
      ? [
          {
            name: `Forget "${open.name}"`,
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
              await call("POST", "/views", {
                body: { name, kind: kind.name, query: given(asked(query)) },
              });
              setNaming(false);
              toast({ kind: "good", text: `Kept as "${name}".` });
            } catch (error) {
              toastError(error);
            }
            await queries.invalidateQueries({ queryKey: key });
          }}
        />
      )}
    </>
  );
}

/** Without what is not asked for: the server knows its own defaults. */
function given(query: Asked): Partial<Asked> {
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== null));
}

function NameView({ onName, onClose }: { onName: (name: string) => void; onClose: () => void }) {
  const [name, setName] = useState("");
  return (
    <Dialog
      title="Keep this view"
      onClose={onClose}
      onSubmit={() => name.trim() && onName(name.trim())}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={!name.trim()}>
            Keep
          </Button>
        </>
      }
    >
      <Input
        label="Name"
        hint="The filters, the search and the sorting are kept under this name."
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </Dialog>
  );
}
