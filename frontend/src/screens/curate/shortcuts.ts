/** The keys of a Curate screen. */
import type { Key } from "@/app/keys";
import { statusWord } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/curate";
import type { Curation } from "./curation";
import { NOTHING, toggle, widen } from "./selection";

/** What stands above the list and is reached by a key. */
interface Above {
  search: () => void;
  filter: () => void;
}

export function keysOf(curation: Curation, { search, filter }: Above): Key[] {
  return [
    ...moving(curation),
    ...selecting(curation),
    { keys: "/", does: common.search, run: search },
    { keys: "f", does: texts.shortcuts.filterTheList, run: filter },
    ...(curation.mayCurate ? deciding(curation) : []),
    ...(curation.mayExport
      ? [
          {
            keys: "e",
            does: texts.shortcuts.exportTheList,
            run: () => curation.setDialog("export"),
          },
        ]
      : []),
    { keys: "Shift+r", does: texts.shortcuts.refreshTheList, run: curation.reload },
  ];
}

function moving({ address, current, move, openPlace }: Curation): Key[] {
  const { opened, open } = address;
  return [
    { keys: ["j", "ArrowDown"], does: texts.shortcuts.nextRecord, run: () => move(1) },
    { keys: ["k", "ArrowUp"], does: texts.shortcuts.previousRecord, run: () => move(-1) },
    { keys: ["PageDown"], does: texts.shortcuts.down10, run: () => move(10) },
    { keys: ["PageUp"], does: texts.shortcuts.up10, run: () => move(-10) },
    {
      keys: ["Enter", "o"],
      does: texts.shortcuts.openOrCloseTheRecord,
      run: () => (opened ? open(null) : openPlace(Math.max(current, 0))),
    },
  ];
}

function selecting({ address, state, selection, current, reach, setSelection }: Curation): Key[] {
  const { rows } = state;
  return [
    {
      keys: ["x", "Space"],
      does: texts.shortcuts.selectTheRecord,
      run: () => current >= 0 && setSelection(toggle(selection, rows, current)),
    },
    {
      keys: ["Shift+j", "Shift+ArrowDown"],
      does: texts.shortcuts.extendSelectionDown,
      run: () => reach(1),
    },
    {
      keys: ["Shift+k", "Shift+ArrowUp"],
      does: texts.shortcuts.extendSelectionUp,
      run: () => reach(-1),
    },
    {
      keys: "Mod+a",
      does: texts.shortcuts.selectAllLoaded,
      run: () => setSelection(widen(selection, rows)),
    },
    {
      keys: "Escape",
      does: texts.shortcuts.closeTheRecord,
      run: () => (address.opened ? address.open(null) : setSelection(NOTHING)),
    },
  ];
}

function deciding({ kind, decideHere, assign, undo }: Curation): Key[] {
  return [
    ...kind.decisions.map(({ status, key }) => ({
      keys: key,
      does: texts.shortcuts.setTo(statusWord(status, kind.status)),
      run: () => decideHere(status),
    })),
    ...(kind.hasOwner ? [{ keys: "a", does: texts.shortcuts.assign, run: assign }] : []),
    { keys: ["u", "Mod+z"], does: texts.shortcuts.undoTheLastDecision, run: undo },
  ];
}
