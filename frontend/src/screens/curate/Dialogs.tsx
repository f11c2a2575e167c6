/** What opens above a list: decide about all, take away, assign, merge. */
import { lazy } from "react";
import { later, Opened } from "@/app/later";
import { retried } from "@/app/retried";
import type { Meant } from "./Assign";
import type { Address } from "./address";
import type { Curation } from "./curation";
import { conditionOf, writeFilter } from "./filters";
import { Merge } from "./Merge";

const Assign = later(() => import("./Assign"));
const WideDialog = later(() => import("./Wide"));
// None of these does anything without the server.
const Export = lazy(retried(() => import("./Export")));
const OwnColumns = lazy(retried(() => import("./OwnColumns")));
const Pairs = lazy(retried(() => import("./Pairs")));
const SampleDialog = lazy(retried(() => import("./Sample")));

export function Dialogs({ curation }: { curation: Curation }) {
  const { kind, address, state, selection, dialog, wide, reload } = curation;
  const close = () => curation.setDialog(null);
  const meantIds = new Set(curation.meant());
  return (
    <Opened
      onClose={() => {
        close();
        curation.setWide(null);
      }}
    >
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
          rows={selection.isAll ? [] : state.rows.filter(({ id }) => meantIds.has(id))}
          count={selection.isAll ? state.total.count : curation.meant().length}
          onDone={curation.keepWork}
          onClose={close}
        />
      )}
      {dialog === "pairs" && <Pairs onChanged={reload} onClose={close} />}
      {dialog === "sample" && (
        <SampleDialog
          kind={kind}
          filter={address.filters.map(writeFilter)}
          words={address.words}
          onClose={close}
        />
      )}
      {dialog === "merge" && (
        <Merge
          kind={kind}
          rows={state.rows.filter(({ id }) => selection.ids.has(id))}
          onClose={close}
          onDone={curation.keepMerge}
        />
      )}
    </Opened>
  );
}

/** Everything that a list shows, loaded or not. */
const allOf = ({ filters, words }: Address): Meant => ({
  filter: filters.map(conditionOf),
  ...(words ? { q: words } : {}),
});
