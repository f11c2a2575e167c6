/** Settings: people, keys, who must be left alone or notified, and how the system stands. */
import { go } from "@/app/router";
import type { ScreenProps } from "@/app/routes";
import { useMay, useSession } from "@/app/session";
import { Badge, Panel, ScreenHead, short, TabPanel, Tabs } from "@/kit";
import { Audit } from "./Audit";
import { Keys } from "./Keys";
import { Notices, useOverdue } from "./Notices";
import { People } from "./People";
import { Sessions } from "./Sessions";
import { Suppressions } from "./Suppressions";
import { System } from "./System";
import "./settings.css";

type Part = "system" | "people" | "keys" | "sessions" | "suppressions" | "notices" | "audit";

const PARTS: readonly { id: Part; name: string }[] = [
  { id: "system", name: "System" },
  { id: "people", name: "People" },
  { id: "keys", name: "API keys" },
  { id: "sessions", name: "Sessions" },
  { id: "suppressions", name: "Do not contact" },
  { id: "notices", name: "Privacy notices" },
  { id: "audit", name: "Audit log" },
];

const SHOWN = {
  system: System,
  people: People,
  keys: Keys,
  sessions: Sessions,
  suppressions: Suppressions,
  notices: Notices,
  audit: Audit,
};

/** The month of some is over: that is seen from every part of the settings. */
function ToNotify() {
  const overdue = useOverdue();
  if (!overdue) return "Privacy notices";
  return (
    <>
      Privacy notices <Badge tone="bad">{short(overdue)} overdue</Badge>
    </>
  );
}

export default function Settings({ params }: ScreenProps) {
  const { data: session } = useSession();
  const mayAdminister = useMay("administer");
  const open = PARTS.find(({ id }) => id === params.part)?.id ?? "system";
  const Shown = SHOWN[open];
  return (
    <div className="screen">
      <ScreenHead
        title="Settings"
        about={session && `${session.name}, ${session.role} of ${session.tenant.name}`}
      />
      {mayAdminister ? (
        <>
          <Tabs
            label="Settings"
            tabs={PARTS.map(({ id, name }) => ({
              id,
              name: id === "notices" ? <ToNotify /> : name,
            }))}
            open={open}
            onOpen={(id) =>
              go(id === "system" ? "/settings" : `/settings/${id}`, { replace: true })
            }
          />
          <TabPanel id={open}>
            <Shown />
          </TabPanel>
        </>
      ) : (
        <div className="stack">
          <Panel>
            <p>
              Only administrators can open the other settings. Ask one to change your role or to
              create an API key for you.
            </p>
          </Panel>
          <Sessions />
        </div>
      )}
    </div>
  );
}
