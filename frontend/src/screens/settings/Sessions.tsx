/** Where you are logged in; what you have lost is logged out from here. */
import { useQuery } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import { Badge, Button, Empty, Failure, Panel, Skeleton, Table, Time } from "@/kit";
import { useChange } from "./change";

const SESSIONS = ["sessions"] as const;

export function Sessions() {
  const { change, busy } = useChange(SESSIONS);
  const sessions = useQuery({ queryKey: SESSIONS, queryFn: () => read("/sessions") });
  const found = sessions.data?.items;
  return (
    <Panel
      flush
      title="Your sessions"
      about="Every browser that you are logged in with"
      actions={
        found?.some((one) => !one.is_this) && (
          <Button
            disabled={busy}
            onClick={() =>
              void change(() => write("DELETE", "/sessions"), "All other browsers are logged out.")
            }
          >
            Log out all others
          </Button>
        )
      }
    >
      {sessions.error ? (
        <Failure error={sessions.error} retry={() => void sessions.refetch()} />
      ) : !found ? (
        <Skeleton lines={3} />
      ) : found.length === 0 ? (
        <Empty icon="key" title="No sessions">
          You use ScraperSky without an account.
        </Empty>
      ) : (
        <Table
          label="Your sessions"
          rows={found}
          keyOf={(one) => one.id}
          columns={[
            {
              name: "Browser",
              show: (one) => (
                <>
                  {browserOf(one.device)} {one.is_this && <Badge tone="good">This browser</Badge>}
                  <div className="small faint foreign">{one.device}</div>
                </>
              ),
            },
            { name: "Address", show: (one) => <span className="foreign">{one.address}</span> },
            { name: "Last used", show: (one) => <Time at={one.seen_at} /> },
            { name: "Logged in", minor: true, show: (one) => <Time at={one.created_at} /> },
            {
              name: "Ends",
              minor: true,
              show: (one) => <Time at={one.expires_at} isPlanned />,
            },
            {
              name: "Actions",
              show: (one) =>
                !one.is_this && (
                  <Button
                    small
                    disabled={busy}
                    onClick={() =>
                      void change(
                        () =>
                          write("DELETE", "/sessions/{session_id}", {
                            path: { session_id: one.id },
                          }),
                        "That browser is logged out.",
                      )
                    }
                  >
                    Log out
                  </Button>
                ),
            },
          ]}
        />
      )}
    </Panel>
  );
}

/** The family of a browser; most call themselves by the names of others too. */
function browserOf(device: string | null): string {
  const families = ["Edg", "OPR", "Firefox", "Chrome", "Safari", "curl"];
  const names: Record<string, string> = { Edg: "Edge", OPR: "Opera" };
  const family = families.find((one) => device?.includes(one));
  return family ? (names[family] ?? family) : "Browser";
}
