"""Engines that are broken in one place each. Every one of them must be caught.

A mutant changes one statement or one function of the real engine, in the memory of
the process that asks for it, and refuses to do nothing: if the text it wants to
change is not there any more, it fails instead of passing for the healthy engine.
"""

import importlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from curation_sdk import settle, statements
from curation_sdk.claim import ClaimedItem, Claimer
from curation_sdk.execution import Batch, StageRun
from curation_sdk.heartbeat import Heartbeat
from curation_sdk.outcome import Done
from curation_sdk.queue import Queue
from curation_sdk.settle import Settler

Put = Callable[[Any, str, Any], None]
"""Sets an attribute: `setattr`, or pytest's, which takes it back."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """What is broken, the named test that must notice, and how it is broken."""

    what: str
    caught_by: str
    apply: Callable[[Put], None]
    caught_by_machine: bool = False


def rewrite(put: Put, function: str, pattern: str, by: str) -> None:
    """Change the SQL that a function of the engine writes."""
    original = getattr(statements, function)

    def broken(*arguments: Any, **options: Any) -> str:
        changed, count = re.subn(pattern, by, original(*arguments, **options))
        if not count:
            raise RuntimeError(f"{function} has no {pattern!r}: fix this mutant")
        return changed

    put(statements, function, broken)


def replace(put: Put, constant: str, pattern: str, by: str) -> None:
    """Change a statement that the engine keeps as a constant."""
    changed, count = re.subn(pattern, by, getattr(statements, constant))
    if not count:
        raise RuntimeError(f"{constant} has no {pattern!r}: fix this mutant")
    put(statements, constant, changed)


def no_fence(put: Put) -> None:
    rewrite(put, "settle_done", r" AND k\.fence = s\.fence", "")
    rewrite(put, "settle_any", r" AND k\.fence = s\.fence", "")
    rewrite(put, "settle_many", r" AND k\.fence = ANY\(\$3::bigint\[\]\)", "")


def one_fence_for_all(put: Put) -> None:
    rewrite(put, "taken_rows", r"nextval\('curation\.fence'\)", "1::bigint")
    rewrite(put, "claim_waiting", r"nextval\('curation\.fence'\)", "1::bigint")


def any_fence_of_the_group(put: Put) -> None:
    put(settle, "is_latest", lambda _run, _batch: True)


def blames_the_company(put: Put) -> None:
    rewrite(put, "reap", r"CASE WHEN k\.alone THEN|ELSE greatest\(.*\s+END", "")
    rewrite(put, "reap", r"alone AND crashes", "crashes")


def no_status_test(put: Put) -> None:
    pattern = r"(FROM mine WHERE m\.\S+ = mine\.item::\S+)\s+AND m\.\S+ = '\w+'"
    rewrite(put, "settle_done", pattern, r"\1")
    rewrite(put, "settle_any", pattern, r"\1")
    pattern = r"(\(SELECT item::\S+ FROM mine\)\))\s+AND m\.\S+ = '\w+'"
    rewrite(put, "settle_many", pattern, r"\1")


def two_commits(put: Put) -> None:
    async def settle_effects(self: Settler, run: StageRun, batch: Batch) -> None:
        async with self._connection.transaction() as transaction:
            won = await settle.fence_off(run, batch, transaction)
        async with self._connection.transaction() as transaction:
            for held, result in batch:
                if (held.item, held.fence) in won and isinstance(result, Done):
                    await settle.apply(held, result.effect, transaction)
        self._on_wake(transaction.wakes)
        await self._conclude_some(run, batch, won)

    put(Settler, "_settle_effects", settle_effects)


def effects_without_a_look(put: Put) -> None:
    async def settle_effects(self: Settler, run: StageRun, batch: Batch) -> None:
        async with self._connection.transaction() as transaction:
            for held, result in batch:
                if isinstance(result, Done):
                    await settle.apply(held, result.effect, transaction)
            won = await settle.fence_off(run, batch, transaction)
        self._on_wake(transaction.wakes)
        await self._conclude_some(run, batch, won)

    put(Settler, "_settle_effects", settle_effects)


def hasty_reaper(put: Put) -> None:
    rewrite(put, "reap", r"k\.lease_until < clock_timestamp\(\)", "true")
    replace(put, "EXPIRED", r"lease_until < clock_timestamp\(\)", "true")


def worker_clock(put: Put) -> None:
    original = statements.taken_rows

    def broken(*arguments: Any, **options: Any) -> str:
        now = f"to_timestamp({time.time()})"
        return original(*arguments, **options).replace(
            "clock_timestamp() AS", f"{now} AS"
        )

    put(statements, "taken_rows", broken)


def limit_inside_in(put: Put) -> None:
    """Choose the rows inside IN, where the planner may choose again for every row."""
    original = statements.taken_rows

    def broken(queue: Queue, columns: str, picked: str) -> str:
        text = original(queue, columns, picked)
        changes = {
            f"WITH picked AS MATERIALIZED (\n    {picked}\n  ), token": "WITH token",
            "WHERE m.ctid = ANY(ARRAY(SELECT place FROM picked))": (
                f"WHERE m.{queue.key} IN ({picked.replace('m.ctid AS place', f'm.{queue.key}', 1)})"
            ),
        }
        for old, new in changes.items():
            if old not in text:
                raise RuntimeError(f"taken_rows has no {old!r}: fix this mutant")
            text = text.replace(old, new)
        return text

    put(statements, "taken_rows", broken)


def waits_for_locks(put: Put) -> None:
    rewrite(put, "claim_rows", r" SKIP LOCKED", "")


def buries_the_living(put: Put) -> None:
    # By its name: the package has a function of that name.
    module = importlib.import_module("curation_sdk.reap")
    put(module, "has_ended", lambda _worker: True)


def no_future_guard(put: Put) -> None:
    replace(put, "CLAMP_LEASES", r"WHERE stage = \$1", "WHERE false AND stage = $1")


def keeps_the_old_fence(put: Put) -> None:
    rewrite(
        put,
        "take_again",
        r"SET fence = excluded\.fence",
        "SET fence = coalesce(k.fence, excluded.fence)",
    )


def forgets_failed_settles(put: Put) -> None:
    async def retry_until_settled(
        self: Settler, run: StageRun, batch: Batch, act: Any
    ) -> None:
        try:
            await act(run, batch)
        except Exception:  # noqa: BLE001 - the mutant's sin
            self._conclude(run, batch)

    put(Settler, "_retry_until_settled", retry_until_settled)


def never_looks_back(put: Put) -> None:
    original = Claimer._walk_on

    async def walk_on(self: Claimer, limit: int) -> list[ClaimedItem]:
        onward = self._statements.claim_onward
        if onward is None or self._cursor is None:
            return await original(self, limit)
        return await self._take(limit, onward, *self._cursor)

    put(Claimer, "_walk_on", walk_on)


def never_looks_for_expired(put: Put) -> None:
    async def look_for_abandoned(self: Heartbeat, run: StageRun) -> None:
        pass

    put(Heartbeat, "look_for_abandoned", look_for_abandoned)


def batch_beyond_its_limit(put: Put) -> None:
    async def next_rows(self: Claimer, limit: int) -> list[ClaimedItem]:
        return await self._take(self._stage.batch, self._statements.claim_again)

    put(Claimer, "next_rows", next_rows)


def closes_any_claim(put: Put) -> None:
    replace(put, "CLOSE_CLAIM", r" AND fence = \$3", " AND $3::bigint IS NOT NULL")


def session_of_any_fence(put: Put) -> None:
    replace(put, "LOCK_CLAIM", r" AND fence = \$3", " AND $3::bigint IS NOT NULL")


def session_without_lock(put: Put) -> None:
    replace(put, "LOCK_CLAIM", r" FOR UPDATE", "")


MUTANTS = {
    "no_fence": Mutant(
        "a settle looks at the item only, not at the fence",
        "test_a_worker_that_lost_its_claim_writes_nothing",
        no_fence,
        caught_by_machine=True,
    ),
    "one_fence_for_all": Mutant(
        "every claim gets the same fence",
        "test_a_rescued_item_is_settled_by_its_new_owner_only",
        one_fence_for_all,
        caught_by_machine=True,
    ),
    "keeps_the_old_fence": Mutant(
        "a claim of a requeued item keeps the fence of the old claim",
        "test_a_worker_that_lost_its_claim_writes_nothing",
        keeps_the_old_fence,
        caught_by_machine=True,
    ),
    "any_fence_of_the_group": Mutant(
        "a late answer may use the fence of another item in its group",
        "test_a_late_answer_in_a_group_does_not_use_a_neighbours_fence",
        any_fence_of_the_group,
    ),
    "blames_the_company": Mutant(
        "an item is quarantined for crashes in the company of others",
        "test_nobody_is_condemned_for_a_death_in_company",
        blames_the_company,
    ),
    "no_status_test": Mutant(
        "a settle does not look at the status",
        "test_a_cancelled_item_gets_no_result",
        no_status_test,
        caught_by_machine=True,
    ),
    "two_commits": Mutant(
        "status and effects commit one after the other",
        "test_status_and_effect_stand_or_fall_together",
        two_commits,
    ),
    "effects_without_a_look": Mutant(
        "effects are written before, and whether or not, the fence holds",
        "test_a_cancelled_item_gets_no_result",
        effects_without_a_look,
        caught_by_machine=True,
    ),
    "hasty_reaper": Mutant(
        "the reaper takes claims whose lease still runs",
        "test_a_running_lease_is_left_alone",
        hasty_reaper,
        caught_by_machine=True,
    ),
    "buries_the_living": Mutant(
        "every worker counts as one whose process has ended",
        "test_a_running_lease_is_left_alone",
        buries_the_living,
    ),
    "worker_clock": Mutant(
        "leases are counted by the worker's clock",
        "test_a_worker_with_a_wrong_clock_gets_a_whole_lease",
        worker_clock,
    ),
    "limit_inside_in": Mutant(
        "the rows to claim are not chosen once and for all",
        "test_a_claim_takes_no_more_than_asked",
        limit_inside_in,
    ),
    "waits_for_locks": Mutant(
        "a claim waits for rows that others have locked",
        "test_a_claim_steps_over_rows_that_others_hold",
        waits_for_locks,
    ),
    "no_future_guard": Mutant(
        "a lease from before the clock was set back lasts as long as it says",
        "test_a_clock_set_back_keeps_nobody_waiting",
        no_future_guard,
    ),
    "forgets_failed_settles": Mutant(
        "a settle that fails is taken for done",
        "test_a_session_cut_inside_the_settle_doubles_nothing",
        forgets_failed_settles,
    ),
    "never_looks_back": Mutant(
        "the cursor never returns to rows it has stepped over",
        "test_a_queued_row_that_others_hold_is_found_later",
        never_looks_back,
    ),
    "never_looks_for_expired": Mutant(
        "run_job_loop does not look for the items of a process that was killed",
        "test_a_loop_called_once_rescues_what_another_process_left",
        never_looks_for_expired,
    ),
    "batch_beyond_its_limit": Mutant(
        "one batch takes as many queued rows as if no waiting ones had been taken",
        "test_one_batch_works_no_more_than_asked",
        batch_beyond_its_limit,
    ),
    "closes_any_claim": Mutant(
        "a claim is closed whatever its fence",
        "test_the_claim_of_another_worker_is_not_closed",
        closes_any_claim,
    ),
    "session_of_any_fence": Mutant(
        "a status that a function sets counts although its claim was lost",
        "test_a_status_that_a_function_sets_too_late_is_not_written",
        session_of_any_fence,
    ),
    "session_without_lock": Mutant(
        "a session that writes does not keep its claim from the reaper",
        "test_the_reaper_steps_over_an_item_whose_session_writes",
        session_without_lock,
    ),
}
