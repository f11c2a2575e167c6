/** Batches: domains, sitemaps or pages submitted together, and how far they are. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { read } from "@/api/client";
import { useLive } from "@/api/events";
import { go } from "@/app/router";
import type { ScreenProps } from "@/app/screen";
import { useMay } from "@/app/session";
import {
  Button,
  Empty,
  Failure,
  Panel,
  ScreenHead,
  Skeleton,
  Status,
  Table,
  Time,
  whole,
} from "@/kit";
import { BatchPage } from "./BatchPage";
import { Progress } from "./Progress";
import { Submit } from "./Submit";
import "./batches.css";
import { texts } from "@/texts/batches";
import { common } from "@/texts/common";

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
      {texts.screen.submitAList}
    </Button>
  );
  return (
    <div className="screen">
      <ScreenHead
        title={texts.screen.batches}
        about={texts.screen.yourOwnListsOfBusinesses}
        actions={submit}
      />
      {batches.error ? (
        <Failure error={batches.error} retry={() => void batches.refetch()} />
      ) : !batches.data ? (
        <Skeleton lines={6} />
      ) : batches.data.items.length === 0 ? (
        <Empty icon="batch" title={texts.screen.noBatchesYet} actions={submit}>
          <p>{texts.screen.pasteAListOfDomains}</p>
        </Empty>
      ) : (
        <Panel flush>
          <Table
            label={texts.screen.batches}
            rows={batches.data.items}
            keyOf={(batch) => batch.id}
            onOpen={(batch) => go(`/batches/${batch.id}`)}
            columns={[
              {
                name: common.name,
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
              { name: texts.screen.status, show: (batch) => <Status status={batch.status} /> },
              { name: texts.screen.progress, show: (batch) => <Progress batch={batch} /> },
              { name: texts.screen.lines, number: true, show: (batch) => whole(batch.total) },
              {
                name: common.failed,
                number: true,
                minor: true,
                show: (batch) => whole(batch.failed),
              },
              {
                name: texts.screen.refused,
                number: true,
                minor: true,
                show: (batch) => whole(batch.refused),
              },
              {
                name: texts.screen.submitted,
                minor: true,
                show: (batch) => <Time at={batch.created_at} />,
              },
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
