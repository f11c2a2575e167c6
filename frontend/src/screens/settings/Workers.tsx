/** The processes that serve and work: which live, where, and why one rests. */
import { useQuery } from "@tanstack/react-query";
import { read, write } from "@/api/client";
import type { Schemas } from "@/api/types";
import { useMay } from "@/app/session";
import { Badge, Button, Failure, Panel, Skeleton, Table, Time, whole, wordOf } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/settings";
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
    <Panel flush title={texts.workers.processes} about={texts.workers.everythingThatServesOrWorks}>
      {!workers.data ? (
        <Skeleton lines={3} />
      ) : (
        <Table
          label={texts.workers.processes}
          rows={workers.data}
          keyOf={(one) => one.name}
          columns={[
            {
              name: texts.workers.process,
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
              name: common.state,
              show: (one) => <Badge tone={TONES[one.state] ?? "quiet"}>{wordOf(one.state)}</Badge>,
            },
            { name: texts.workers.inHand, number: true, show: (one) => whole(one.in_hand) },
            {
              name: texts.workers.stages,
              number: true,
              minor: true,
              show: (one) => whole(one.stages.length),
            },
            { name: texts.workers.version, minor: true, show: (one) => one.version },
            {
              name: texts.workers.started,
              minor: true,
              show: (one) => <Time at={one.started_at} />,
            },
            {
              name: texts.workers.lastSeen,
              minor: true,
              show: (one) => texts.workers.secondsAgo(whole(Math.round(one.seen_seconds))),
            },
            {
              name: common.actions,
              show: (one) => <Control one={one} busy={busy} control={control} />,
            },
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
      aria-label={texts.workers.resumeProcess(one.name)}
      onClick={() => control(one, "resume", texts.workers.itClaimsAgainWithinSeconds)}
    >
      {common.resume}
    </Button>
  ) : (
    <Button
      small
      disabled={busy}
      aria-label={texts.workers.drainProcess(one.name)}
      onClick={() => control(one, "drain", texts.workers.itFinishesWhatItHas)}
    >
      {texts.workers.drain}
    </Button>
  );
}
