/** What the parts of a Curate screen share: the list, what is selected, and what is done with it. */
import { useCallback, useState } from "react";
import { useLive } from "@/api/events";
import type { Kind } from "@/api/kinds";
import { useMay } from "@/app/session";
import type { Worked } from "./Assign";
import { type Address, useAddress } from "./address";
import { useDecisions, type Wide } from "./decide";
import type { ListState } from "./entry";
import { type RecordList, useRecordList } from "./list";
import { type Marks, useMarks } from "./marks";
import type { RecordChanges, Row } from "./model";
import { NOTHING } from "./selection";

export type Dialog = "assign" | "export" | "merge" | "own" | "pairs";

export interface Curation extends Marks {
  kind: Kind;
  address: Address;
  records: RecordList;
  state: ListState;
  /** Grows whenever something may have changed: what counts records asks again. */
  version: number;
  mayCurate: boolean;
  mayExport: boolean;
  mayAdminister: boolean;
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
  undo: () => void;
}

export function useCuration(kind: Kind): Curation {
  const address = useAddress();
  const { filters, words, opened } = address;
  const [records, state] = useRecordList(kind.path, address.query);
  const decisions = useDecisions(kind, records);
  const [version, changed] = useVersion(kind, records);
  const marks = useMarks(records, state, address);
  const [wide, setWide] = useState<Wide | null>(null);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const mayCurate = useMay("curate");
  const mayExport = useMay("export");
  const mayAdminister = useMay("administer");
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

  function keepWork(worked: Worked) {
    setDialog(null);
    setSelection(NOTHING);
    changed();
    void decisions.keepWork(worked);
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
    mayAdminister,
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
    keepWork,
    undo: () => void decisions.undo(),
  };
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
          { [kind.status]: status, [kind.stageStatus]: stage_status, updated_at },
        ]),
      ),
    );
  });
  return [version, changed];
}
