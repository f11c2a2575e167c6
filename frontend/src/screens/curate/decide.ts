/** Decisions: shown at once, made on the server, and each of them can be taken back. */
import { useRef } from "react";
import { ofKind, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { plural, statusWord, toast, toastError, whole } from "@/kit";
import { common } from "@/texts/common";
import { texts } from "@/texts/curate";
import type { Worked } from "./Assign";
import { conditionOf, type Filter } from "./filters";
import type { RecordList } from "./list";
import type { Decided, Row, Undone } from "./model";

export interface Wide {
  status: string;
  filters: readonly Filter[];
  words: string;
}

interface Made {
  action: string;
  /** Whether it was work on leads, which is taken back elsewhere. */
  isWork?: boolean;
  said: string;
  turn: number;
  /** How the rows in sight were before. */
  before: ReadonlyMap<string, Row>;
}

const MOST_KEPT = 50;
const ABOUT = "decision";

export function useDecisions(kind: Kind, records: RecordList) {
  const done = useRef<Made[]>([]);
  const turns = useRef(0);
  const underWay = useRef<Promise<unknown>>(Promise.resolve());

  function decide(status: string, ids: readonly string[], force = false): Promise<void> {
    turns.current += 1;
    const made = make(status, ids, force, turns.current);
    underWay.current = Promise.allSettled([underWay.current, made]);
    return made;
  }

  async function make(
    status: string,
    ids: readonly string[],
    force: boolean,
    turn: number,
  ): Promise<void> {
    if (ids.length === 0) return;
    const change: Partial<Row> = { [kind.status]: status };
    const before = records.patch(new Map(ids.map((id) => [id, change])));
    try {
      const decided = await write("POST", ofKind(kind, "/status"), {
        body: { ids: [...ids], status, force },
      });
      keep(decided, status, turn, before);
      // Some may have kept their status: Do Not Contact, for one, is not lifted in passing.
      if (decided.changed < ids.length) records.receive(new Map(ids.map((id) => [id, {}])));
    } catch (error) {
      records.patch(before);
      toastError(error, () => void decide(status, ids, force));
    }
  }

  async function decideAll(wide: Wide): Promise<void> {
    turns.current += 1;
    const turn = turns.current;
    const decided = await write("POST", ofKind(kind, "/status"), {
      body: bodyOf(wide, false),
    });
    keep(decided, wide.status, turn, new Map());
    await records.load();
  }

  function keep(
    decided: Decided,
    status: string,
    turn: number,
    before: ReadonlyMap<string, Row>,
  ): void {
    const said = `${named(decided.changed, before)}: ${statusWord(status, kind.status)}`;
    const action = decided.action_id;
    if (!action || decided.changed === 0) {
      const why = skippedWords(decided.skipped) || texts.decide.noneMatched;
      toast({ about: ABOUT, text: texts.decide.nothingChanged(why) });
      return;
    }
    // By the turn in which they were made: answers may overtake each other.
    const made: Made = { action, said, turn, before };
    remember(made);
    const queued = decided.queued ? texts.decide.queued(whole(decided.queued)) : "";
    toast({
      about: ABOUT,
      kind: "good",
      text: said,
      hint: [queued, skippedWords(decided.skipped)].filter(Boolean).join(", "),
      action: { name: common.undo, run: () => undo(made) },
    });
  }

  function remember(made: Made): void {
    done.current = [...done.current, made]
      .sort((one, other) => one.turn - other.turn)
      .slice(-MOST_KEPT);
  }

  /** Keep what was assigned or filled in, so that it is taken back like a decision. */
  async function keepWork({ action_id: action, changed }: Worked): Promise<void> {
    if (!action) {
      toast({ about: ABOUT, text: texts.decide.nothingChangedAllOfThemHadThis });
      return;
    }
    turns.current += 1;
    const said = texts.decide.updated(plural(changed, kind.one, kind.many));
    const made: Made = { action, isWork: true, said, turn: turns.current, before: new Map() };
    remember(made);
    toast({
      about: ABOUT,
      kind: "good",
      text: said,
      action: { name: common.undo, run: () => undo(made) },
    });
    await records.load();
  }

  /** Call a record by its name, and several by their number. */
  function named(count: number, rows: ReadonlyMap<string, Row>): string {
    const [only] = rows.values();
    return count === 1 && rows.size === 1 && only
      ? kind.label(only)
      : plural(count, kind.one, kind.many);
  }

  /** Take back one action, or the last one that is not taken back yet. */
  async function undo(wanted?: Made): Promise<void> {
    // One that is still on its way is the last: taking back the one before would be wrong.
    if (!wanted) await underWay.current;
    const made = wanted ?? done.current.at(-1);
    if (!made) {
      toast({ about: ABOUT, text: texts.decide.nothingToUndo });
      return;
    }
    done.current = done.current.filter((one) => one !== made);
    try {
      const undone = await takeBack(made);
      toast({ about: ABOUT, ...wordsFor(undone, made.said) });
      // Rows change where they stand: the list must not move under the cursor.
      const { before } = made;
      if (before.size === 0) await records.load();
      else if (undone.restored === before.size) records.patch(before);
      else records.receive(new Map([...before.keys()].map((id) => [id, {}])));
    } catch (error) {
      toastError(error);
      await records.load();
    }
  }

  return { decide, decideAll, keepWork, undo };
}

type TakenBack = Pick<Undone, "restored" | "skipped">;

async function takeBack({ action, isWork }: Made): Promise<TakenBack> {
  const path = { action_id: action };
  if (!isWork) return write("POST", "/actions/{action_id}/undo", { path });
  const undone = await write("POST", "/company-actions/{action_id}/undo", { path });
  const left = undone.matched - undone.changed;
  return { restored: undone.changed, skipped: left ? { "changed since": left } : {} };
}

/** Ask how many records a decision about all that match would mean. */
export async function countFor(kind: Kind, wide: Wide): Promise<Decided> {
  return write("POST", ofKind(kind, "/status"), { body: bodyOf(wide, true) });
}

function bodyOf({ status, filters, words }: Wide, dryRun: boolean) {
  return {
    filter: filters.map(conditionOf),
    ...(words ? { q: words } : {}),
    status,
    dry_run: dryRun,
  };
}

function wordsFor({ restored, skipped }: TakenBack, said: string): { text: string; hint?: string } {
  const why = skippedWords(skipped);
  if (restored === 0) return { text: texts.decide.notUndone(said), hint: why };
  return {
    text: texts.decide.undone(said),
    hint: why && texts.decide.restored(whole(restored), why),
  };
}

function skippedWords(skipped: Decided["skipped"]): string {
  return Object.entries(skipped)
    .map(([reason, count]) => texts.decide.unchanged(whole(count), reason))
    .join(", ");
}
