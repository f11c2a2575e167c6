/** Who must be left alone: kept as hashes, so the list itself says nothing. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import {
  Button,
  Confirm,
  Dialog,
  Empty,
  Failure,
  Field,
  FormButtons,
  Input,
  Panel,
  plural,
  Skeleton,
  Table,
  Time,
  toast,
  wordOf,
} from "@/kit";
import { linesOf } from "@/screens/batches/model";
import { useChange } from "./change";

type Entry = Schemas["SuppressionOut"];
type Wanted = Pick<Schemas["SuppressionsIn"], "values" | "reason">;
const KINDS: Record<string, string> = {
  email: "E-mail address",
  phone: "Phone number",
  domain: "Domain",
};
const ENTRIES = ["suppressions"] as const;

export function Suppressions() {
  const [isAdding, setAdding] = useState(false);
  const [freeing, setFreeing] = useState<Entry | null>(null);
  const { change, busy } = useChange(ENTRIES);
  const entries = useInfiniteQuery({
    queryKey: ENTRIES,
    queryFn: ({ pageParam }) => read("/suppressions", { query: { cursor: pageParam, limit: 100 } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const rows = entries.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Panel
      flush
      title="Do not contact"
      about="E-mail addresses, phone numbers and domains that are never stored or exported. The list keeps only hashes, so entries are distinguished by reason and date."
      actions={
        <Button icon="plus" look="primary" onClick={() => setAdding(true)}>
          Add
        </Button>
      }
    >
      {entries.error ? (
        <Failure error={entries.error} retry={() => void entries.refetch()} />
      ) : !entries.data ? (
        <Skeleton lines={4} />
      ) : rows.length === 0 ? (
        <Empty icon="shield" title="The list is empty">
          <p>
            When someone asks not to be contacted, add their address here. Their contacts are
            deleted at once.
          </p>
        </Empty>
      ) : (
        <Table
          label="Do not contact"
          rows={rows}
          keyOf={(entry) => entry.id}
          columns={[
            { name: "Kind", show: (entry) => KINDS[entry.kind] ?? wordOf(entry.kind) },
            {
              name: "Reason",
              show: (entry) =>
                entry.reason ? (
                  <span className="foreign">{entry.reason}</span>
                ) : (
                  <span className="faint">–</span>
                ),
            },
            { name: "Since", minor: true, show: (entry) => <Time at={entry.created_at} /> },
            {
              name: "Actions",
              show: (entry) => (
                <Button small onClick={() => setFreeing(entry)}>
                  Remove
                </Button>
              ),
            },
          ]}
        />
      )}
      {entries.hasNextPage && (
        <div className="row settings-more">
          <Button busy={entries.isFetchingNextPage} onClick={() => void entries.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
      {freeing && (
        <Confirm
          title="Remove this entry?"
          action="Remove"
          danger
          busy={busy}
          onClose={() => setFreeing(null)}
          onConfirm={async () => {
            await change(
              () =>
                write("DELETE", "/suppressions/{suppression_id}", {
                  path: { suppression_id: freeing.id },
                }),
              "The entry is removed.",
            );
            setFreeing(null);
          }}
        >
          <p>
            This address can then be found and stored again. To restore the entry you must enter the
            address again: the list does not contain it.
          </p>
        </Confirm>
      )}
      {isAdding && (
        <Add
          busy={busy}
          onClose={() => setAdding(false)}
          onLook={(body) =>
            change(() => write("POST", "/suppressions", { body: { ...body, dry_run: true } }))
          }
          onSave={async (body) => {
            const done = await change(() => write("POST", "/suppressions", { body }));
            if (!done) return;
            setAdding(false);
            toast({
              kind: "good",
              text: `${plural(done.added, "entry", "entries")} added, ${plural(done.contacts_removed, "contact")} removed.`,
              hint: done.refused.map(({ line, reason }) => `Line ${line}: ${reason}`).join(" "),
            });
          }}
        />
      )}
    </Panel>
  );
}

function Add({
  busy,
  onLook,
  onSave,
  onClose,
}: {
  busy: boolean;
  /** Ask what saving would come to. */
  onLook: (body: Wanted) => Promise<Schemas["SuppressedOut"] | undefined>;
  onSave: (body: Wanted) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [reason, setReason] = useState("");
  const [lost, setLost] = useState(0);
  const values = linesOf(text);

  async function submit() {
    if (values.length === 0) return;
    const body = { values, ...(reason.trim() ? { reason: reason.trim() } : {}) };
    if (lost > 0) return onSave(body);
    const foreseen = await onLook(body);
    if (!foreseen) return;
    if (foreseen.contacts_removed > 0) setLost(foreseen.contacts_removed);
    else onSave(body);
  }

  return (
    <Dialog
      title="Do not contact"
      onClose={onClose}
      onSubmit={() => void submit()}
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={values.length === 0}>
          {lost > 0
            ? `Add and delete ${plural(lost, "contact")}`
            : `Add ${plural(values.length, "line")}`}
        </FormButtons>
      }
    >
      <div className="stack">
        <Field
          label="E-mail addresses, phone numbers, domains"
          hint="One per line. Before matching contacts are deleted, you see how many they are."
        >
          {(props) => (
            <textarea
              className="input mono"
              rows={6}
              value={text}
              onChange={(event) => {
                setText(event.target.value);
                setLost(0);
              }}
              {...props}
            />
          )}
        </Field>
        <Input
          label="Reason"
          value={reason}
          maxLength={200}
          onChange={(event) => setReason(event.target.value)}
        />
        {lost > 0 && (
          <p role="status" className="bad">
            {plural(lost, "matching contact")} will be deleted. This cannot be undone.
          </p>
        )}
      </div>
    </Dialog>
  );
}
