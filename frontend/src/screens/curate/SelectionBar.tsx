/** What can be done with the records that are selected. */
import { Button, whole } from "@/kit";
import { texts } from "@/texts/curate";
import type { Curation } from "./curation";
import { Decisions } from "./Decisions";
import { Priority } from "./Priority";
import { NOTHING, type Selection, sizeOf, widen } from "./selection";

const MOST_MERGED = 20;

export function SelectionBar({ curation }: { curation: Curation }) {
  const { kind, state, selection, mayCurate, setSelection, setDialog } = curation;
  const { rows, total, hasMore } = state;
  const size = sizeOf(selection, total.count);
  if (size === 0) return null;
  return (
    <section className="selection-bar" aria-label={texts.selectionBar.actionsForTheSelection}>
      <strong className="number">{texts.selectionBar.selected(whole(size))}</strong>
      {!selection.isAll && selection.ids.size === rows.length && hasMore && (
        <Button small look="quiet" onClick={() => setSelection(widen(selection, rows))}>
          {texts.selectionBar.selectAllMatching(total.is_exact, whole(total.count))}
        </Button>
      )}
      {mayCurate && <Decisions kind={kind} onDecide={curation.decideHere} />}
      {mayCurate && kind.hasPriority && !selection.isAll && (
        <Priority kind={kind} ids={[...selection.ids]} onSet={curation.reload} />
      )}
      {kind.hasOwner && mayCurate && (
        <Button small icon="users" hotkey="a" onClick={curation.assign}>
          {texts.selectionBar.assign}
        </Button>
      )}
      {kind.isMergeable && mayCurate && isMergeable(selection) && (
        <Button small icon="merge" onClick={() => setDialog("merge")}>
          {texts.selectionBar.merge}
        </Button>
      )}
      <Button
        small
        look="quiet"
        icon="cross"
        hotkey={texts.selectionBar.escape}
        onClick={() => setSelection(NOTHING)}
      >
        {texts.selectionBar.clear}
      </Button>
    </section>
  );
}

const isMergeable = ({ ids, isAll }: Selection): boolean =>
  !isAll && ids.size > 1 && ids.size <= MOST_MERGED;
