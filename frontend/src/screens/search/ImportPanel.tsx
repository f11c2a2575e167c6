/** What a file brought: what was kept of every column, what is said otherwise, and its undo. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import { kindNamed, recordScreen } from "@/api/kinds";
import { Link } from "@/app/router";
import { useMay } from "@/app/session";
import { Button, Confirm, exact, Panel, plural, Table, toast, toastError, whole } from "@/kit";
import { fieldWord } from "@/screens/curate/filters";
import { texts } from "@/texts/search";
import { FILE, type Search } from "./data";

export function useImported(search: Search) {
  return useQuery({
    queryKey: ["imported", search.id, search.status, search.found_count],
    queryFn: () => read("/searches/{record_id}/import", { path: { record_id: search.id } }),
    enabled: search.source === FILE,
  });
}

export function ImportPanel({ search }: { search: Search }) {
  const queries = useQueryClient();
  const mayCurate = useMay("curate");
  const [isAsking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const { data, refetch } = useImported(search);
  if (!data || (data.columns.length === 0 && !data.undone_at)) return null;
  async function undo(action: string) {
    setBusy(true);
    try {
      const path = { action_id: action };
      const { restored } = await write("POST", "/actions/{action_id}/undo", { path });
      toast({ kind: "good", text: texts.imported.undone(restored) });
      await queries.invalidateQueries();
    } catch (error) {
      toastError(error);
    }
    setBusy(false);
    setAsking(false);
    await refetch();
  }
  const { action_id: action, columns, differences, undone_at: undoneAt } = data;
  const made = Object.entries(data.made).map(([name, count]) => {
    const kind = kindNamed(name);
    return plural(count, kind?.one ?? texts.imported.person, kind?.many ?? name);
  });
  return (
    <Panel
      flush
      title={texts.imported.whatWasImported}
      about={undoneAt ? texts.imported.wasUndone(exact(undoneAt)) : made.join(", ")}
      actions={
        action &&
        mayCurate && (
          <Button icon="undo" onClick={() => setAsking(true)}>
            {texts.imported.undoTheImport}
          </Button>
        )
      }
    >
      {columns.length > 0 && (
        <Table
          label={texts.imported.whatWasImported}
          rows={columns}
          keyOf={({ heading, field }) => `${heading} ${field}`}
          columns={[
            {
              name: texts.imported.column,
              show: ({ heading }) => <span className="foreign heading">{heading}</span>,
            },
            {
              name: texts.imported.keptAs,
              show: ({ field, unread }) => {
                if (field === "extra") return texts.imported.extraColumn;
                return unread ? texts.imported.unread(fieldWord(field), unread) : fieldWord(field);
              },
            },
            { name: texts.imported.lines, number: true, show: ({ lines }) => whole(lines) },
          ]}
        />
      )}
      {differences.length > 0 && (
        <Table
          label={texts.imported.differences}
          rows={differences.map((one, place) => ({ ...one, place }))}
          keyOf={({ place }) => String(place)}
          columns={[
            {
              name: texts.imported.knownCompany,
              show: ({ company, company_id }) => (
                <Link to={recordScreen("companies", company_id)}>
                  <span className="foreign">{company ?? texts.imported.unnamed}</span>
                </Link>
              ),
            },
            { name: texts.imported.field, show: ({ field }) => fieldWord(field) },
            {
              name: texts.imported.known,
              show: ({ known }) => <span className="foreign">{known ?? "–"}</span>,
            },
            {
              name: texts.imported.inTheFile,
              show: ({ imported }) => <span className="foreign">{imported}</span>,
            },
          ]}
        />
      )}
      {isAsking && action && (
        <Confirm
          title={texts.imported.undoThisImport}
          action={texts.imported.undoTheImport}
          danger
          busy={busy}
          onClose={() => setAsking(false)}
          onConfirm={() => void undo(action)}
        >
          <p>{texts.imported.whatNobodyHasWorkedOn}</p>
        </Confirm>
      )}
    </Panel>
  );
}
