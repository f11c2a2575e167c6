/** Keys for programs: made here, shown once, limited, and taken back. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import {
  Badge,
  Button,
  Confirm,
  Dialog,
  Empty,
  Failure,
  FormButtons,
  Input,
  Panel,
  Select,
  Skeleton,
  Table,
  Time,
  toast,
} from "@/kit";
import { useChange } from "./change";

type Key = Schemas["KeyOut"];
const KEYS = ["api-keys"] as const;

export function Keys() {
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<Key | null>(null);
  const { change, busy } = useChange(KEYS);
  const keys = useQuery({
    queryKey: KEYS,
    queryFn: () => read("/api-keys"),
  });
  const make = (
    <Button icon="plus" look="primary" onClick={() => setMaking(true)}>
      Create API key
    </Button>
  );
  return (
    <Panel
      flush
      title="API keys"
      about="For programs. A key has the permissions of its role."
      actions={make}
    >
      {keys.error ? (
        <Failure error={keys.error} retry={() => void keys.refetch()} />
      ) : !keys.data ? (
        <Skeleton lines={4} />
      ) : keys.data.items.length === 0 ? (
        <Empty icon="key" title="No keys yet">
          <p>
            Programs send one as <code>X-API-Key</code>. The address of the API is{" "}
            <code>{location.origin}/api/v3</code>.
          </p>
        </Empty>
      ) : (
        <Table
          label="API keys"
          rows={keys.data.items}
          keyOf={(key) => key.id}
          columns={[
            { name: "Name", show: (key) => <span className="foreign">{key.name}</span> },
            { name: "Starts with", minor: true, show: (key) => <code>{key.prefix}…</code> },
            { name: "Role", show: (key) => <Badge>{key.role}</Badge> },
            { name: "Last used", minor: true, show: (key) => <Time at={key.last_used_at} /> },
            {
              name: "Expires",
              minor: true,
              show: (key) => (key.expires_at ? <Time at={key.expires_at} isPlanned /> : "never"),
            },
            {
              name: "Actions",
              show: (key) =>
                key.revoked_at ? (
                  <Badge tone="bad">Revoked</Badge>
                ) : (
                  <Button small onClick={() => setRevoking(key)}>
                    Revoke
                  </Button>
                ),
            },
          ]}
        />
      )}
      {isMaking && (
        <MakeKey
          busy={busy}
          onClose={() => setMaking(false)}
          onSave={async (body) => {
            const made = await change(() => write("POST", "/api-keys", { body }));
            if (!made) return;
            setMaking(false);
            setSecret(made.secret);
          }}
        />
      )}
      {secret && (
        <Dialog
          title="Copy the key now"
          onClose={() => setSecret(null)}
          actions={
            <Button
              look="primary"
              icon="copy"
              onClick={() =>
                void navigator.clipboard
                  .writeText(secret)
                  .then(() => toast({ kind: "good", text: "Copied." }))
                  .catch(() => toast({ text: "Select the key and copy it yourself." }))
              }
            >
              Copy
            </Button>
          }
        >
          <p className="soft">It is shown only once. Only a hash of it is stored.</p>
          <p className="secret">
            <code>{secret}</code>
          </p>
        </Dialog>
      )}
      {revoking && (
        <Confirm
          title={`Revoke the key "${revoking.name}"?`}
          action="Revoke"
          danger
          busy={busy}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            await change(
              () => write("DELETE", "/api-keys/{key_id}", { path: { key_id: revoking.id } }),
              "The key no longer works.",
            );
            setRevoking(null);
          }}
        >
          <p>Programs that use it lose access at once.</p>
        </Confirm>
      )}
    </Panel>
  );
}

function MakeKey({
  busy,
  onSave,
  onClose,
}: {
  busy: boolean;
  onSave: (body: Schemas["KeyIn"]) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Schemas["Role"]>("viewer");
  const [days, setDays] = useState("365");
  return (
    <Dialog
      title="Create API key"
      onClose={onClose}
      onSubmit={() =>
        name.trim() &&
        onSave({
          name: name.trim(),
          role,
          ...(Number(days) > 0 ? { expires_in_days: Number(days) } : {}),
        })
      }
      actions={
        <FormButtons onClose={onClose} busy={busy} disabled={!name.trim()}>
          Create
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label="What is it for?"
          value={name}
          maxLength={200}
          onChange={(event) => setName(event.target.value)}
        />
        <Select
          label="Role"
          value={role}
          options={["viewer", "curator", "admin"]}
          onChange={(event) => setRole(event.target.value as Schemas["Role"])}
        />
        <Input
          label="Expires after (days)"
          type="number"
          min={0}
          max={3650}
          hint="0 means never."
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
      </div>
    </Dialog>
  );
}
