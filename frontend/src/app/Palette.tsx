/** Ctrl-K: type where to go, what to open or what to do. */
import { useQueries } from "@tanstack/react-query";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useRef, useState } from "react";
import { ofKind, read } from "@/api/client";
import { type Kind, kinds } from "@/api/kinds";
import { useViews, viewScreen } from "@/api/views";
import { Dialog, Icon, type IconName } from "@/kit";
import { texts } from "@/texts/palette";
import { type Key, useKeySections } from "./keys";
import { matching } from "./matching";
import { go } from "./router";
import { navigation, SETTINGS } from "./routes";

export interface Entry {
  id: string;
  group: string;
  name: string;
  icon: IconName;
  run: () => void;
}

const SHORTEST = 2;
const OF_EACH = 4;
const EVERYWHERE = texts.palette.everywhere;

export default function Palette({ onClose }: { onClose: () => void }) {
  const [words, setWords] = useState("");
  const [place, setPlace] = useState(0);
  const list = useId();
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.focus(), []);
  const known = useKnown();
  const wanted = useDeferredValue(words.trim());
  const { leads, steps, isSearching } = useRecords(wanted);
  const entries = [...leads, ...matching(known, words), ...steps];
  const isWaiting = isSearching || wanted !== words.trim();
  const current = Math.min(place, entries.length - 1);

  function run(entry: Entry | undefined) {
    if (!entry) return;
    onClose();
    // What was open closes first: keys of the screen do nothing under a dialog.
    setTimeout(entry.run);
  }

  function move(event: KeyboardEvent) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setPlace((current + by + entries.length) % Math.max(1, entries.length));
  }

  return (
    <Dialog title={texts.palette.goTo} onClose={onClose} onSubmit={() => run(entries[current])}>
      <div className="palette">
        <input
          ref={box}
          className="input"
          role="combobox"
          aria-label={texts.palette.screenViewRecordOrCommand}
          aria-expanded={entries.length > 0}
          aria-controls={entries.length > 0 ? list : undefined}
          aria-activedescendant={entries[current] ? `${list}-${current}` : undefined}
          placeholder={texts.palette.screenViewRecordOrCommand}
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setPlace(0);
          }}
          onKeyDown={move}
        />
        {entries.length > 0 && (
          <div id={list} role="listbox" aria-label={texts.palette.matches} className="palette-list">
            {entries.map((entry, at) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the input.
              // biome-ignore lint/a11y/useFocusableInteractive: the input has the focus.
              <div
                key={entry.id}
                id={`${list}-${at}`}
                role="option"
                aria-selected={at === current}
                ref={(box) => {
                  if (at === current) box?.scrollIntoView({ block: "nearest" });
                }}
                onClick={() => run(entry)}
              >
                <Icon name={entry.icon} size={16} />
                <span className="foreign cut grow">{entry.name}</span>
                <span className="small soft">{entry.group}</span>
              </div>
            ))}
          </div>
        )}
        <p className="soft" role="status">
          {isWaiting
            ? texts.palette.searching
            : entries.length === 0 && texts.palette.nothingMatches}
        </p>
      </div>
    </Dialog>
  );
}

/** What can be listed without asking: screens, saved views, and what the screen can do. */
function useKnown(): Entry[] {
  const { data: views = [] } = useViews();
  const sections = useKeySections();
  const places = [...navigation().flatMap((group) => group.places), SETTINGS];
  return [
    ...places.map(({ to, name, icon }) => ({
      id: `screen ${to}`,
      group: texts.palette.screen,
      name,
      icon,
      run: () => go(to),
    })),
    ...views.flatMap((view) => {
      const to = viewScreen(view);
      return to
        ? [
            {
              id: `view ${view.id}`,
              group: texts.palette.view,
              name: view.name,
              icon: "star" as const,
              run: () => go(to),
            },
          ]
        : [];
    }),
    ...sections
      .filter(({ name }) => name !== EVERYWHERE)
      .flatMap(({ name, keys }) => keys.filter((key) => !key.unlisted).map(commandOf(name))),
  ];
}

const commandOf =
  (group: string) =>
  (key: Key): Entry => ({
    id: `command ${group} ${key.does}`,
    group,
    name: key.does,
    icon: "keyboard",
    run: () => key.run(new globalThis.KeyboardEvent("keydown")),
  });

interface Found {
  leads: Entry[];
  steps: Entry[];
  isSearching: boolean;
}

/** The first records of every kind that have the words: companies and contacts come first. */
function useRecords(words: string): Found {
  const isAsked = words.length >= SHORTEST;
  const all = [...kinds()].reverse();
  const answers = useQueries({
    queries: all.map((kind) => ({
      queryKey: ["palette", kind.name, words],
      queryFn: () => find(kind, words),
      enabled: isAsked,
    })),
  });
  const found = (isStep: boolean) =>
    answers.flatMap(({ data }, place) => (all[place]?.isStep === isStep ? (data ?? []) : []));
  return {
    leads: found(false),
    steps: found(true),
    isSearching: isAsked && answers.some(({ isPending }) => isPending),
  };
}

async function find(kind: Kind, words: string): Promise<Entry[]> {
  const query = { q: words, limit: OF_EACH };
  const { items } = await read(ofKind(kind, ""), { query });
  return items.map((row) => ({
    id: `record ${kind.name} ${row.id}`,
    group: kind.one,
    name: kind.label(row),
    icon: kind.icon,
    run: () => go(`${kind.screen}?open=${row.id}`),
  }));
}
