/** The head of a list: what it is, how many there are, and what can be done with all of it. */
import { go } from "@/app/router";
import { Button, IconButton, plural, ScreenHead } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/curate";
import { ColumnMenu, type Columns } from "./columns";
import type { Curation } from "./curation";
import { Views } from "./Views";

export function ListHead({ curation, columns }: { curation: Curation; columns: Columns }) {
  const { kind, address, state, mayCurate, mayExport, setDialog } = curation;
  const { total } = state;
  // Before an answer, and without one, nobody knows how many there are.
  const isKnown = state.rows.length > 0 || (!state.isLoading && !state.error);
  return (
    <ScreenHead
      title={kind.title}
      about={kind.about}
      actions={
        <>
          <span className="number soft" role="status">
            {isKnown &&
              texts.listHead.aboutCount(total.is_exact, plural(total.count, kind.one, kind.many))}
          </span>
          {kind.hasOwner && (
            <fieldset className="segments">
              <legend className="unseen">{texts.listHead.shownAs}</legend>
              <IconButton
                icon="list"
                label={texts.listHead.asAList}
                aria-pressed={!address.isMap}
                onClick={() => address.setMap(false)}
              />
              <IconButton
                icon="map"
                label={texts.listHead.onAMap}
                aria-pressed={address.isMap}
                onClick={() => address.setMap(true)}
              />
            </fieldset>
          )}
          <Views
            kind={kind}
            query={address.viewQuery}
            columns={columns.written}
            onOpen={(next) => go(`${kind.screen}?${next}`)}
          />
          <ColumnMenu
            columns={columns}
            onOwn={kind.hasOwner && mayCurate ? () => setDialog("own") : undefined}
          />
          {kind.hasPairs && mayCurate && (
            <Button icon="merge" onClick={() => setDialog("pairs")}>
              {texts.listHead.mayBeOne}
            </Button>
          )}
          {kind.form !== null && mayCurate && (
            <Button icon="check" onClick={() => setDialog("sample")}>
              {common.checkASample}
            </Button>
          )}
          {mayExport && (
            <Button icon="download" hotkey="e" onClick={() => setDialog("export")}>
              {common.export}
            </Button>
          )}
        </>
      }
    />
  );
}
