/** What opens above a list: decide about all, take away, assign, merge. */
import { Assign, type Meant } from "./Assign";
import type { Address } from "./address";
import type { Curation } from "./curation";
import { Export } from "./Export";
import { conditionOf } from "./filters";
import { Merge } from "./Merge";
import { OwnColumns } from "./OwnColumns";
import { Pairs } from "./Pairs";
import { NOTHING } from "./selection";
import { WideDialog } from "./Wide";

export function Dialogs({ curation }: { curation: Curation }) {
  const { kind, address, state, selection, dialog, wide, reload } = curation;
  const close = () => curation.setDialog(null);
  return (
    <>
      {wide && (
        <WideDialog
          kind={kind}
          wide={wide}
          decide={curation.decideAll}
          onClose={() => curation.setWide(null)}
        />
      )}
      {dialog === "export" && (
        <Export
          kind={kind}
          query={address.query}
          total={state.total}
          selected={selection.isAll ? [] : [...selection.ids]}
          onClose={close}
        />
      )}
      {dialog === "own" && <OwnColumns kind={kind} onClose={close} />}
      {dialog === "assign" && (
        <Assign
          kind={kind}
          meant={selection.isAll ? allOf(address) : { ids: curation.meant() }}
          count={selection.isAll ? state.total.count : curation.meant().length}
          onDone={curation.keepWork}
          onClose={close}
        />
      )}
      {dialog === "pairs" && <Pairs onChanged={reload} onClose={close} />}
      {dialog === "merge" && (
        <Merge
          kind={kind}
          rows={state.rows.filter(({ id }) => selection.ids.has(id))}
          onClose={close}
          onDone={() => {
            close();
            curation.setSelection(NOTHING);
            reload();
          }}
        />
      )}
    </>
  );
}

/** Everything that a list shows, loaded or not. */
const allOf = ({ filters, words }: Address): Meant => ({
  filter: filters.map(conditionOf),
  ...(words ? { q: words } : {}),
});
