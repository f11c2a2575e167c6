/** Where you are logged in; what you have lost is logged out from here. */
import { useQuery } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import { Badge, Button, Empty, Failure, Panel, Skeleton, Table, Time } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
import { useChange } from "./change";

const SESSIONS = ["sessions"] as const;

export function Sessions() {
  const { change, busy } = useChange(SESSIONS);
  const sessions = useQuery({ queryKey: SESSIONS, queryFn: () => read("/sessions") });
  const found = sessions.data?.items;
  return (
    <Panel
      flush
      title={texts.sessions.yourSessions}
      about={texts.sessions.everyBrowserThatYouAreLogged}
      actions={
        found?.some((one) => !one.is_this) && (
          <Button
            disabled={busy}
            onClick={() =>
              void change(
                () => write("DELETE", "/sessions"),
                texts.sessions.allOtherBrowsersAreLoggedOut,
              )
            }
          >
            {texts.sessions.logOutAllOthers}
          </Button>
        )
      }
    >
      {sessions.error ? (
        <Failure error={sessions.error} retry={() => void sessions.refetch()} />
      ) : !found ? (
        <Skeleton lines={3} />
      ) : found.length === 0 ? (
        <Empty icon="key" title={texts.sessions.noSessions}>
          {texts.sessions.youUseScraperskyWithoutAnAccount}
        </Empty>
      ) : (
        <Table
          label={texts.sessions.yourSessions}
          rows={found}
          keyOf={(one) => one.id}
          columns={[
            {
              name: texts.sessions.browser,
              show: (one) => (
                <>
                  {browserOf(one.device)}{" "}
                  {one.is_this && <Badge tone="good">{texts.sessions.thisBrowser}</Badge>}
                  <div className="small faint foreign">{one.device}</div>
                </>
              ),
            },
            {
              name: texts.sessions.address,
              show: (one) => <span className="foreign">{one.address}</span>,
            },
            { name: texts.sessions.lastUsed, show: (one) => <Time at={one.seen_at} /> },
            {
              name: texts.sessions.loggedIn,
              minor: true,
              show: (one) => <Time at={one.created_at} />,
            },
            {
              name: texts.sessions.ends,
              minor: true,
              show: (one) => <Time at={one.expires_at} isPlanned />,
            },
            {
              name: common.actions,
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
                        texts.sessions.thatBrowserIsLoggedOut,
                      )
                    }
                  >
                    {texts.sessions.logOut}
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
  return family ? (names[family] ?? family) : texts.sessions.browser;
}
