/** How the system stands, and how long it keeps what. */
import { useQuery } from "@tanstack/react-query";
import { call } from "@/api/client";
import { Badge, Failure, Panel, Skeleton, Table, Time, whole, wordOf } from "@/kit";

interface Retention {
  kinds: {
    kind: string;
    setting: string;
    days: number | null;
    what: string;
    oldest_at: string | null;
    overdue: number;
  }[];
}

interface Ready {
  status: string;
  checks: Record<string, string>;
}

export function System() {
  return (
    <div className="stack">
      <Health />
      <Facts />
      <Kept />
    </div>
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
  const system = useQuery({
    queryKey: ["system"],
    queryFn: () => call<Record<string, unknown>>("GET", "/system"),
  });
  if (system.error) return <Failure error={system.error} retry={() => void system.refetch()} />;
  return (
    <Panel title="System">
      {!system.data ? <Skeleton lines={6} /> : <Tree value={system.data} />}
    </Panel>
  );
}

/** Whatever the server tells of itself, part by part. */
function Tree({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "")
    return <span className="faint">–</span>;
  if (typeof value !== "object") {
    return (
      <span className="foreign">{typeof value === "number" ? whole(value) : String(value)}</span>
    );
  }
  const parts: [string, unknown][] = Array.isArray(value)
    ? value.map((one, place): [string, unknown] => [nameOf(one) ?? String(place + 1), one])
    : Object.entries(value);
  return (
    <dl className="tree">
      {parts.map(([name, one]) => (
        <div key={name}>
          <dt>{/^[A-Z_]+$/.test(name) ? <code>{name}</code> : wordOf(name)}</dt>
          <dd>
            <Tree value={one} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function nameOf(value: unknown): string | null {
  return value && typeof value === "object" && "name" in value && typeof value.name === "string"
    ? value.name
    : null;
}

function Kept() {
  const retention = useQuery({
    queryKey: ["retention"],
    queryFn: () => call<Retention>("GET", "/retention"),
  });
  if (retention.error)
    return <Failure error={retention.error} retry={() => void retention.refetch()} />;
  if (!retention.data) return <Skeleton lines={4} />;
  return (
    <Panel flush title="How long data is kept">
      <Table
        label="How long data is kept"
        rows={retention.data.kinds}
        keyOf={(kind) => kind.kind}
        columns={[
          { name: "Data", show: (kind) => <span className="capital">{kind.kind}</span> },
          {
            name: "Days",
            number: true,
            show: (kind) => (kind.days === null ? "for good" : whole(kind.days)),
          },
          { name: "Then", show: (kind) => kind.what },
          { name: "Oldest", minor: true, show: (kind) => <Time at={kind.oldest_at} /> },
          { name: "Overdue", number: true, minor: true, show: (kind) => whole(kind.overdue) },
          { name: "Setting", minor: true, show: (kind) => <code>{kind.setting}</code> },
        ]}
      />
    </Panel>
  );
}
