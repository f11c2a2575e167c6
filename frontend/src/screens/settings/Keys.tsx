/** Keys for programs: made here, shown once, limited, and taken back. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { BASE, read, write } from "@/api/client";
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
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
import { useChange } from "./change";

const HEADER = "X-API-Key";

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
      {texts.keys.createApiKey}
    </Button>
  );
  return (
    <Panel flush title={texts.keys.apiKeys} about={texts.keys.forPrograms} actions={make}>
      {keys.error ? (
        <Failure error={keys.error} retry={() => void keys.refetch()} />
      ) : !keys.data ? (
        <Skeleton lines={4} />
      ) : keys.data.items.length === 0 ? (
        <Empty icon="key" title={texts.keys.noKeysYet}>
          <p>
            {texts.keys.programsSendOneAs} <code>{HEADER}</code>
            {texts.keys.addressOfTheApiIs} <code>{`${location.origin}${BASE}`}</code>.
          </p>
        </Empty>
      ) : (
        <Table
          label={texts.keys.apiKeys}
          rows={keys.data.items}
          keyOf={(key) => key.id}
          columns={[
            { name: common.name, show: (key) => <span className="foreign">{key.name}</span> },
            { name: texts.keys.startsWith, minor: true, show: (key) => <code>{key.prefix}…</code> },
            { name: common.role, show: (key) => <Badge>{key.role}</Badge> },
            {
              name: texts.keys.lastUsed,
              minor: true,
              show: (key) => <Time at={key.last_used_at} />,
            },
            {
              name: texts.keys.expires,
              minor: true,
              show: (key) =>
                key.expires_at ? <Time at={key.expires_at} isPlanned /> : texts.keys.never,
            },
            {
              name: common.actions,
              show: (key) =>
                key.revoked_at ? (
                  <Badge tone="bad">{texts.keys.revoked}</Badge>
                ) : (
                  <Button small onClick={() => setRevoking(key)}>
                    {texts.keys.revoke}
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
          title={texts.keys.copyTheKeyNow}
          onClose={() => setSecret(null)}
          actions={
            <Button
              look="primary"
              icon="copy"
              onClick={() =>
                void navigator.clipboard
                  .writeText(secret)
                  .then(() => toast({ kind: "good", text: texts.keys.copied }))
                  .catch(() => toast({ text: texts.keys.selectTheKeyAndCopy }))
              }
            >
              {texts.keys.copy}
            </Button>
          }
        >
          <p className="soft">{texts.keys.itIsShownOnlyOnce}</p>
          <p className="secret">
            <code>{secret}</code>
          </p>
        </Dialog>
      )}
      {revoking && (
        <Confirm
          title={texts.keys.revokeTheKey(revoking.name)}
          action={texts.keys.revoke}
          danger
          busy={busy}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            await change(
              () => write("DELETE", "/api-keys/{key_id}", { path: { key_id: revoking.id } }),
              texts.keys.keyNoLongerWorks,
            );
            setRevoking(null);
          }}
        >
          <p>{texts.keys.programsThatUseItLoseAccess}</p>
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
      title={texts.keys.createApiKey}
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
          {texts.keys.create}
        </FormButtons>
      }
    >
      <div className="stack">
        <Input
          label={texts.keys.whatIsItFor}
          value={name}
          maxLength={200}
          onChange={(event) => setName(event.target.value)}
        />
        <Select
          label={common.role}
          value={role}
          options={["viewer", "curator", "admin"]}
          onChange={(event) => setRole(event.target.value as Schemas["Role"])}
        />
        <Input
          label={texts.keys.expiresAfterDays}
          type="number"
          min={0}
          max={3650}
          hint={texts.keys.zeroMeansNever}
          value={days}
          onChange={(event) => setDays(event.target.value)}
        />
      </div>
    </Dialog>
  );
}
