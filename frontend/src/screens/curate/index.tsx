/** One screen for all six kinds of records: look, decide, take back, take away. */
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLive } from "@/api/events";
import { type Column, type Kind, kindOfScreen } from "@/api/kinds";
import { type Key, useKeys } from "@/app/keys";
import { go, useSearch } from "@/app/router";
import type { ScreenProps } from "@/app/routes";
import { useMay } from "@/app/session";
import {
  Button,
  Empty,
  Failure,
  Icon,
  Menu,
  plural,
  ScreenHead,
  Skeleton,
  statusWord,
  whole,
} from "@/kit";
import { Decisions } from "./Decisions";
import { useDecisions, type Wide } from "./decide";
import { Export } from "./Export";
import { FilterBar } from "./FilterBar";
import { type Filter, readFilters, writeFilter } from "./filters";
import { Grid } from "./Grid";
import { useRecordList } from "./list";
import { Merge } from "./Merge";
import type { RecordChanges, Row } from "./model";
import { Pairs } from "./Pairs";
import { Pane } from "./Pane";
import { Priority } from "./Priority";
import { extend, NOTHING, type Selection, sizeOf, toggle, widen } from "./selection";
import { Views } from "./Views";
import { WideDialog } from "./Wide";
import "./curate.css";

const DEFAULT_SORT = "-updated_at";
const MOST_MERGED = 20;
/** How the browser remembers that a record was opened from the list. */
const OPENED = "opened";

export default function Curate({ params }: ScreenProps) {
  const kind = kindOfScreen(params.kind ?? "");
  if (!kind) {
    return (
      <Empty
        icon="search"
        title="Page not found"
        actions={
          <Button look="primary" onClick={() => go("/")}>
            Go to the pipeline
          </Button>
        }
      />
    );
  }
  return <CurateKind key={kind.id} kind={kind} />;
}

