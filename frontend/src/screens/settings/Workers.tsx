/** The processes that serve and work: which live, where, and why one rests. */
import { useQuery } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import { useMay } from "@/app/session";
import { Badge, Button, Failure, Panel, Skeleton, Table, Time, whole, wordOf } from "@/kit";
import { useChange } from "./change";

type Worker = Schemas["WorkerOut"];
const WORKERS = ["workers"] as const;
const TONES: Record<string, string> = {
  working: "good",
  serving: "good",
  resting: "warn",
  gone: "bad",
};

export function Workers() {
  const mayOperate = useMay("operate");
  const { change, busy } = useChange(WORKERS);
  const workers = useQuery({
    queryKey: WORKERS,
    queryFn: () => read("/workers"),
    refetchInterval: 10_000,
    enabled: mayOperate,
  });
  if (!mayOperate) return null;
  if (workers.error) return <Failure error={workers.error} retry={() => void workers.refetch()} />;
  const control = (one: Worker, command: "drain" | "resume", said: string) =>
    void change(
      () => write("POST", "/workers/{name}/{command}", { path: { name: one.name, command } }),
      said,
    );
  return (
    <Panel flush title="Processes" about="Everything that serves or works on this database">
      {!workers.data ? (
        <Skeleton lines={3} />
      ) : (
        <Table
          label="Processes"
          rows={workers.data}
          keyOf={(one) => one.name}
          columns={[
            {
              name: "Process",
              show: (one) => (
                <>
                  <span className="foreign">{one.host}</span>{" "}
                  <span className="faint">
                    {one.role} {one.pid}
                  </span>
                  {one.resting && <div className="small">{one.resting}</div>}
                </>
              ),
            },
            {
              name: "State",
              show: (one) => <Badge tone={TONES[one.state] ?? "quiet"}>{wordOf(one.state)}</Badge>,
            },
            { name: "In hand", number: true, show: (one) => whole(one.in_hand) },
            { name: "Stages", number: true, minor: true, show: (one) => whole(one.stages.length) },
            { name: "Version", minor: true, show: (one) => one.version },
            { name: "Started", minor: true, show: (one) => <Time at={one.started_at} /> },
            {
              name: "Last seen",
              minor: true,
              show: (one) => `${whole(Math.round(one.seen_seconds))} s ago`,
            },
            { name: "Actions", show: (one) => <Control one={one} busy={busy} control={control} /> },
          ]}
        />
      )}
    </Panel>
  );
}

function Control({
  one,
  busy,
  control,
}: {
  one: Worker;
  busy: boolean;
  control: (one: Worker, command: "drain" | "resume", said: string) => void;
}) {
  if (one.state === "gone" || one.stages.length === 0) return null;
  const isDraining = one.state === "draining" || one.state === "drained";
  return isDraining ? (
    <Button
      small
      disabled={busy}
      aria-label={`Resume ${one.name}`}
      onClick={() => control(one, "resume", "It claims again within seconds.")}
    >
      Resume
    </Button>
  ) : (
    <Button
      small
      disabled={busy}
      aria-label={`Drain ${one.name}`}
      onClick={() => control(one, "drain", "It finishes what it has, and claims nothing more.")}
    >
      Drain
    </Button>
  );
}
