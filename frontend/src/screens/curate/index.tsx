/** One screen for every kind of record: look, decide, take back, take away. */
import { lazy, Suspense, useRef } from "react";
import { type Kind, kindOfScreen } from "@/api/kinds";
import { useKeys } from "@/app/keys";
import { later, useLater } from "@/app/later";
import { retried } from "@/app/retried";
import { go } from "@/app/router";
import type { ScreenProps } from "@/app/screen";
import { Button, Empty, Loading, Skeleton } from "@/kit";
import { useColumns } from "./columns";
import { useCuration } from "./curation";
import { Dialogs } from "./Dialogs";
import { FilterBar } from "./FilterBar";
import { ListBody } from "./ListBody";
import { ListHead } from "./ListHead";
import { keysOf } from "./shortcuts";
import "./curate.css";
import { texts } from "@/texts/curate";

const Pane = later(() => import("./Pane"));
const LeadMap = lazy(retried(() => import("./LeadMap")));

export default function Curate({ params }: ScreenProps) {
  const kind = kindOfScreen(params.kind ?? "");
  if (!kind) {
    return (
      <Empty
        icon="search"
        title={texts.screen.pageNotFound}
        actions={
          <Button look="primary" onClick={() => go("/")}>
            {texts.screen.goHome}
          </Button>
        }
      />
    );
  }
  return <CurateKind key={kind.id} kind={kind} />;
}

function CurateKind({ kind }: { kind: Kind }) {
  const curation = useCuration(kind);
  const columns = useColumns(kind);
  const searchBox = useRef<HTMLInputElement>(null);
  const picker = useRef<HTMLButtonElement>(null);
  useKeys(
    kind.title,
    keysOf(curation, {
      search: () => searchBox.current?.focus(),
      filter: () => picker.current?.click(),
    }),
  );
  const { address, records, state } = curation;
  const { opened, open } = address;
  // The list comes first; what opens beside it is there before the server may be away.
  useLater(state.rows.length > 0);
  const isMap = address.isMap && kind.hasOwner;
  return (
    <div className={`screen curate ${opened ? "with-pane" : ""}`}>
      <ListHead curation={curation} columns={columns} />
      <FilterBar
        kind={kind}
        words={address.words}
        filters={address.filters}
        search={searchBox}
        picker={picker}
        version={curation.version}
        onWords={address.setWords}
        onFilters={address.setFilters}
      />
      <div className="curate-body">
        {isMap ? (
          <Suspense fallback={<Loading />}>
            <LeadMap curation={curation} />
          </Suspense>
        ) : (
          <ListBody curation={curation} columns={columns} />
        )}
        {opened && (
          <Suspense
            fallback={
              <div className="pane">
                <Skeleton lines={8} />
              </div>
            }
          >
            <Pane
              key={opened}
              kind={kind}
              id={opened}
              row={state.rows[records.placeOf(opened)]}
              mayCurate={curation.mayCurate}
              onDecide={curation.decideOpened}
              onStep={curation.move}
              onClose={() => open(null)}
              onChanged={curation.reload}
              onWorked={curation.keepWork}
            />
          </Suspense>
        )}
      </div>
      <Dialogs curation={curation} />
    </div>
  );
}