function CurateKind({ kind }: { kind: Kind }) {
  const [search, change] = useSearch();
  const words = search.get("q") ?? "";
  const filters = readFilters(search.getAll("filter"));
  const sort = search.get("sort") ?? DEFAULT_SORT;
  const opened = search.get("open");
  const query = { filter: filters.map(writeFilter), q: words, sort };
  const [records, state] = useRecordList(kind.path, query);
  const { decide, decideAll, undo } = useDecisions(kind, records);
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [current, setCurrent] = useState(-1);
  const [wide, setWide] = useState<Wide | null>(null);
  const [dialog, setDialog] = useState<"export" | "merge" | "pairs" | null>(null);
  const [version, setVersion] = useState(0);
  const columns = useColumns(kind);
  const searchBox = useRef<HTMLInputElement>(null);
  const mayCurate = useMay("curate");
  const mayExport = useMay("export");
  const { rows, total } = state;

  // Another list is another question: what was selected in the old one is not meant.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is the whole condition.
  useEffect(() => {
    setSelection(NOTHING);
    setCurrent(-1);
  }, [records]);
  useLive("reset", () => {
    setVersion((count) => count + 1);
    records.hearMany();
  });
  useLive<RecordChanges>("records", ({ kind: name, changes, many }) => {
    if (name !== kind.name) return;
    setVersion((count) => count + 1);
    if (many) records.hearMany();
    else {
      records.hear(
        new Map(
          changes.map(({ id, status, stage_status, updated_at }): [string, Partial<Row>] => [
            id,
            { [kind.status]: status, [kind.stageStatus]: stage_status, updated_at },
          ]),
        ),
      );
    }
  });

  // Going back closes the record, and takes the last filter off.
  const open = useCallback(
    (id: string | null) => {
      if (id === null && history.state === OPENED) history.back();
      else change({ open: id }, { replace: id === null || opened !== null, state: OPENED });
    },
    [change, opened],
  );
  const setFilters = useCallback(
    (next: readonly Filter[]) =>
      change({ filter: next.map(writeFilter), open: null }, { replace: false }),
    [change],
  );

  function move(by: number) {
    if (rows.length === 0) return;
    const next = Math.max(0, Math.min(rows.length - 1, current + by));
    setCurrent(next);
    if (opened) open(rows[next]?.id ?? null);
  }

  /** What a decision means now: the selection, else the record that is open or current. */
  function meant(): string[] {
    if (selection.ids.size) return [...selection.ids];
    const id = opened ?? rows[current]?.id;
    return id ? [id] : [];
  }

  function decideHere(status: string) {
    if (!mayCurate) return;
    if (selection.isAll) {
      setWide({ status, filters, words });
      return;
    }
    const ids = meant();
    void decide(status, ids);
    setVersion((count) => count + 1);
    if (selection.ids.size) setSelection(NOTHING);
    else if (ids.length) move(1);
  }

  const pick = useCallback(
    (place: number, how: "only" | "toggle" | "extend") => {
      setCurrent(place);
      const list = records.snapshot().rows;
      setSelection((before) =>
        how === "extend" ? extend(before, list, place) : toggle(before, list, place),
      );
    },
    [records],
  );
  const openPlace = useCallback(
    (place: number) => {
      setCurrent(place);
      open(records.snapshot().rows[place]?.id ?? null);
    },
    [open, records],
  );
  const more = useCallback(() => void records.more(), [records]);
  const reload = () => {
    setVersion((count) => count + 1);
    void records.load();
  };

  function stepBack() {
    if (opened) open(null);
    else setSelection(NOTHING);
  }

  const step = (by: number) => () => move(by);
  const reach = (by: number) => () => {
    const next = Math.max(0, Math.min(rows.length - 1, current + by));
    setSelection(
      extend({ ...selection, anchor: selection.anchor ?? Math.max(current, 0) }, rows, next),
    );
    setCurrent(next);
  };
  const keys: Key[] = [
    { keys: ["j", "ArrowDown"], does: "Next record", run: step(1) },
    { keys: ["k", "ArrowUp"], does: "Previous record", run: step(-1) },
    { keys: ["PageDown"], does: "Down 10", run: step(10) },
    { keys: ["PageUp"], does: "Up 10", run: step(-10) },
    {
      keys: ["Enter", "o"],
      does: "Open or close the record",
      run: () => (opened ? open(null) : openPlace(Math.max(current, 0))),
    },
    {
      keys: ["x", "Space"],
      does: "Select the record",
      run: () => current >= 0 && setSelection(toggle(selection, rows, current)),
    },
    { keys: ["Shift+j", "Shift+ArrowDown"], does: "Extend selection down", run: reach(1) },
    { keys: ["Shift+k", "Shift+ArrowUp"], does: "Extend selection up", run: reach(-1) },
    {
      keys: "Mod+a",
      does: "Select all loaded, then all matching",
      run: () => setSelection(widen(selection, rows)),
    },
    { keys: "Escape", does: "Close the record, or clear the selection", run: stepBack },
    { keys: "/", does: "Search", run: () => searchBox.current?.focus() },
    ...(mayCurate
      ? [
          ...kind.decisions.map(({ status, key }) => ({
            keys: key,
            does: `Set to ${statusWord(status, kind.status)}`,
            run: () => decideHere(status),
          })),
          { keys: ["u", "Mod+z"], does: "Undo the last decision", run: () => void undo() },
        ]
      : []),
    ...(mayExport ? [{ keys: "e", does: "Export the list", run: () => setDialog("export") }] : []),
    { keys: "Shift+r", does: "Refresh the list", run: reload },
  ];
  useKeys(kind.title, keys);

  const size = sizeOf(selection, total.count);
  const openRow = opened ? rows[records.placeOf(opened)] : undefined;
  const isNarrowed = filters.length > 0 || words !== "";
  const viewQuery = new URLSearchParams([...search].filter(([name]) => name !== "open")).toString();
  return (
    <div className={`screen curate ${opened ? "with-pane" : ""}`}>
      <ScreenHead
        title={kind.title}
        about={kind.about}
        actions={
          <>
            {(state.unseen > 0 || state.isBehind) && (
              <button type="button" className="unseen-pill" onClick={reload}>
                <Icon name="refresh" size={14} />
                List changed: refresh
              </button>
            )}
            <span className="number soft" role="status">
              {total.is_exact ? "" : "about "}
              {plural(total.count, kind.one, kind.many)}
            </span>
            <Views kind={kind} query={viewQuery} onOpen={(next) => go(`${kind.screen}?${next}`)} />
            <ColumnMenu columns={columns} />
            {kind.name === "companies" && mayCurate && (
              <Button icon="merge" onClick={() => setDialog("pairs")}>
                May be one
              </Button>
            )}
            {mayExport && (
              <Button icon="download" hotkey="e" onClick={() => setDialog("export")}>
                Export
              </Button>
            )}
          </>
        }
      />
      <FilterBar
        kind={kind}
        words={words}
        filters={filters}
        search={searchBox}
        version={version}
        onWords={(next) => change({ q: next || null, open: null })}
        onFilters={setFilters}
      />
      <div className="curate-body">
        <div className="curate-list">
          {state.error !== null && rows.length === 0 ? (
            <Failure error={state.error} retry={reload} />
          ) : state.isLoading && rows.length === 0 ? (
            <div className="grid-wait">
              <Skeleton lines={12} />
            </div>
          ) : rows.length === 0 ? (
            <Nothing
              kind={kind}
              isNarrowed={isNarrowed}
              onClear={() => change({ filter: null, q: null })}
            />
          ) : (
            <Grid
              kind={kind}
              columns={columns.shown}
              isBeside={opened !== null}
              state={state}
              sort={sort}
              selection={selection}
              current={current}
              onSort={(next) => change({ sort: next })}
              onPick={pick}
              onPickPage={() =>
                setSelection(
                  rows.every(({ id }) => selection.ids.has(id)) ? NOTHING : widen(NOTHING, rows),
                )
              }
              onOpen={openPlace}
              onMore={more}
            />
          )}
          {state.error !== null && rows.length > 0 && <Failure error={state.error} retry={more} />}
          {size > 0 && (
            <section className="selection-bar" aria-label="Actions for the selection">
              <strong className="number">{whole(size)} selected</strong>
              {!selection.isAll && selection.ids.size === rows.length && state.hasMore && (
                <Button small look="quiet" onClick={() => setSelection(widen(selection, rows))}>
                  Select all {total.is_exact ? "" : "about "}
                  {whole(total.count)} matching
                </Button>
              )}
              {mayCurate && <Decisions kind={kind} onDecide={decideHere} />}
              {mayCurate && kind.hasPriority && !selection.isAll && (
                <Priority kind={kind} ids={[...selection.ids]} onSet={reload} />
              )}
              {kind.isMergeable && mayCurate && isMergeable(selection) && (
                <Button small icon="merge" onClick={() => setDialog("merge")}>
                  Merge
                </Button>
              )}
              <Button
                small
                look="quiet"
                icon="cross"
                hotkey="Esc"
                onClick={() => setSelection(NOTHING)}
              >
                Clear
              </Button>
            </section>
          )}
        </div>
        {opened && (
          <Pane
            key={opened}
            kind={kind}
            id={opened}
            row={openRow}
            mayCurate={mayCurate}
            onDecide={(status) => {
              void decide(status, [opened]);
              setVersion((count) => count + 1);
            }}
            onStep={move}
            onClose={() => open(null)}
            onChanged={reload}
          />
        )}
      </div>
      {wide && (
        <WideDialog
          kind={kind}
          wide={wide}
          decide={async (decision) => {
            await decideAll(decision);
            setSelection(NOTHING);
            setVersion((count) => count + 1);
          }}
          onClose={() => setWide(null)}
        />
      )}
      {dialog === "export" && (
        <Export
          kind={kind}
          query={query}
          total={total}
          selected={selection.isAll ? [] : [...selection.ids]}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "pairs" && <Pairs onChanged={reload} onClose={() => setDialog(null)} />}
      {dialog === "merge" && (
        <Merge
          kind={kind}
          rows={rows.filter(({ id }) => selection.ids.has(id))}
          onClose={() => setDialog(null)}
          onDone={() => {
            setDialog(null);
            setSelection(NOTHING);
            reload();
          }}
        />
      )}
    </div>
  );
}

const isMergeable = ({ ids, isAll }: Selection): boolean =>
  !isAll && ids.size > 1 && ids.size <= MOST_MERGED;

function Nothing({
  kind,
  isNarrowed,
  onClear,
}: {
  kind: Kind;
  isNarrowed: boolean;
  onClear: () => void;
}) {
  if (isNarrowed) {
    return (
      <Empty
        icon="filter"
        title={`No ${kind.many} match`}
        actions={
          <Button look="primary" onClick={onClear}>
            Clear filters
          </Button>
        }
      />
    );
  }
  const { source } = kind;
  return (
    <Empty
      icon={kind.icon}
      title={`No ${kind.many} yet`}
      actions={
        source && (
          <Button look="primary" onClick={() => go(source.screen)}>
            {source.action}
          </Button>
        )
      }
    >
      <p>{source?.text} They appear here automatically.</p>
    </Empty>
  );
}

interface Columns {
  kind: Kind;
  shown: readonly Column[];
  isShown: (column: Column) => boolean;
  toggle: (column: Column) => void;
}

/** Which columns this person wants to see; remembered in the browser. */
function useColumns(kind: Kind): Columns {
  const key = `columns:${kind.id}`;
  const [flipped, setFlipped] = useState<readonly string[]>(() => remembered(key));
  const isShown = (column: Column) => flipped.includes(column.field) === column.is_hidden;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown depends on these two alone.
  const shown = useMemo(() => kind.columns.filter(isShown), [kind, flipped]);
  return {
    kind,
    shown,
    isShown,
    toggle: ({ field }) => {
      const next = flipped.includes(field)
        ? flipped.filter((other) => other !== field)
        : [...flipped, field];
      setFlipped(next);
      localStorage.setItem(key, JSON.stringify(next));
    },
  };
}

function remembered(key: string): string[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

function ColumnMenu({ columns }: { columns: Columns }) {
  return (
    <Menu
      label="Columns"
      icon="columns"
      className="column-menu"
      align="right"
      items={columns.kind.columns.slice(1).map((column) => ({
        name: column.title,
        checked: columns.isShown(column),
        keepsOpen: true,
        run: () => columns.toggle(column),
      }))}
    />
  );
}
