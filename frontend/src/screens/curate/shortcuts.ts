/** The keys of a Curate screen. */
import type { Key } from "@/app/keys";
import { statusWord } from "@/kit";
import type { Curation } from "./curation";
import { NOTHING, toggle, widen } from "./selection";

export function keysOf(curation: Curation, search: () => void): Key[] {
  return [
    ...moving(curation),
    ...selecting(curation),
    { keys: "/", does: "Search", run: search },
    ...(curation.mayCurate ? deciding(curation) : []),
    ...(curation.mayExport
      ? [{ keys: "e", does: "Export the list", run: () => curation.setDialog("export") }]
      : []),
    { keys: "Shift+r", does: "Refresh the list", run: curation.reload },
  ];
}

function moving({ address, current, move, openPlace }: Curation): Key[] {
  const { opened, open } = address;
  return [
    { keys: ["j", "ArrowDown"], does: "Next record", run: () => move(1) },
    { keys: ["k", "ArrowUp"], does: "Previous record", run: () => move(-1) },
    { keys: ["PageDown"], does: "Down 10", run: () => move(10) },
    { keys: ["PageUp"], does: "Up 10", run: () => move(-10) },
    {
      keys: ["Enter", "o"],
      does: "Open or close the record",
      run: () => (opened ? open(null) : openPlace(Math.max(current, 0))),
    },
  ];
}

function selecting({ address, state, selection, current, reach, setSelection }: Curation): Key[] {
  const { rows } = state;
  return [
    {
      keys: ["x", "Space"],
      does: "Select the record",
      run: () => current >= 0 && setSelection(toggle(selection, rows, current)),
    },
    {
      keys: ["Shift+j", "Shift+ArrowDown"],
      does: "Extend selection down",
      run: () => reach(1),
    },
    { keys: ["Shift+k", "Shift+ArrowUp"], does: "Extend selection up", run: () => reach(-1) },
    {
      keys: "Mod+a",
      does: "Select all loaded, then all matching",
      run: () => setSelection(widen(selection, rows)),
    },
    {
      keys: "Escape",
      does: "Close the record, or clear the selection",
      run: () => (address.opened ? address.open(null) : setSelection(NOTHING)),
    },
  ];
}

function deciding({ kind, decideHere, assign, undo }: Curation): Key[] {
  return [
    ...kind.decisions.map(({ status, key }) => ({
      keys: key,
      does: `Set to ${statusWord(status, kind.status)}`,
      run: () => decideHere(status),
    })),
    ...(kind.hasOwner ? [{ keys: "a", does: "Assign", run: assign }] : []),
    { keys: ["u", "Mod+z"], does: "Undo the last decision", run: undo },
  ];
}
