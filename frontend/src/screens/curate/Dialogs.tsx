/** What opens above a list: decide about all, take away, merge. */
import type { Curation } from "./curation";
import { Export } from "./Export";
import { Merge } from "./Merge";
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
