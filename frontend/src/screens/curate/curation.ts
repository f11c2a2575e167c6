/** What the parts of a Curate screen share: the list, what is selected, and what is done with it. */
import { useCallback, useEffect, useState } from "react";
import { useLive } from "@/api/events";
import type { Kind } from "@/api/kinds";
import { outbox } from "@/api/outbox/outbox";
import { useEntries, useLeft } from "@/api/outbox/useOutbox";
import { useMay } from "@/app/session";
import type { Worked } from "./Assign";
import { type Address, useAddress } from "./address";
import { useDecisions, type Wide } from "./decide";
import type { ListState } from "./entry";
import { type RecordList, useRecordList } from "./list";
import { type Marks, useMarks } from "./marks";
import type { RecordChanges, Row } from "./model";
import { saveCell } from "./save";
import { NOTHING } from "./selection";

export type Dialog = "assign" | "export" | "merge" | "own" | "pairs" | "sample";

export interface Curation extends Marks {
  kind: Kind;
  address: Address;
  records: RecordList;
  state: ListState;
  /** Grows whenever something may have changed: what counts records asks again. */
  version: number;
  mayCurate: boolean;
  mayExport: boolean;
  dialog: Dialog | null;
  /** A decision about all that match, before it is confirmed. */
  wide: Wide | null;
  setDialog: (dialog: Dialog | null) => void;
  setWide: (wide: Wide | null) => void;
  more: () => void;
  reload: () => void;
  decideHere: (status: string) => void;
  decideOpened: (status: string) => void;
  decideAll: (wide: Wide) => Promise<void>;
  /** The records that are meant now: the selection, else the one that is open or current. */
  meant: () => string[];
  assign: () => void;
  keepWork: (worked: Worked) => void;
  /** Write one cell of a lead. */
  setCell: (row: Row, field: string, value: string) => void;
  keepMerge: (action: string | null, said: string) => void;
  undo: () => void;
}

export function useCuration(kind: Kind): Curation {
  const address = useAddress();
  const { filters, words, opened } = address;
  const [records, state] = useRecordList(kind.path, address.query);
  const decisions = useDecisions(kind, records);
  useWaiting(kind, records);
  const [version, changed] = useVersion(kind, records);
  const marks = useMarks(records, state, address);
  const [wide, setWide] = useState<Wide | null>(null);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const mayCurate = useMay("curate");
  const mayExport = useMay("export");
  const { selection, setSelection } = marks;

  function decide(status: string, ids: readonly string[]) {
    void decisions.decide(status, ids);
    changed();
  }

  function meant(): string[] {
    if (selection.ids.size) return [...selection.ids];
    const id = opened ?? state.rows[marks.current]?.id;
    return id ? [id] : [];
  }

  function endDialog() {
    setDialog(null);
    setSelection(NOTHING);
    changed();
  }

  function keepWork(worked: Worked) {
    endDialog();
    void decisions.keepWork(worked);
  }

  function keepMerge(action: string | null, said: string) {
    endDialog();
    void decisions.keepAction(action, said);
  }

  /** Decide about the selection, else about the record that is open or current. */
  function decideHere(status: string) {
    if (!mayCurate) return;
    if (selection.isAll) {
      setWide({ status, filters, words });
    } else if (selection.ids.size) {
      decide(status, [...selection.ids]);
      setSelection(NOTHING);
    } else {
      const ids = meant();
      decide(status, ids);
      if (ids.length) marks.move(1);
    }
  }

  async function decideAll(decision: Wide) {
    await decisions.decideAll(decision);
    setSelection(NOTHING);
    changed();
  }

  const setCell = useCallback(
    (row: Row, field: string, value: string) => void saveCell(kind, row, field, value),
    [kind],
  );

  const more = useCallback(() => void records.more(), [records]);

  return {
    ...marks,
    kind,
    address,
    records,
    state,
    version,
    mayCurate,
    mayExport,
    dialog,
    wide,
    setDialog,
    setWide,
    more,
    reload: () => {
      changed();
      void records.load();
    },
    decideHere,
    decideOpened: (status) => decide(status, opened ? [opened] : []),
    decideAll,
    meant,
    assign: () => {
      if (selection.isAll || meant().length > 0) setDialog("assign");
    },
    setCell,
    keepMerge,
    keepWork,
    undo: () => void decisions.undo(),
  };
}

/** Show what waits to be sent, of whichever tab; look again at what waits no more. */
function useWaiting(kind: Kind, records: RecordList): void {
  const entries = useEntries();
  useEffect(() => {
    const rows = records
      .snapshot()
      .rows.filter(({ id }) => entries.some((entry) => entry.records.some((one) => one.id === id)));
    records.patch(new Map(rows.map((row) => [row.id, outbox.ahead(row, kind.path)])));
  }, [entries, kind, records]);
  useLeft(kind.path, (ids) => records.receive(new Map(ids.map((id) => [id, {}]))));
}

/** Count what changes, here and in the stream, and keep the list up to date with the stream. */
function useVersion(kind: Kind, records: RecordList): [number, () => void] {
  const [version, setVersion] = useState(0);
  const changed = () => setVersion((count) => count + 1);
  useLive("reset", () => {
    changed();
    records.receiveMany();
  });
  useLive<RecordChanges>("records", ({ kind: name, changes, many }) => {
    if (name !== kind.name) return;
    changed();
    if (many) {
      records.receiveMany();
      return;
    }
    records.receive(
      new Map(
        changes.map(({ id, status, stage_status, updated_at }): [string, Partial<Row>] => [
          id,
          // A kind without a stage has no field for it: its name is empty.
          {
            [kind.status]: status,
            updated_at,
            ...(kind.stageStatus ? { [kind.stageStatus]: stage_status } : {}),
          },
        ]),
      ),
    );
  });
  return [version, changed];
}
