/** What a webhook was sent: every message with every attempt, the latest first. */
import { useInfiniteQuery } from "@tanstack/react-query";
import { read } from "@/api/client";
import type { Schemas } from "@/api/types";
import { Badge, Button, Dialog, Empty, Failure, Skeleton, Table, Time, whole } from "@/kit";
import { texts } from "@/texts/webhooks";

type Message = Schemas["WebhookDeliveryOut"];
type Attempt = Schemas["DeliveryAttemptOut"];

const LOOK_MS = 3000;
const TONES = { pending: "quiet", delivered: "good", failed: "bad" } as const;

interface WebhookMessagesProps {
  webhook: Schemas["WebhookOut"];
  onClose: () => void;
}

export function WebhookMessages({ webhook, onClose }: WebhookMessagesProps) {
  const found = useInfiniteQuery({
    queryKey: ["webhooks", webhook.id, "deliveries"],
    queryFn: ({ pageParam }) =>
      read("/webhooks/{webhook_id}/deliveries", {
        path: { webhook_id: webhook.id },
        query: { cursor: pageParam },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: LOOK_MS,
  });
  const rows = found.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Dialog wide title={texts.messagesOf(webhook.name)} onClose={onClose}>
      {found.error ? (
        <Failure error={found.error} retry={() => void found.refetch()} />
      ) : !found.data ? (
        <Skeleton lines={4} />
      ) : rows.length === 0 ? (
        <Empty icon="letter" title={texts.noMessages}>
          <p>{texts.nothingWasSent}</p>
        </Empty>
      ) : (
        <Table
          label={texts.messagesOf(webhook.name)}
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { name: texts.when, show: (message) => <Time at={message.created_at} /> },
            { name: texts.type, show: (message) => <Type message={message} /> },
            { name: texts.attempts, show: (message) => <Attempts message={message} /> },
          ]}
        />
      )}
      {found.hasNextPage && (
        <div className="row settings-more">
          <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            {texts.showMore}
          </Button>
        </div>
      )}
    </Dialog>
  );
}

function Type({ message }: { message: Message }) {
  const { type, event_count: count, message_id: id } = message;
  return (
    <>
      <code>{type}</code>
      {count > 1 && <span className="soft"> {texts.changes(count)}</span>}
      <div className="small faint foreign">{id}</div>
    </>
  );
}

function Attempts({ message }: { message: Message }) {
  const { state, attempts, next_at: nextAt } = message;
  return (
    <>
      <Badge tone={TONES[state]}>{texts.states[state]}</Badge>
      <ul className="plain small">
        {attempts.map((attempt) => (
          <li key={attempt.at}>
            <Time at={attempt.at} /> <span className="foreign">{outcomeOf(attempt)}</span>
          </li>
        ))}
      </ul>
      {state === "pending" && nextAt && (
        <div className="small soft">
          {texts.nextAttempt} <Time at={nextAt} isPlanned />
        </div>
      )}
    </>
  );
}

const outcomeOf = ({ status, why, ms }: Attempt): string =>
  texts.took(why ?? String(status ?? texts.noAnswer), whole(ms));
