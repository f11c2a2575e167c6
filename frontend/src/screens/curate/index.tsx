/** One screen for every kind of record: look, decide, take back, take away. */
import { useRef } from "react";
import { type Kind, kindOfScreen } from "@/api/kinds";
import { useKeys } from "@/app/keys";
import { go } from "@/app/router";
import type { ScreenProps } from "@/app/routes";
import { Button, Empty } from "@/kit";
import { useColumns } from "./columns";
import { useCuration } from "./curation";
import { Dialogs } from "./Dialogs";
import { FilterBar } from "./FilterBar";
import { ListBody } from "./ListBody";
import { ListHead } from "./ListHead";
import { Pane } from "./Pane";
import { keysOf } from "./shortcuts";
import "./curate.css";
import { texts } from "@/texts/curate";

export default function Curate({ params }: ScreenProps) {
  const kind = kindOfScreen(params.kind ?? "");
  if (!kind) {
    return (
      <Empty
        icon="search"
        title={texts.screen.pageNotFound}
        actions={
          <Button look="primary" onClick={() => go("/")}>
            {texts.screen.goToThePipeline}
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
  useKeys(
    kind.title,
    keysOf(curation, () => searchBox.current?.focus()),
  );
  const { address, records, state } = curation;
  const { opened, open } = address;
  return (
    <div className={`screen curate ${opened ? "with-pane" : ""}`}>
      <ListHead curation={curation} columns={columns} />
      <FilterBar
        kind={kind}
        words={address.words}
        filters={address.filters}
        search={searchBox}
        version={curation.version}
        onWords={address.setWords}
        onFilters={address.setFilters}
      />
      <div className="curate-body">
        <ListBody curation={curation} columns={columns.shown} />
        {opened && (
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
          />
        )}
      </div>
      <Dialogs curation={curation} />
    </div>
  );
}
