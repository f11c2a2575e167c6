/** Who must be left alone: kept as hashes, so the list itself tells nothing. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "@/api/client";
import {
  Button,
  Dialog,
  Empty,
  Failure,
  Field,
  Input,
  Panel,
  plural,
  Skeleton,
  Table,
  Time,
  toast,
} from "@/kit";
import { linesOf } from "@/screens/batches/model";
import { useChange } from "./change";

interface Entry {
  id: string;
  kind: string;
  reason: string | null;
  created_at: string;
}

interface Added {
  added: number;
  known: number;
  contacts_removed: number;
  refused: { line: number; reason: string }[];
}

const ENTRIES = ["suppressions"] as const;

export function Suppressions() {
  const [isAdding, setAdding] = useState(false);
  const { change, busy } = useChange(ENTRIES);
  const entries = useQuery({
    queryKey: ENTRIES,
    queryFn: () => call<{ items: Entry[] }>("GET", "/suppressions", { query: { limit: 200 } }),
  });
  return (
    <Panel
      flush
      title="Left alone"
      about="Addresses, numbers and domains that are never stored or exported."
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
      ) : entries.data.items.length === 0 ? (
        <Empty icon="shield" title="Nobody has asked to be left alone">
          <p>When someone does, add their address here. It is removed at once, everywhere.</p>
        </Empty>
      ) : (
        <Table
          label="Left alone"
          rows={entries.data.items}
          keyOf={(entry) => entry.id}
          columns={[
            { name: "Kind", show: (entry) => entry.kind },
            {
              name: "Reason",
              show: (entry) => <span className="foreign">{entry.reason ?? ""}</span>,
            },
            { name: "Since", show: (entry) => <Time at={entry.created_at} /> },
            {
              name: "Actions",
              show: (entry) => (
                <Button
                  small
                  onClick={() =>
                    void change(
                      () => call("DELETE", `/suppressions/${entry.id}`),
                      "The entry is gone.",
                    )
                  }
                >
                  Take off
                </Button>
              ),
            },
          ]}
        />
      )}
      {isAdding && (
        <Add
          busy={busy}
          onClose={() => setAdding(false)}
          onSave={async (body) => {
            const done = await change(() => call<Added>("POST", "/suppressions", { body }));
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
  onSave,
  onClose,
}: {
  busy: boolean;
  onSave: (body: object) => void;
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [reason, setReason] = useState("");
  const values = linesOf(text);
  return (
    <Dialog
      title="Leave them alone"
      onClose={onClose}
      onSubmit={() =>
        values.length > 0 && onSave({ values, ...(reason.trim() ? { reason: reason.trim() } : {}) })
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={busy} disabled={values.length === 0}>
            Add {plural(values.length, "line")}
          </Button>
        </>
      }
    >
      <div className="stack">
        <Field
          label="E-mail addresses, phone numbers, domains"
          hint="One a line. Contacts that have them are removed at once."
        >
          {(props) => (
            <textarea
              className="input mono"
              rows={6}
              value={text}
              onChange={(event) => setText(event.target.value)}
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
      </div>
    </Dialog>
  );
}
