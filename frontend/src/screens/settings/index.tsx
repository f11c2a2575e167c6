/** Settings: people, keys, who must be left alone or notified, and how the system stands. */
import { go } from "@/app/router";
import type { ScreenProps } from "@/app/screen";
import { useMay, useSession } from "@/app/session";
import { Badge, Panel, ScreenHead, short, TabPanel, Tabs } from "@/kit";
import { Audit } from "./Audit";
import { Connections } from "./connections";
import { Keys } from "./Keys";
import { Notices, useOverdue } from "./Notices";
import { People } from "./People";
import { Sessions } from "./Sessions";
import { Suppressions } from "./Suppressions";
import { System } from "./System";
import { Webhooks } from "./Webhooks";
import "./settings.css";
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
import { texts as webhookTexts } from "@/texts/webhooks";

type Part =
  | "system"
  | "people"
  | "keys"
  | "webhooks"
  | "connections"
  | "sessions"
  | "suppressions"
  | "notices"
  | "audit";

const PARTS: readonly { id: Part; name: string }[] = [
  { id: "system", name: texts.screen.system },
  { id: "people", name: common.people },
  { id: "keys", name: texts.screen.apiKeys },
  { id: "webhooks", name: webhookTexts.webhooks },
  { id: "connections", name: texts.screen.connections },
  { id: "sessions", name: texts.screen.sessions },
  { id: "suppressions", name: common.doNotContact },
  { id: "notices", name: texts.screen.privacyNotices },
  { id: "audit", name: texts.screen.auditLog },
];

const SHOWN = {
  system: System,
  people: People,
  keys: Keys,
  webhooks: Webhooks,
  connections: Connections,
  sessions: Sessions,
  suppressions: Suppressions,
  notices: Notices,
  audit: Audit,
};

/** The month of some is over: that is seen from every part of the settings. */
function ToNotify() {
  const overdue = useOverdue();
  if (!overdue) return texts.screen.privacyNotices;
  return (
    <>
      {texts.screen.privacyNotices} <Badge tone="bad">{texts.screen.overdue(short(overdue))}</Badge>
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
        title={common.settings}
        about={session && texts.screen.whoIsHere(session.name, session.role, session.tenant.name)}
      />
      {mayAdminister ? (
        <>
          <Tabs
            label={common.settings}
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
            <p>{texts.screen.onlyAdministratorsCanOpenTheOther}</p>
          </Panel>
          <Sessions />
        </div>
      )}
    </div>
  );
}
