/** Decisions: shown at once, made on the server, and each of them can be taken back. */
import { useRef } from "react";
import { call } from "@/api/client";
import type { Kind } from "@/api/kinds";
import { plural, statusWord, toast, toastError, whole } from "@/kit";
import { conditionOf, type Filter } from "./filters";
import type { RecordList } from "./list";
import type { Decided, Row } from "./model";

export interface Wide {
  status: string;
  filters: readonly Filter[];
  words: string;
}

const MOST_KEPT = 50;

export function useDecisions(kind: Kind, records: RecordList) {
  const done = useRef<{ action: string; said: string; turn: number }[]>([]);
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
      const decided = await call<Decided>("POST", `${kind.path}/status`, {
        body: { ids, status, force },
      });
      keep(decided, status, turn);
    } catch (error) {
      records.patch(before);
      toastError(error, () => void decide(status, ids, force));
    }
  }

  async function decideAll(wide: Wide): Promise<void> {
    turns.current += 1;
    const turn = turns.current;
    const decided = await call<Decided>("POST", `${kind.path}/status`, {
      body: bodyOf(wide, false),
    });
    keep(decided, wide.status, turn);
    await records.load();
  }

  function keep(decided: Decided, status: string, turn: number): void {
    const said = `${plural(decided.changed, kind.one, kind.many)}: ${statusWord(status, kind.status)}`;
    const action = decided.action_id;
    if (!action || decided.changed === 0) {
      toast({ text: `Nothing changed: ${skippedWords(decided) || "none matched"}.` });
      return;
    }
    // By the turn in which they were made: answers may overtake each other.
    done.current = [...done.current, { action, said, turn }]
      .sort((one, other) => one.turn - other.turn)
      .slice(-MOST_KEPT);
    toast({
      kind: "good",
      text: said,
      hint: [decided.queued ? `${whole(decided.queued)} queued` : "", skippedWords(decided)]
        .filter(Boolean)
        .join(", "),
      action: { name: "Undo", run: () => undo(action) },
    });
  }

  /** Take back one action, or the last one that is not taken back yet. */
  async function undo(wanted?: string): Promise<void> {
    // One that is still on its way is the last: taking back the one before would be wrong.
    if (!wanted) await underWay.current;
    const action = wanted ?? done.current.at(-1)?.action;
    if (!action) {
      toast({ text: "There is nothing to undo." });
      return;
    }
    const said = done.current.find((one) => one.action === action)?.said ?? "the decision";
    done.current = done.current.filter((one) => one.action !== action);
    try {
      await call("POST", `/actions/${action}/undo`);
      toast({ text: `Undone: ${said}` });
    } catch (error) {
      toastError(error);
    }
    await records.load();
  }

  return { decide, decideAll, undo };
}

/** Ask how many records a decision about all that match would mean. */
export async function countFor(kind: Kind, wide: Wide): Promise<Decided> {
  return call("POST", `${kind.path}/status`, { body: bodyOf(wide, true) });
}

function bodyOf({ status, filters, words }: Wide, dryRun: boolean) {
  return {
    filter: filters.map(conditionOf),
    ...(words ? { q: words } : {}),
    status,
    dry_run: dryRun,
  };
}

function skippedWords({ skipped }: Decided): string {
  return Object.entries(skipped)
    .map(([reason, count]) => `${whole(count)} left (${reason})`)
    .join(", ");
}
