/** The rows of a list, or why there are none. */
import { Failure, Icon, Skeleton } from "@/kit";
import { texts } from "@/texts/curate";
import type { Columns } from "./columns";
import type { Curation } from "./curation";
import { Grid } from "./Grid";
import { NoRecords } from "./NoRecords";
import { SelectionBar } from "./SelectionBar";

interface ListBodyProps {
  curation: Curation;
  columns: Columns;
}

export function ListBody({ curation, columns }: ListBodyProps) {
  const { state, more, reload } = curation;
  return (
    <div className="curate-list">
      {(state.unseen > 0 || state.isBehind) && (
        // Above the rows: they must not move because others have changed something.
        <button type="button" className="unseen-pill" onClick={reload}>
          <Icon name="refresh" size={14} />
          {texts.listHead.listChanged}
        </button>
      )}
      {state.rows.length === 0 ? (
        <WithoutRows curation={curation} />
      ) : (
        <Rows curation={curation} columns={columns} />
      )}
      {state.error !== null && state.rows.length > 0 && (
        <Failure error={state.error} retry={more} />
      )}
      <SelectionBar curation={curation} />
    </div>
  );
}

function WithoutRows({ curation }: { curation: Curation }) {
  const { kind, address, state, reload } = curation;
  if (state.error !== null) return <Failure error={state.error} retry={reload} />;
  if (state.isLoading) {
    return (
      <div className="grid-wait">
        <Skeleton lines={12} />
      </div>
    );
  }
  const isNarrowed = address.filters.length > 0 || address.words !== "";
  return <NoRecords kind={kind} isNarrowed={isNarrowed} onClear={address.clear} />;
}

function Rows({ curation, columns }: ListBodyProps) {
  const { kind, address, state, selection, current } = curation;
  return (
    <Grid
      kind={kind}
      columns={columns.shown}
      onResize={columns.resize}
      onMove={columns.move}
      onSet={curation.mayCurate && kind.hasOwner ? curation.setCell : undefined}
      isBeside={address.opened !== null}
      state={state}
      sort={address.sort}
      selection={selection}
      current={current}
      onSort={address.setSort}
      onPick={curation.pick}
      onPickPage={curation.pickLoaded}
      onOpen={curation.openPlace}
      onMore={curation.more}
    />
  );
}
