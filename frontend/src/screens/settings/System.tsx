/** How the system stands, and how long it keeps what. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "@/api/client";
import type { Schemas } from "@/api/types";
import {
  Badge,
  bytes,
  Checkbox,
  Failure,
  Input,
  Panel,
  Skeleton,
  Stat,
  Table,
  Time,
  whole,
  wordOf,
} from "@/kit";
import { DemoNote, DemoOffer, useDemo } from "@/screens/pipeline/Demo";
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
import { Alerts } from "./Alerts";
import { Workers } from "./Workers";

interface Ready {
  status: string;
  checks: Record<string, string>;
}

export function System() {
  return (
    <div className="stack">
      <Health />
      <Alerts />
      <Workers />
      <Facts />
      <Kept />
      <DemoTown />
    </div>
  );
}

/** The town can be opened at any time, not only while there is no data yet. */
function DemoTown() {
  const { data } = useDemo();
  if (!data?.is_available) return null;
  return (
    <Panel title={texts.system.demoTown}>
      <DemoNote />
      <DemoOffer />
    </Panel>
  );
}

function Health() {
  const ready = useQuery({
    queryKey: ["ready"],
    queryFn: async () => (await (await fetch("/health/ready")).json()) as Ready,
    refetchInterval: 10_000,
  });
  if (ready.error) return <Failure error={ready.error} retry={() => void ready.refetch()} />;
  return (
    <Panel title={texts.system.health}>
      {!ready.data ? (
        <Skeleton lines={2} />
      ) : (
        <ul className="row wrap">
          {Object.entries(ready.data.checks).map(([name, outcome]) => (
            <li key={name} className="row">
              <Badge tone={outcome === "ok" ? "good" : "bad"}>
                {wordOf(name)}: {outcome}
              </Badge>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function Facts() {
  const system = useQuery({ queryKey: ["system"], queryFn: () => read("/system") });
  if (system.error) return <Failure error={system.error} retry={() => void system.refetch()} />;
  if (!system.data) {
    return (
      <Panel title={texts.system.system}>
        <Skeleton lines={6} />
      </Panel>
    );
  }
  const { version, environment, inside } = system.data;
  return (
    <>
      <Panel title={texts.system.system}>
        <dl className="stats">
          <Stat name="ScraperSky" value={version} note={wordOf(environment)} />
          {inside && <Insides inside={inside} />}
        </dl>
      </Panel>
      {inside && <SettingsTable settings={inside.settings} />}
    </>
  );
}

function Insides({ inside }: { inside: Schemas["InsideOut"] }) {
  const { database, disk } = inside;
  const where = database.is_embedded ? texts.system.embedded : texts.system.separateServer;
  const schema = database.is_up_to_date ? texts.system.schemaUpToDate : texts.system.schemaBehind;
  return (
    <>
      <Stat name={texts.system.python} value={inside.python} note={inside.platform} />
      <Stat name={texts.system.runningSince} value={<Time at={inside.started_at} />} />
      <Stat name={texts.system.postgresql} value={database.version} note={`${where}; ${schema}`} />
      <Stat
        name={texts.system.database}
        value={bytes(database.size_bytes)}
        note={texts.system.connections(database.connections)}
      />
      <Stat
        name={texts.system.diskFree}
        value={bytes(disk.free_bytes)}
        note={texts.system.ofDisk(bytes(disk.total_bytes), disk.path)}
        {...(disk.free_bytes < disk.total_bytes * 0.05 ? { tone: "bad" } : {})}
      />
      <Stat
        name={texts.system.liveConnections}
        value={whole(inside.event_streams)}
        note={texts.system.openPagesThatUpdateLive}
      />
    </>
  );
}

/** Every setting as it holds now; those that were set come first. */
function SettingsTable({ settings }: { settings: Schemas["SettingOut"][] }) {
  const [words, setWords] = useState("");
  const [isAll, setAll] = useState(false);
  const shown = settings.filter(
    (one) =>
      (isAll || words || !one.is_default) &&
      `${one.name} ${one.description}`.toLowerCase().includes(words.toLowerCase()),
  );
  return (
    <Panel
      flush
      title={common.settings}
      about={texts.system.fromTheEnvironmentAndEnv}
      actions={
        <div className="row wrap">
          <Checkbox
            label={texts.system.showDefaults}
            checked={isAll}
            onChange={() => setAll(!isAll)}
          />
          <Input
            bare
            label={texts.system.findASetting}
            placeholder={texts.system.findASetting}
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </div>
      }
    >
      <Table
        label={common.settings}
        rows={shown}
        keyOf={(one) => one.name}
        columns={[
          {
            name: texts.system.setting,
            show: (one) => (
              <>
                <code>{one.name}</code>
                <div className="small faint">{one.description}</div>
              </>
            ),
          },
          {
            name: common.value,
            show: (one) => <code className="foreign">{one.value || "–"}</code>,
          },
          {
            name: texts.system.from,
            minor: true,
            show: (one) =>
              one.changed ? (
                <Badge tone="accent">{one.changed}</Badge>
              ) : one.is_default ? (
                <span className="faint">{texts.system.default}</span>
              ) : (
                <Badge tone="accent">{texts.system.set}</Badge>
              ),
          },
        ]}
      />
    </Panel>
  );
}

function Kept() {
  const retention = useQuery({
    queryKey: ["retention"],
    queryFn: () => read("/retention"),
  });
  if (retention.error)
    return <Failure error={retention.error} retry={() => void retention.refetch()} />;
  if (!retention.data) return <Skeleton lines={4} />;
  return (
    <Panel flush title={texts.system.dataRetention}>
      <Table
        label={texts.system.dataRetention}
        rows={retention.data.kinds}
        keyOf={(kind) => kind.kind}
        columns={[
          { name: texts.system.data, show: (kind) => <span className="capital">{kind.kind}</span> },
          {
            name: texts.system.days,
            number: true,
            show: (kind) => (kind.days === null ? texts.system.keptForever : whole(kind.days)),
          },
          { name: texts.system.afterThat, show: (kind) => kind.what },
          { name: texts.system.oldest, minor: true, show: (kind) => <Time at={kind.oldest_at} /> },
          {
            name: texts.system.overdue,
            number: true,
            minor: true,
            show: (kind) => whole(kind.overdue ?? 0),
          },
          { name: texts.system.setting, minor: true, show: (kind) => <code>{kind.setting}</code> },
        ]}
      />
    </Panel>
  );
}
