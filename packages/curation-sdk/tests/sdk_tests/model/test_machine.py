"""Any order of steps that three workers, a reaper, a person and the clock may take.

Hypothesis picks the steps; PostgreSQL does them; after each, what the database says
is held against what the protocol promises.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from typing import Any, ClassVar, TypeVar

import asyncpg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from curation_sdk import Done, GiveUp, Retry
from curation_sdk.crash_rule import RESCUED_TOGETHER
from curation_sdk.settlement import Returned
from sdk_tests.conftest import Database
from sdk_tests.model.ledger import BATCH, InHand, Ledger, Snapshot, entry_of
from sdk_tests.rig.size import size
from sdk_tests.rig.waiting import HUNG

ResultT = TypeVar("ResultT")

JOBS = 3
jobs = st.integers(1, JOBS)
hands = st.integers(0, 2)
picks = st.integers(0, 5)
KINDS = ("batch", "due", "suspect")


class LedgerMachine(RuleBasedStateMachine):
    """The steps, and what must hold after each."""

    loop: ClassVar[asyncio.AbstractEventLoop]
    ledger: ClassVar[Ledger]

    def __init__(self) -> None:
        super().__init__()
        self.claims: list[InHand] = []
        self.owners: dict[int, InHand] = {}
        self.entries: dict[int, int] = {}

    def do(self, step: Coroutine[Any, Any, ResultT]) -> ResultT:
        return self.loop.run_until_complete(asyncio.wait_for(step, HUNG))

    @initialize()
    def begin(self) -> None:
        self.do(self.ledger.reset(JOBS))
        self.claims = []
        self.owners = {}
        self.entries = dict.fromkeys(range(1, JOBS + 1), 0)

    # What workers do

    @rule(hand=hands)
    def claim(self, hand: int) -> None:
        for kind in KINDS:
            taken = self.do(self.ledger.hands[hand].claim(kind))

            assert len(taken) <= (RESCUED_TOGETHER if kind == "suspect" else BATCH)
            for mine in taken:
                now = self.do(self.ledger.look(mine.job))
                assert (now.status, now.fence) == ("working", mine.held.fence)
                assert now.version == mine.version
                self.own(mine)

    @precondition(lambda self: self.claims)
    @rule(pick=picks)
    def beat(self, pick: int) -> None:
        mine = self.pick(pick)
        before = self.do(self.ledger.look(mine.job))

        stood = self.do(mine.hand.beat(mine))

        assert stood == (self.owners.get(mine.job) is mine and before.claimed)

    @precondition(lambda self: self.claims)
    @rule(pick=picks, effect=st.booleans(), lost=st.booleans())
    def settle(self, pick: int, effect: bool, lost: bool) -> None:
        mine = self.pick(pick)
        mine.hand.connection.lose_next = lost
        result = entry_of(mine) if effect else Done()

        self.check_settle(mine, mine.hand.settle(mine, result), entries=int(effect))

    @precondition(lambda self: self.claims)
    @rule(pick=picks, hand=hands)
    def requeue_claim_and_settle_late(self, pick: int, hand: int) -> None:
        late = self.pick(pick)
        self.do(self.ledger.requeue(late.job))
        self.claim(hand)

        self.check_settle(late, late.hand.settle(late, entry_of(late)), entries=1)

    @precondition(lambda self: self.claims)
    @rule(
        pick=picks,
        other=st.sampled_from(["reap", "cancel", "erase", "requeue", "claim", "jump"]),
    )
    def settle_while_another_acts(self, pick: int, other: str) -> None:
        mine = self.pick(pick)
        before = self.do(self.ledger.look(mine.job))
        is_mine = self.may_settle(before, mine)
        others = {
            "reap": self.other_hand(mine).reap,
            "cancel": lambda: self.ledger.cancel(mine.job),
            "erase": lambda: self.ledger.erase(mine.job),
            "requeue": lambda: self.ledger.requeue(mine.job),
            "claim": lambda: self.claim_meanwhile(mine),
            "jump": lambda: self.ledger.jump(100),
        }

        self.do(self.interleave(mine, others[other]))

        won = 1 if is_mine else 0
        after = self.do(self.ledger.look(mine.job))
        assert len(after.entries) == len(before.entries) + won
        self.entries[mine.job] += won
        held = self.do(self.ledger.look_at(self.entries))
        for job, owner in list(self.owners.items()):
            if held[job].fence != owner.held.fence:
                del self.owners[job]

    @precondition(lambda self: self.claims)
    @rule(
        pick=picks,
        result=st.sampled_from(
            [
                Retry("later", after=timedelta(0)),
                GiveUp("never"),
                Returned("the worker stopped"),
            ]
        ),
    )
    def fail(self, pick: int, result: Retry | GiveUp | Returned) -> None:
        mine = self.pick(pick)
        before = self.do(self.ledger.look(mine.job))

        self.do(mine.hand.settle(mine, result))

        after = self.do(self.ledger.look(mine.job))
        if self.may_settle(before, mine):
            assert after.fence is None
            assert after.status != "done"
            del self.owners[mine.job]
        else:
            assert after.status == before.status
        assert after.entries == before.entries

    @rule(hand=hands)
    def reap(self, hand: int) -> None:
        before = self.do(self.ledger.look_at(self.entries))

        self.do(self.ledger.hands[hand].reap())

        after = self.do(self.ledger.look_at(self.entries))
        for job, was in before.items():
            now = after[job]
            if was.fence is not None and not was.expired:
                assert now.fence == was.fence, "a running lease was taken away"
            if was.expired:
                assert now.fence is None, "an expired lease was left in place"
                self.owners.pop(job, None)

    # What people, clocks and networks do

    @rule(job=jobs, act=st.sampled_from(["requeue"] * 3 + ["cancel"] * 2 + ["erase"]))
    def meddle(self, job: int, act: str) -> None:
        acts = {
            "requeue": self.ledger.requeue,
            "cancel": self.ledger.cancel,
            "erase": self.ledger.erase,
        }
        self.do(acts[act](job))

    @rule(seconds=st.sampled_from([-600, -10, 10, 100, 600]))
    def jump(self, seconds: int) -> None:
        self.do(self.ledger.jump(seconds))

    @rule(hand=hands)
    def leave_for_dead(self, hand: int) -> None:
        self.jump(100)
        self.reap(hand)

    @rule(hand=hands)
    def cut(self, hand: int) -> None:
        self.do(self.ledger.cut(self.ledger.hands[hand]))
        # The next claim finds the connection gone; a worker goes on regardless.
        with contextlib.suppress(
            asyncpg.PostgresError, asyncpg.InterfaceError, OSError
        ):
            self.do(self.ledger.hands[hand].connection.fetch("SELECT 1"))

    @invariant()
    def nothing_is_doubled_lost_or_forsaken(self) -> None:
        for job, now in self.do(self.ledger.look_at(self.entries)).items():
            assert len(now.entries) == self.entries[job]
            assert now.claimed or now.status != "working", "nobody would rescue it"

    def teardown(self) -> None:
        if self.entries:
            self.do(self.run_dry())

    async def run_dry(self) -> None:
        """Let one worker finish everything; nothing may be left."""
        hand = self.ledger.hands[0]
        for _ in range(3 * JOBS):
            await self.ledger.jump(10_000)
            await hand.reap()
            for kind in KINDS:
                for mine in await hand.claim(kind):
                    await hand.settle(mine, entry_of(mine))
                    self.entries[mine.job] += 1
        for job, entries in self.entries.items():
            now = await self.ledger.look(job)
            assert now.status not in {"queued", "working"}, f"job {job} is stuck: {now}"
            assert len(now.entries) == entries

    # Helpers

    def own(self, mine: InHand) -> None:
        self.claims.append(mine)
        self.owners[mine.job] = mine

    def may_settle(self, before: Snapshot, mine: InHand) -> bool:
        """Say what the protocol says, by our own book of who claimed last."""
        return self.owners.get(mine.job) is mine and before.status == "working"

    def pick(self, number: int) -> InHand:
        # Counted from the newest: hypothesis loves small numbers, and a claim that
        # stands is worth more than one that was lost long ago.
        return self.claims[-1 - number % len(self.claims)]

    def other_hand(self, mine: InHand) -> Any:
        return next(hand for hand in self.ledger.hands if hand is not mine.hand)

    def check_settle(
        self, mine: InHand, settling: Coroutine[Any, Any, None], *, entries: int
    ) -> None:
        before = self.do(self.ledger.look(mine.job))

        self.do(settling)

        mine.hand.connection.lose_next = False
        after = self.do(self.ledger.look(mine.job))
        if self.may_settle(before, mine):
            assert (after.status, after.claimed) == ("done", False)
            assert after.entries == before.entries + (mine.version,) * entries
            assert mine.version == before.version, "a result of an older input"
            self.entries[mine.job] += entries
            del self.owners[mine.job]
        else:
            assert after.status == before.status
            assert after.entries == before.entries

    async def interleave(
        self, mine: InHand, act: Callable[[], Awaitable[object]]
    ) -> None:
        """Settle, and start the other's act while the settling transaction is open."""
        acts: list[asyncio.Future[object]] = []

        async def meanwhile() -> None:
            acts.append(asyncio.ensure_future(act()))
            await asyncio.sleep(0.02)

        await mine.hand.settle(mine, entry_of(mine, meanwhile))
        await asyncio.gather(*acts)

    async def claim_meanwhile(self, mine: InHand) -> None:
        for taken in await self.other_hand(mine).claim("batch"):
            self.own(taken)


def check_machine(database: Database, *, examples: int, steps: int) -> None:
    loop = asyncio.new_event_loop()
    ledger = loop.run_until_complete(Ledger.open(database.url, database.dsn))
    machine = type("Machine", (LedgerMachine,), {"loop": loop, "ledger": ledger})
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                derandomize=True,
                database=None,
                # A history of 30 steps is short enough to read; shrinking takes minutes.
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
            ),
        )
    finally:
        loop.run_until_complete(ledger.close())
        loop.close()


@pytest.mark.slow
def test_no_order_of_steps_breaks_the_promises(empty_database: Database) -> None:
    check_machine(empty_database, examples=size(6, 25), steps=30)


@pytest.mark.long
def test_no_long_order_of_steps_breaks_the_promises(
    empty_database: Database,
) -> None:
    check_machine(empty_database, examples=500, steps=60)
