/** Batches: domains, sitemaps or pages submitted together, and how far they are. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "@/api/client";
import { useLive } from "@/api/events";
import { go } from "@/app/router";
import type { ScreenProps } from "@/app/routes";
import { useMay } from "@/app/session";
import {
  Button,
  Empty,
  Failure,
  Meter,
  Panel,
  ScreenHead,
  Skeleton,
  Status,
  Table,
  Time,
  whole,
} from "@/kit";
import { BatchPage } from "./BatchPage";
import type { Batch } from "./model";
import { Submit } from "./Submit";
import "./batches.css";

export default function Batches({ params }: ScreenProps) {
  return params.id ? <BatchPage id={params.id} /> : <AllBatches />;
}

function AllBatches() {
  const queries = useQueryClient();
  const mayCurate = useMay("curate");
  const [isSubmitting, setSubmitting] = useState(false);
  const batches = useQuery({
    queryKey: ["batches"],
    queryFn: () => read("/batches"),
    refetchInterval: 10_000,
  });
  useLive("batch", () => void queries.invalidateQueries({ queryKey: ["batches"] }));
  const submit = mayCurate && (
    <Button look="primary" icon="upload" onClick={() => setSubmitting(true)}>
      Submit a list
    </Button>
  );
  return (
    <div className="screen">
      <ScreenHead
        title="Batches"
        about="Your own lists of businesses, domains, sitemaps or pages. Every line gets a result."
        actions={submit}
      />
      {batches.error ? (
        <Failure error={batches.error} retry={() => void batches.refetch()} />
      ) : !batches.data ? (
        <Skeleton lines={6} />
      ) : batches.data.items.length === 0 ? (
        <Empty icon="batch" title="No batches yet" actions={submit}>
          <p>Paste a list of domains, or drop a file. Lines already in your list are marked.</p>
        </Empty>
      ) : (
        <Panel flush>
          <Table
            label="Batches"
            rows={batches.data.items}
            keyOf={(batch) => batch.id}
            onOpen={(batch) => go(`/batches/${batch.id}`)}
            columns={[
              {
                name: "Name",
                show: (batch) => (
                  <a
                    className="foreign"
                    href={`/batches/${batch.id}`}
                    onClick={(event) => {
                      event.preventDefault();
                      event.stopPropagation();
                      go(`/batches/${batch.id}`);
                    }}
                  >
                    {batch.name ?? `${whole(batch.total)} ${batch.kind}`}
                  </a>
                ),
              },
              { name: "Status", show: (batch) => <Status status={batch.status} /> },
              { name: "Progress", show: (batch) => <Progress batch={batch} /> },
              { name: "Lines", number: true, show: (batch) => whole(batch.total) },
              { name: "Failed", number: true, minor: true, show: (batch) => whole(batch.failed) },
              { name: "Refused", number: true, minor: true, show: (batch) => whole(batch.refused) },
              { name: "Submitted", minor: true, show: (batch) => <Time at={batch.created_at} /> },
            ]}
          />
        </Panel>
      )}
      {isSubmitting && (
        <Submit
          onClose={() => setSubmitting(false)}
          onDone={(id) => {
            setSubmitting(false);
            void queries.invalidateQueries({ queryKey: ["batches"] });
            go(`/batches/${id}`);
          }}
        />
      )}
    </div>
  );
}

export function Progress({ batch }: { batch: Batch }) {
  return (
    <div className="batch-meter">
      <Meter
        label={`${whole(batch.done)} of ${whole(batch.total)} done`}
        total={batch.total}
        parts={[
          { value: batch.done, tone: "good" },
          { value: batch.working, tone: "warn" },
          { value: batch.failed + batch.refused, tone: "bad" },
        ]}
      />
    </div>
  );
}
