/** Webhooks: receivers of changes: added here, tested, followed, and switched off. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import {
  Badge,
  Button,
  Confirm,
  Empty,
  Failure,
  Menu,
  Panel,
  Skeleton,
  Table,
  Time,
  toast,
  whole,
} from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/webhooks";
import { useChange } from "./change";
import { WebhookMessages } from "./WebhookMessages";
import { NewSecret, Replay, ShownSecret, WebhookForm } from "./webhookDialogs";

type Webhook = Schemas["WebhookOut"];
type Asked = "change" | "secret" | "replay" | "delete" | "messages";

const WEBHOOKS = ["webhooks"] as const;
/** What waits and what was sent changes by itself. */
const LOOK_MS = 5000;

export function Webhooks() {
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [asked, setAsked] = useState<{ what: Asked; webhook: Webhook } | null>(null);
  const { change, busy, wrong } = useChange(WEBHOOKS);
  const webhooks = useQuery({
    queryKey: WEBHOOKS,
    queryFn: () => read("/webhooks"),
    refetchInterval: LOOK_MS,
  });
  const close = () => setAsked(null);
  const pathOf = ({ id }: Webhook) => ({ webhook_id: id });

  async function test(webhook: Webhook) {
    const done = await change(() =>
      write("POST", "/webhooks/{webhook_id}/test", { path: pathOf(webhook) }),
    );
    if (!done) return;
    const { status, why } = done.attempt;
    if (done.is_delivered) toast({ kind: "good", text: texts.testTaken(String(status)) });
    else toast({ kind: "bad", text: texts.testFailed(why ?? texts.noAnswer) });
  }

  async function alter(webhook: Webhook, body: Schemas["WebhookChange"], said: string) {
    const done = await change(
      () => write("PATCH", "/webhooks/{webhook_id}", { path: pathOf(webhook), body }),
      said,
    );
    if (done) close();
  }

  return (
    <Panel
      flush
      title={texts.webhooks}
      about={texts.about}
      actions={
        <Button icon="plus" look="primary" onClick={() => setAdding(true)}>
          {texts.add}
        </Button>
      }
    >
      {webhooks.error ? (
        <Failure error={webhooks.error} retry={() => void webhooks.refetch()} />
      ) : !webhooks.data ? (
        <Skeleton lines={4} />
      ) : webhooks.data.items.length === 0 ? (
        <Empty icon="letter" title={texts.noneYet}>
          <p>{texts.changesArePosted}</p>
        </Empty>
      ) : (
        <Table
          label={texts.webhooks}
          rows={webhooks.data.items}
          keyOf={({ id }) => id}
          columns={[
            { name: texts.address, show: (webhook) => <Address webhook={webhook} /> },
            {
              name: texts.events,
              minor: true,
              show: ({ events }) => events.map((one) => texts.kinds[one] ?? one).join(", "),
            },
            { name: common.state, show: (webhook) => <State webhook={webhook} /> },
            {
              name: texts.waiting,
              number: true,
              minor: true,
              show: ({ pending }) => whole(pending ?? 0),
            },
            {
              name: texts.lastDelivery,
              minor: true,
              show: (webhook) => <Time at={webhook.last_delivery_at} />,
            },
            {
              name: common.actions,
              show: (webhook) => (
                <Menu
                  label={texts.actionsFor(webhook.name)}
                  icon="more"
                  look="quiet"
                  small
                  shown=""
                  align="right"
                  disabled={busy}
                  items={[
                    { name: texts.sendTest, run: () => void test(webhook) },
                    {
                      name: texts.showMessages,
                      run: () => setAsked({ what: "messages", webhook }),
                    },
                    { name: texts.change, run: () => setAsked({ what: "change", webhook }) },
                    { name: texts.newSecret, run: () => setAsked({ what: "secret", webhook }) },
                    { name: texts.replay, run: () => setAsked({ what: "replay", webhook }) },
                    webhook.is_active
                      ? {
                          name: texts.switchOff,
                          run: () => void alter(webhook, { is_active: false }, texts.isOff),
                        }
                      : {
                          name: texts.switchOn,
                          run: () => void alter(webhook, { is_active: true }, texts.isOn),
                        },
                    "line",
                    {
                      name: common.delete,
                      danger: true,
                      run: () => setAsked({ what: "delete", webhook }),
                    },
                  ]}
                />
              ),
            },
          ]}
        />
      )}
      {isAdding && (
        <WebhookForm
          busy={busy}
          wrong={wrong}
          onClose={() => setAdding(false)}
          onSave={async (body) => {
            const made = await change(() => write("POST", "/webhooks", { body }));
            if (!made) return;
            setAdding(false);
            setSecret(made.secret);
          }}
        />
      )}
      {asked?.what === "change" && (
        <WebhookForm
          webhook={asked.webhook}
          busy={busy}
          wrong={wrong}
          onClose={close}
          onSave={(body) => void alter(asked.webhook, body, texts.isChanged)}
        />
      )}
      {asked?.what === "messages" && <WebhookMessages webhook={asked.webhook} onClose={close} />}
      {asked?.what === "secret" && (
        <NewSecret
          name={asked.webhook.name}
          busy={busy}
          onClose={close}
          onSave={async (hours) => {
            const path = pathOf(asked.webhook);
            const body = { overlap_hours: hours };
            const made = await change(() =>
              write("POST", "/webhooks/{webhook_id}/secret", { path, body }),
            );
            if (!made) return;
            close();
            setSecret(made.secret);
          }}
        />
      )}
      {asked?.what === "replay" && (
        <Replay
          name={asked.webhook.name}
          busy={busy}
          onClose={close}
          onSave={async (body) => {
            const path = pathOf(asked.webhook);
            const done = await change(() =>
              write("POST", "/webhooks/{webhook_id}/replay", { path, body }),
            );
            if (!done) return;
            close();
            toast({ text: replayed(done) });
          }}
        />
      )}
      {asked?.what === "delete" && (
        <Confirm
          title={texts.deleteIt(asked.webhook.name)}
          action={common.delete}
          danger
          busy={busy}
          onClose={close}
          onConfirm={async () => {
            const path = pathOf(asked.webhook);
            await change(
              () => write("DELETE", "/webhooks/{webhook_id}", { path }),
              texts.isDeleted,
            );
            close();
          }}
        >
          <p>{texts.itLosesItsMessages}</p>
        </Confirm>
      )}
      {secret && <ShownSecret secret={secret} onClose={() => setSecret(null)} />}
    </Panel>
  );
}

function replayed({ messages, starts_at: startsAt }: Schemas["ReplayOut"]): string {
  if (startsAt) return texts.startsOver;
  return messages ? texts.replayed(messages) : texts.nothingToSend;
}

function Address({ webhook: { name, url } }: { webhook: Webhook }) {
  return (
    <>
      <span className="foreign">{name}</span>
      {name !== url && <div className="small soft foreign">{url}</div>}
    </>
  );
}

function State({ webhook }: { webhook: Webhook }) {
  const { is_active: isActive, disabled_at: disabledAt, problem } = webhook;
  return (
    <>
      {isActive && !problem && <Badge tone="good">{texts.active}</Badge>}
      {isActive && problem && <Badge tone="warn">{texts.failing}</Badge>}
      {!isActive && (
        <Badge tone={disabledAt ? "bad" : "quiet"}>
          {disabledAt ? texts.switchedOff : texts.off}
        </Badge>
      )}
      {problem && <div className="small soft foreign">{problem}</div>}
    </>
  );
}
