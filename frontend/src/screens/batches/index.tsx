/** Imports: lists that somebody has brought, and how far they are. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { read } from "@/api/client";
import { useLive } from "@/api/events";
import type { Schemas } from "@/api/types";
import { go, Link } from "@/app/router";
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
import { FILE, placeOf, type Search, searchScreen } from "@/screens/search/data";
import { BatchPage } from "./BatchPage";
import { Progress } from "./Progress";
import { Submit } from "./Submit";
import "./batches.css";
import { texts } from "@/texts/batches";
import { common } from "@/texts/common";

export default function Batches({ params }: ScreenProps) {
  return params.id ? <BatchPage id={params.id} /> : <AllBatches />;
}

/** Domains, sitemaps and pages are a batch, businesses a search in a file: both are imports. */
interface Imported {
  to: string;
  name: string;
  status: string;
  lines: number;
  progress: ReactNode;
  failed: string;
  refused: string;
  at: string;
}

const NOT_COUNTED = "–";

const ofBatch = (batch: Schemas["BatchOut"]): Imported => ({
  to: `/batches/${batch.id}`,
  name: batch.name ?? `${whole(batch.total)} ${batch.kind}`,
  status: batch.status,
  lines: batch.total,
  progress: <Progress batch={batch} />,
  failed: whole(batch.failed),
  refused: whole(batch.refused),
  at: batch.created_at,
});

const ofFile = (search: Search): Imported => ({
  to: searchScreen(search.id, FILE),
  name: placeOf(search),
  status: search.status,
  lines: search.found_count,
  progress: NOT_COUNTED,
  failed: NOT_COUNTED,
  refused: NOT_COUNTED,
  at: search.created_at,
});

function useImports() {
  return useQuery({
    queryKey: IMPORTS,
    queryFn: async () => {
      const query = { filter: [`source:equal:${FILE}`], sort: "-created_at", limit: 50 };
      const [batches, files] = await Promise.all([read("/batches"), read("/searches", { query })]);
      const all = [...batches.items.map(ofBatch), ...(files.items as Search[]).map(ofFile)];
      return all.sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
    },
    refetchInterval: 10_000,
  });
}

const IMPORTS = ["batches", "all"];

function AllBatches() {
  const queries = useQueryClient();
  const mayCurate = useMay("curate");
  const [isSubmitting, setSubmitting] = useState(false);
  const imports = useImports();
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
      {imports.error ? (
        <Failure error={imports.error} retry={() => void imports.refetch()} />
      ) : !imports.data ? (
        <Skeleton lines={6} />
      ) : imports.data.length === 0 ? (
        <Empty icon="batch" title={texts.screen.noBatchesYet} actions={submit}>
          <p>{texts.screen.pasteAListOfDomains}</p>
        </Empty>
      ) : (
        <Panel flush>
          <Table
            label={texts.screen.batches}
            rows={imports.data}
            keyOf={({ to }) => to}
            onOpen={({ to }) => go(to)}
            columns={[
              {
                name: common.name,
                show: ({ to, name }) => (
                  <Link to={to} className="foreign" onClick={(event) => event.stopPropagation()}>
                    {name}
                  </Link>
                ),
              },
              { name: texts.screen.status, show: ({ status }) => <Status status={status} /> },
              { name: texts.screen.progress, show: ({ progress }) => progress },
              { name: texts.screen.lines, number: true, show: ({ lines }) => whole(lines) },
              { name: common.failed, number: true, minor: true, show: ({ failed }) => failed },
              {
                name: texts.screen.refused,
                number: true,
                minor: true,
                show: ({ refused }) => refused,
              },
              { name: texts.screen.submitted, minor: true, show: ({ at }) => <Time at={at} /> },
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
