/** Connections to CRMs: which there are, how each one is doing, and what is done with it. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "@/api/client";
import { Button, Empty, Failure, Panel, Skeleton, Table, Time, whole } from "@/kit";
import { texts } from "@/texts/connections";
import { Connect } from "./Connect";
import { Connection } from "./Connection";
import { State } from "./State";
import { CONNECTIONS, waitingOf, writtenOf } from "./shown";

/** While something waits, its progress is asked for. */
const LOOK_AGAIN_MS = 2_000;

export function Connections() {
  const [isConnecting, setConnecting] = useState(false);
  const [openId, setOpenId] = useState<string | null>(null);
  const connections = useQuery({
    queryKey: CONNECTIONS,
    queryFn: () => read("/connections"),
    refetchInterval: ({ state }) =>
      state.data?.items.some((one) => one.is_active && waitingOf(one) > 0) ? LOOK_AGAIN_MS : false,
  });
  const opened = connections.data?.items.find(({ id }) => id === openId);
  if (opened) return <Connection connection={opened} onBack={() => setOpenId(null)} />;
  return (
    <Panel
      flush
      title={texts.list.connections}
      about={texts.list.about}
      actions={
        <Button icon="plus" look="primary" onClick={() => setConnecting(true)}>
          {texts.list.connect}
        </Button>
      }
    >
      {connections.error ? (
        <Failure error={connections.error} retry={() => void connections.refetch()} />
      ) : !connections.data ? (
        <Skeleton lines={4} />
      ) : connections.data.items.length === 0 ? (
        <Empty icon="link" title={texts.list.none}>
          <p>{texts.list.connectOne}</p>
        </Empty>
      ) : (
        <Table
          label={texts.list.connections}
          rows={connections.data.items}
          keyOf={({ id }) => id}
          columns={[
            {
              name: texts.list.name,
              show: ({ id, name }) => (
                <button type="button" className="as-link foreign" onClick={() => setOpenId(id)}>
                  {name}
                </button>
              ),
            },
            {
              name: texts.list.account,
              minor: true,
              show: ({ account_name }) => <span className="foreign">{account_name || "–"}</span>,
            },
            { name: texts.list.state, show: (one) => <State connection={one} /> },
            {
              name: texts.list.written,
              number: true,
              show: (one) => whole(writtenOf(one)),
            },
            { name: texts.list.waiting, number: true, show: (one) => whole(waitingOf(one)) },
            {
              name: texts.list.since,
              minor: true,
              show: ({ created_at }) => <Time at={created_at} />,
            },
          ]}
        />
      )}
      {isConnecting && (
        <Connect
          onClose={() => setConnecting(false)}
          onMade={(id) => {
            setConnecting(false);
            setOpenId(id);
          }}
        />
      )}
    </Panel>
  );
}
