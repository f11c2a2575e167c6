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
  plural,
  Skeleton,
  Stat,
  Table,
  Time,
  whole,
  wordOf,
} from "@/kit";
import { DemoNote, DemoOffer, useDemo } from "@/screens/pipeline/Demo";
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
    <Panel title="Demo town">
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
    <Panel title="Health">
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
      <Panel title="System">
        <Skeleton lines={6} />
      </Panel>
    );
  }
  const { version, environment, inside } = system.data;
  return (
    <>
      <Panel title="System">
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
  const where = database.is_embedded ? "embedded" : "separate server";
  const schema = database.is_up_to_date
    ? "schema up to date"
    : "schema behind: run scrapersky migrate";
  return (
    <>
      <Stat name="Python" value={inside.python} note={inside.platform} />
      <Stat name="Running since" value={<Time at={inside.started_at} />} />
      <Stat name="PostgreSQL" value={database.version} note={`${where}; ${schema}`} />
      <Stat
        name="Database"
        value={bytes(database.size_bytes)}
        note={plural(database.connections, "connection")}
      />
      <Stat
        name="Disk free"
        value={bytes(disk.free_bytes)}
        note={`of ${bytes(disk.total_bytes)}, ${disk.path}`}
        {...(disk.free_bytes < disk.total_bytes * 0.05 ? { tone: "bad" } : {})}
      />
      <Stat
        name="Live connections"
        value={whole(inside.event_streams)}
        note="open pages that update live"
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
      title="Settings"
      about="From the environment and .env, as currently in effect; secrets are masked"
      actions={
        <div className="row wrap">
          <Checkbox label="Show defaults" checked={isAll} onChange={() => setAll(!isAll)} />
          <Input
            bare
            label="Find a setting"
            placeholder="Find a setting"
            value={words}
            onChange={(event) => setWords(event.target.value)}
          />
        </div>
      }
    >
      <Table
        label="Settings"
        rows={shown}
        keyOf={(one) => one.name}
        columns={[
          {
            name: "Setting",
            show: (one) => (
              <>
                <code>{one.name}</code>
                <div className="small faint">{one.description}</div>
              </>
            ),
          },
          { name: "Value", show: (one) => <code className="foreign">{one.value || "–"}</code> },
          {
            name: "From",
            minor: true,
            show: (one) =>
              one.is_default ? (
                <span className="faint">default</span>
              ) : (
                <Badge tone="accent">set</Badge>
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
    <Panel flush title="Data retention">
      <Table
        label="Data retention"
        rows={retention.data.kinds}
        keyOf={(kind) => kind.kind}
        columns={[
          { name: "Data", show: (kind) => <span className="capital">{kind.kind}</span> },
          {
            name: "Days",
            number: true,
            show: (kind) => (kind.days === null ? "kept forever" : whole(kind.days)),
          },
          { name: "After that", show: (kind) => kind.what },
          { name: "Oldest", minor: true, show: (kind) => <Time at={kind.oldest_at} /> },
          { name: "Overdue", number: true, minor: true, show: (kind) => whole(kind.overdue ?? 0) },
          { name: "Setting", minor: true, show: (kind) => <code>{kind.setting}</code> },
        ]}
      />
    </Panel>
  );
}
