/** Decisions: shown at once, made on the server, and each of them can be taken back. */
import { useRef } from "react";
import { ofKind, write } from "@/api/client";
import type { Kind } from "@/api/kinds";
import type { Fields } from "@/api/outbox/entry";
import { outbox, type Submission } from "@/api/outbox/outbox";
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

/** Something that was done here, so that it can be taken back. */
interface Made {
  said: string;
  turn: number;
  /** How the rows in sight were before. */
  before: ReadonlyMap<string, Row>;
  /** Null, while the server has not answered. */
  action: string | null;
  /** What waits to be sent. */
  submission?: Promise<Submission>;
}

const MOST_KEPT = 50;
const ABOUT = "decision";

export function useDecisions(kind: Kind, records: RecordList) {
  const done = useRef<Made[]>([]);
  const turns = useRef(0);

  async function decide(status: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    turns.current += 1;
    const after = { [kind.status]: status };
    const before = records.patch(new Map(ids.map((id) => [id, after])));
    const said = `${named(ids.length, before)}: ${statusWord(status, kind.status)}`;
    const made: Made = { said, turn: turns.current, before, action: null };
    remember(made);
    const concerned = ids.map((id) => concern(id, before.get(id) ?? rowOf(id), after));
    const draft = {
      method: "POST",
      path: ofKind(kind, "/status"),
      body: { ids: [...ids], status },
      kind: kind.path,
      records: concerned,
      said: statusWord(status, kind.status),
    } as const;
    try {
      made.submission = outbox.submit(draft);
      const outcome = await (await made.submission).settled;
      if (outcome.state === "done") sayDecided(made, outcome.answer as Decided);
      else forget(made);
    } catch (error) {
      forget(made);
      records.patch(before);
      toastError(error, () => void decide(status, ids));
    }
  }

  const rowOf = (id: string): Row | undefined => records.snapshot().rows[records.placeOf(id)];

  function concern(id: string, row: Row | undefined, after: Fields) {
    const before = row ? { [kind.status]: row[kind.status] } : after;
    return { id, name: row ? kind.label(row) : kind.one, before, after };
  }

  async function decideAll(wide: Wide): Promise<void> {
    turns.current += 1;
    const turn = turns.current;
    const decided = await write("POST", ofKind(kind, "/status"), {
      body: bodyOf(wide, false),
    });
    const said = `${named(decided.changed, new Map())}: ${statusWord(wide.status, kind.status)}`;
    const made: Made = { said, turn, before: new Map(), action: null };
    remember(made);
    sayDecided(made, decided);
    await records.load();
  }

  function sayDecided(made: Made, decided: Decided): void {
    const { action_id: action, changed, queued, skipped } = decided;
    if (!action || changed === 0) {
      forget(made);
      const why = skippedWords(skipped) || texts.decide.noneMatched;
      toast({ about: ABOUT, text: texts.decide.nothingChanged(why) });
      return;
    }
    made.action = action;
    const inQueue = queued ? texts.decide.queued(whole(queued)) : "";
    toast({
      about: ABOUT,
      kind: "good",
      text: made.said,
      hint: [inQueue, skippedWords(skipped)].filter(Boolean).join(", "),
      action: { name: common.undo, run: () => undo(made) },
    });
  }

  function forget(made: Made): void {
    done.current = done.current.filter((one) => one !== made);
  }

  function remember(made: Made): void {
    done.current = [...done.current, made]
      .sort((one, other) => one.turn - other.turn)
      .slice(-MOST_KEPT);
  }

  /** Keep what was assigned or filled in, so that it is taken back like a decision. */
  async function keepWork({ action_id: action, changed }: Worked): Promise<void> {
    if (action) {
      await keepAction(action, texts.decide.updated(plural(changed, kind.one, kind.many)));
    } else {
      toast({ about: ABOUT, text: texts.decide.nothingChangedAllOfThemHadThis });
    }
  }

  /** Say what was done to several records, and keep it if it can be taken back. */
  async function keepAction(action: string | null, said: string): Promise<void> {
    turns.current += 1;
    const made: Made = { action, said, turn: turns.current, before: new Map() };
    if (action) remember(made);
    toast({
      about: ABOUT,
      kind: "good",
      text: said,
      ...(action && { action: { name: common.undo, run: () => undo(made) } }),
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
    // By the turn in which they were made: answers may overtake each other.
    const made = wanted ?? done.current.at(-1);
    if (!made) {
      toast({ about: ABOUT, text: texts.decide.nothingToUndo });
      return;
    }
    forget(made);
    const { before } = made;
    try {
      const taken = await takenBack(made);
      // Rows change where they stand: the list must not move under the cursor.
      records.patch(before);
      const outcome = await taken?.settled;
      if (!outcome) toast({ about: ABOUT, text: texts.decide.undone(made.said) });
      else if (outcome.state === "done") {
        const undone = outcome.answer as Undone;
        toast({ about: ABOUT, ...wordsFor(undone, made.said) });
        if (before.size === 0) await records.load();
        else records.receive(new Map([...before.keys()].map((id) => [id, {}])));
      }
    } catch (error) {
      toastError(error);
      await records.load();
    }
  }

  async function takenBack({ action, submission, before, said }: Made) {
    const draft = {
      method: "POST",
      path: action ? `/actions/${action}/undo` : "",
      kind: kind.path,
      records: [...before].map(([id, row]) => ({
        ...concern(id, rowOf(id), { [kind.status]: row[kind.status] }),
      })),
      said: texts.decide.undone(said),
    } as const;
    if (action) return outbox.submit(draft);
    const sent = await submission;
    return sent && outbox.takeBack(sent.id, draft);
  }

  return { decide, decideAll, keepAction, keepWork, undo };
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

function wordsFor({ restored, skipped }: Undone, said: string): { text: string; hint?: string } {
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
