/** Settings: people, keys, who must be left alone, and how the system stands. */
import { go } from "@/app/router";
import type { ScreenProps } from "@/app/routes";
import { useMay, useSession } from "@/app/session";
import { Panel, ScreenHead, TabPanel, Tabs } from "@/kit";
import { Audit } from "./Audit";
import { Keys } from "./Keys";
import { People } from "./People";
import { Suppressions } from "./Suppressions";
import { System } from "./System";
import "./settings.css";

type Part = "system" | "people" | "keys" | "suppressions" | "audit";

const PARTS: readonly { id: Part; name: string }[] = [
  { id: "system", name: "System" },
  { id: "people", name: "People" },
  { id: "keys", name: "API keys" },
  { id: "suppressions", name: "Left alone" },
  { id: "audit", name: "Audit" },
];

const SHOWN = {
  system: System,
  people: People,
  keys: Keys,
  suppressions: Suppressions,
  audit: Audit,
};

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
            tabs={PARTS}
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
        <Panel>
          <p>
            These are for administrators. Ask one to change your role, or to make a key for you.
          </p>
        </Panel>
      )}
    </div>
  );
}
