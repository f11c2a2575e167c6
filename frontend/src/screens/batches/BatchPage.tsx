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
import { texts } from "@/texts/batches";
import { common } from "@/texts/common";
import type { BatchItem } from "./model";
import { Progress } from "./Progress";

const STATES = [
  { value: "", label: texts.batchPage.allLines },
  { value: "queued", label: texts.batchPage.waiting },
  { value: "processing", label: texts.batchPage.running },
  { value: "done", label: texts.batchPage.done },
  { value: "failed", label: common.failed },
  { value: "skipped", label: texts.batchPage.skipped },
  { value: "refused", label: texts.batchPage.refused },
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
      toast({ kind: "good", text: `${SAID[word]}: ${texts.batchPage.countedLines(changed)}.` });
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
        about={<Link to="/batches">{texts.batchPage.allBatches}</Link>}
        actions={
          mayCurate && (
            <>
              {batch.failed > 0 && (
                <Button icon="refresh" onClick={() => void command("retry")}>
                  {texts.batchPage.retryFailedLines}
                </Button>
              )}
              {!isOver &&
                (batch.paused_at ? (
                  <Button icon="play" look="primary" onClick={() => void command("resume")}>
                    {common.resume}
                  </Button>
                ) : (
                  <Button icon="pause" onClick={() => void command("pause")}>
                    {texts.batchPage.pause}
                  </Button>
                ))}
              {!isOver && (
                <Button icon="cross" onClick={() => setCancelling(true)}>
                  {common.cancel}
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
            <Stat name={texts.batchPage.lines} value={whole(batch.total)} />
            <Stat name={texts.batchPage.waiting} value={whole(batch.pending)} />
            <Stat name={texts.batchPage.running} value={whole(batch.working)} />
            <Stat name={texts.batchPage.done} value={whole(batch.done)} tone="good" />
            <Stat
              name={common.failed}
              value={whole(batch.failed)}
              tone={batch.failed ? "bad" : ""}
            />
            {batch.skipped > 0 && (
              <Stat name={texts.batchPage.skipped} value={whole(batch.skipped)} />
            )}
            <Stat
              name={texts.batchPage.refused}
              value={whole(batch.refused)}
              tone={batch.refused ? "bad" : ""}
            />
          </dl>
        </div>
      </Panel>
      <Panel
        flush
        title={texts.batchPage.lines}
        actions={
          <Select
            label={texts.batchPage.showLines}
            bare
            value={state}
            options={STATES}
            onChange={(event) => setState(event.target.value)}
          />
        }
      >
        <Table
          label={texts.batchPage.lines}
          rows={items}
          keyOf={(item) => String(item.position)}
          columns={[
            { name: texts.batchPage.line, number: true, show: (item) => whole(item.position) },
            {
              name: texts.batchPage.submitted,
              show: (item) =>
                item.record_id ? (
                  <Link to={recordScreen(item.record_kind, item.record_id)}>
                    <span className="foreign">{item.submitted}</span>
                  </Link>
                ) : (
                  <span className="foreign">{item.submitted}</span>
                ),
            },
            { name: common.state, show: (item) => <Status status={item.state} /> },
            {
              name: texts.batchPage.result,
              minor: true,
              show: (item) => <span className="foreign small soft">{happened(item)}</span>,
            },
          ]}
        />
        {detail.hasNextPage && (
          <div className="row batch-more">
            <Button busy={detail.isFetchingNextPage} onClick={() => void detail.fetchNextPage()}>
              {texts.batchPage.moreLines}
            </Button>
          </div>
        )}
      </Panel>
      {isCancelling && (
        <Confirm
          title={texts.batchPage.cancelThisBatch}
          action={texts.batchPage.cancelTheBatch}
          danger
          onClose={() => setCancelling(false)}
          onConfirm={() => void command("cancel")}
        >
          <p>{texts.batchPage.linesThatHaveNotStarted}</p>
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

const SAID = {
  pause: texts.batchPage.paused,
  resume: texts.batchPage.resumed,
  cancel: texts.batchPage.cancelled,
  retry: texts.batchPage.queuedForRetry,
};
