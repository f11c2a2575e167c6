/** One batch: its progress, its lines, and what can be done with it. */
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read, write } from "@/api/client";
import { useLive } from "@/api/events";
import { recordScreen } from "@/api/kinds";
import { Link } from "@/app/router";
import { useMay } from "@/app/session";
import {
  Button,
  Confirm,
  causeOf,
  Failure,
  Panel,
  plural,
  ScreenHead,
  Select,
  Skeleton,
  Stat,
  Status,
  Table,
  toast,
  toastError,
  whole,
  wordOf,
} from "@/kit";
import { Progress } from ".";
import type { BatchItem } from "./model";

const STATES = [
  { value: "", label: "All lines" },
  { value: "queued", label: "Waiting" },
  { value: "processing", label: "Running" },
  { value: "done", label: "Done" },
  { value: "failed", label: "Failed" },
  { value: "skipped", label: "Skipped" },
  { value: "refused", label: "Refused" },
];

export function BatchPage({ id }: { id: string }) {
  const queries = useQueryClient();
  const mayCurate = useMay("curate");
  const [state, setState] = useState("");
  const [isCancelling, setCancelling] = useState(false);
  const key = ["batch", id];
  const detail = useInfiniteQuery({
    queryKey: [...key, state],
    queryFn: ({ pageParam }) =>
      read("/batches/{batch_id}", {
        path: { batch_id: id },
        query: { state, cursor: pageParam, limit: 100 },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: 5000,
  });
  useLive<{ id?: string }>("batch", () => void queries.invalidateQueries({ queryKey: key }));
  const batch = detail.data?.pages[0]?.batch;
  const items = detail.data?.pages.flatMap((page) => page.items) ?? [];

  async function command(word: "pause" | "resume" | "cancel" | "retry") {
    try {
      const { changed } = await write("POST", "/batches/{batch_id}/{command}", {
        path: { batch_id: id, command: word },
      });
      toast({ kind: "good", text: `${SAID[word]}: ${plural(changed, "line")}.` });
    } catch (error) {
      toastError(error);
    }
    setCancelling(false);
    await queries.invalidateQueries({ queryKey: key });
  }

  if (detail.error && !batch) {
    return (
      <div className="screen">
        <Failure error={detail.error} retry={() => void detail.refetch()} />
      </div>
    );
  }
  if (!batch) {
    return (
      <div className="screen">
        <Skeleton lines={8} />
      </div>
    );
  }
  const isOver = batch.cancelled_at !== null || batch.pending + batch.working === 0;
  return (
    <div className="screen">
      <ScreenHead
        title={batch.name ?? `${whole(batch.total)} ${batch.kind}`}
        about={<Link to="/batches">All batches</Link>}
        actions={
          mayCurate && (
            <>
              {batch.failed > 0 && (
                <Button icon="refresh" onClick={() => void command("retry")}>
                  Retry failed lines
                </Button>
              )}
              {!isOver &&
                (batch.paused_at ? (
                  <Button icon="play" look="primary" onClick={() => void command("resume")}>
                    Resume
                  </Button>
                ) : (
                  <Button icon="pause" onClick={() => void command("pause")}>
                    Pause
                  </Button>
                ))}
              {!isOver && (
                <Button icon="cross" onClick={() => setCancelling(true)}>
                  Cancel
                </Button>
              )}
            </>
          )
        }
      />
      <Panel>
        <div className="stack">
          <div className="row">
            <Status status={batch.status} />
            <span className="soft">{wordOf(batch.kind)}</span>
          </div>
          <Progress batch={batch} />
          <dl className="batch-stats">
            <Stat name="Lines" value={whole(batch.total)} />
            <Stat name="Waiting" value={whole(batch.pending)} />
            <Stat name="Running" value={whole(batch.working)} />
            <Stat name="Done" value={whole(batch.done)} tone="good" />
            <Stat name="Failed" value={whole(batch.failed)} tone={batch.failed ? "bad" : ""} />
            {batch.skipped > 0 && <Stat name="Skipped" value={whole(batch.skipped)} />}
            <Stat name="Refused" value={whole(batch.refused)} tone={batch.refused ? "bad" : ""} />
          </dl>
        </div>
      </Panel>
      <Panel
        flush
        title="Lines"
        actions={
          <Select
            label="Show lines"
            bare
            value={state}
            options={STATES}
            onChange={(event) => setState(event.target.value)}
          />
        }
      >
        <Table
          label="Lines"
          rows={items}
          keyOf={(item) => String(item.position)}
          columns={[
            { name: "Line", number: true, show: (item) => whole(item.position) },
            {
              name: "Submitted",
              show: (item) =>
                item.record_id ? (
                  <Link to={recordScreen(item.record_kind, item.record_id)}>
                    <span className="foreign">{item.submitted}</span>
                  </Link>
                ) : (
                  <span className="foreign">{item.submitted}</span>
                ),
            },
            { name: "State", show: (item) => <Status status={item.state} /> },
            {
              name: "Result",
              minor: true,
              show: (item) => <span className="foreign small soft">{happened(item)}</span>,
            },
          ]}
        />
        {detail.hasNextPage && (
          <div className="row batch-more">
            <Button busy={detail.isFetchingNextPage} onClick={() => void detail.fetchNextPage()}>
              More lines
            </Button>
          </div>
        )}
      </Panel>
      {isCancelling && (
        <Confirm
          title="Cancel this batch?"
          action="Cancel the batch"
          danger
          onClose={() => setCancelling(false)}
          onConfirm={() => void command("cancel")}
        >
          <p>Lines that have not started are removed from the queue. Finished lines stay.</p>
        </Confirm>
      )}
    </div>
  );
}

function happened(item: BatchItem): string {
  if (!item.reason) return "";
  const why = causeOf(item.reason);
  return item.hint ? `${why}. ${item.hint}` : why;
}

const SAID = { pause: "Paused", resume: "Resumed", cancel: "Cancelled", retry: "Queued for retry" };
