"""Do Not Contact stays until a person lifts it, whatever is merged, split or imported."""

from dataclasses import dataclass, field
from random import Random
from typing import Any
from uuid import UUID

import pytest

from scrapersky.companies.correction import (
    merges_into,
    say_different,
    say_same,
    take_back_merge,
)
from scrapersky.curation.action import ActionResult
from scrapersky.curation.condition import Condition
from scrapersky.curation.decision import Selection, decide
from scrapersky.curation.undo import undo
from scrapersky.records.company import COMPANIES
from tests.companies.conftest import Trade

STOP = "Do Not Contact"
PHONE = "+498912345678"
MEMBERS = """SELECT p.source_place_id AS key, m.id, m.company_id,
    c.lead_status::text AS status
  FROM company_members m JOIN places_staging p ON p.id = m.place_id
  JOIN companies c ON c.id = m.company_id WHERE m.tenant_id = :tenant"""


async def set_status(
    trade: Trade, status: str, *ids: UUID, force: bool = False, **given: Any
) -> ActionResult:
    """Set the status of some companies, or of all that a filter means."""
    chosen = Selection(ids=ids) if ids else Selection(**given)
    return await decide(
        trade.engine, trade.actor, COMPANIES, status, chosen, force=force
    )


async def statuses(trade: Trade) -> dict[str, str]:
    """Return by record the status of the company that holds it."""
    return {row.key: row.status for row in await trade.rows(MEMBERS)}


async def unite(trade: Trade, one: str, other: str) -> None:
    into, gone = await trade.company_of(one), await trade.company_of(other)
    async with trade.engine.begin() as connection:
        await say_same(connection, trade.actor, into, [gone])


async def take_back(trade: Trade, key: str) -> None:
    company = await trade.company_of(key)
    async with trade.engine.begin() as connection:
        merges = await merges_into(connection, trade.actor.tenant_id, company)
        await take_back_merge(connection, trade.actor, merges[0].id)


async def split(trade: Trade, key: str) -> None:
    rows = await trade.rows(MEMBERS)
    (one,) = [row for row in rows if row.key == key]
    async with trade.engine.begin() as connection:
        await say_different(connection, trade.actor, one.company_id, [one.id])


async def two(trade: Trade, first: str = "New", second: str = "New") -> None:
    """Store two companies of these statuses, a and b."""
    await trade.place("a", "Huber Ofenbau")
    await trade.place("b", "Kaminwelt", latitude=52.5)
    await trade.match()
    for key, status in (("a", first), ("b", second)):
        await set_status(trade, status, await trade.company_of(key))


@pytest.mark.parametrize("other", ["New", "Contacted", "Won"])
@pytest.mark.parametrize("into", ["a", "b"])
async def test_a_merge_by_a_person_lost_do_not_contact(
    trade: Trade, into: str, other: str
) -> None:
    await two(trade, STOP, other)

    await unite(trade, into, "b" if into == "a" else "a")

    assert await statuses(trade) == {"a": STOP, "b": STOP}


async def test_an_automatic_merge_keeps_do_not_contact(trade: Trade) -> None:
    await trade.place("a", "Huber", phone=PHONE)
    await trade.place("b", "Huber", phone="+498900000000", latitude=52.5)
    await trade.match()
    await set_status(trade, STOP, await trade.company_of("b"))

    await trade.rows(
        """UPDATE places_staging SET phone = :phone, latitude = 48.1374
        WHERE tenant_id = :tenant""",
        phone=PHONE,
    )
    await trade.match()

    assert len(await trade.groups()) == 1
    assert await statuses(trade) == {"a": STOP, "b": STOP}


async def test_both_halves_of_a_merge_taken_back_keep_it(trade: Trade) -> None:
    await two(trade, "New", STOP)
    await unite(trade, "a", "b")

    await take_back(trade, "a")

    assert await statuses(trade) == {"a": STOP, "b": STOP}
    assert len(await trade.groups()) == 2


async def test_what_was_set_after_a_merge_is_kept_by_both_halves(trade: Trade) -> None:
    await two(trade)
    await unite(trade, "a", "b")
    await set_status(trade, STOP, await trade.company_of("a"))

    await take_back(trade, "a")

    assert await statuses(trade) == {"a": STOP, "b": STOP}


async def test_a_record_that_was_split_off_lost_do_not_contact(trade: Trade) -> None:
    await two(trade)
    await unite(trade, "a", "b")
    await set_status(trade, STOP, await trade.company_of("a"))

    await split(trade, "b")
    await trade.rows("UPDATE places_staging SET name = name || ' neu'")
    await trade.match()

    assert await statuses(trade) == {"a": STOP, "b": STOP}
    assert len(await trade.groups()) == 2


async def test_an_older_decision_undone_does_not_lift_what_came_with_a_merge(
    trade: Trade,
) -> None:
    await two(trade, "New", STOP)
    done = await set_status(trade, STOP, await trade.company_of("a"))
    await unite(trade, "a", "b")
    assert done.action_id is not None

    undone = await undo(trade.engine, trade.actor, done.action_id)

    assert undone.skipped == {"changed again since": 1}
    assert await statuses(trade) == {"a": STOP, "b": STOP}


async def test_an_older_decision_undone_does_not_lift_what_a_later_one_said(
    trade: Trade,
) -> None:
    await two(trade)
    company = await trade.company_of("a")
    first = await set_status(trade, STOP, company)
    await set_status(trade, "Won", company)
    later = await set_status(trade, STOP, company)
    assert first.action_id is not None
    assert later.action_id is not None

    await undo(trade.engine, trade.actor, first.action_id)
    assert (await statuses(trade))["a"] == STOP

    await undo(trade.engine, trade.actor, later.action_id)
    assert (await statuses(trade))["a"] == "Won"


async def test_a_status_set_on_many_leaves_who_must_not_be_contacted(
    trade: Trade,
) -> None:
    await two(trade, STOP)
    ids = [await trade.company_of(key) for key in "ab"]

    by_filter = await set_status(trade, "Contacted")
    by_ids = await set_status(trade, "Replied", *ids)

    assert await statuses(trade) == {"a": STOP, "b": "Replied"}
    for done in (by_filter, by_ids):
        assert (done.changed, done.skipped) == (1, {"stays Do Not Contact": 1})


async def test_a_person_lifts_it_for_one_company_or_by_naming_the_status(
    trade: Trade,
) -> None:
    await two(trade, STOP, STOP)

    await set_status(trade, "Contacted", await trade.company_of("a"))
    assert await statuses(trade) == {"a": "Contacted", "b": STOP}

    named = Condition(field="lead_status", value=STOP)
    await set_status(trade, "New", conditions=(named,))
    assert await statuses(trade) == {"a": "Contacted", "b": "New"}

    await set_status(trade, STOP)
    await set_status(trade, "Won", force=True)
    assert await statuses(trade) == {"a": "Won", "b": "Won"}


async def test_a_decision_about_many_is_undone_as_it_was_made(trade: Trade) -> None:
    await two(trade, "Contacted")
    done = await set_status(trade, STOP)
    assert done.action_id is not None

    await undo(trade.engine, trade.actor, done.action_id)

    assert await statuses(trade) == {"a": "Contacted", "b": "New"}


async def test_a_record_imported_again_does_not_change_the_status(trade: Trade) -> None:
    await trade.place("a", "Huber", phone=PHONE)
    await trade.match()
    await set_status(trade, STOP, await trade.company_of("a"))

    await trade.place("a2", "Huber GmbH", phone=PHONE, source="another file")
    await trade.match()
    await trade.rows("UPDATE places_staging SET name = 'Huber Neu', seen_at = now()")
    await trade.match()

    assert await statuses(trade) == {"a": STOP, "a2": STOP}


@dataclass(slots=True)
class Story:
    """What people did, and who must not be contacted because of it."""

    trade: Trade
    random: Random
    held: dict[str, set[UUID]] = field(default_factory=dict)
    """By record the decisions that set it and were neither lifted nor undone."""
    actions: list[UUID] = field(default_factory=list)
    acts: list[str] = field(default_factory=list)
    made: int = 0

    async def step(self) -> None:
        choices = (
            self.stop, self.stop, self.lift, self.many, self.unite, self.unite,
            self.split, self.undo_merge, self.undo_decision, self.take_in, self.report,
        )  # fmt: skip
        act = self.random.choice(choices)
        self.acts.append(act.__name__)
        await act()

    async def records(self) -> list[Any]:
        return sorted(await self.trade.rows(MEMBERS), key=lambda row: row.key)

    async def a_company(self) -> tuple[UUID, list[str]]:
        rows = await self.records()
        company = self.random.choice(rows).company_id
        return company, [row.key for row in rows if row.company_id == company]

    async def stop(self) -> None:
        company, keys = await self.a_company()
        done = await set_status(self.trade, STOP, company)
        if done.action_id is not None and done.changed:
            self.actions.append(done.action_id)
            for key in keys:
                self.held.setdefault(key, set()).add(done.action_id)

    async def lift(self) -> None:
        company, keys = await self.a_company()
        done = await set_status(self.trade, "Contacted", company)
        if done.action_id is not None and done.changed:
            self.actions.append(done.action_id)
        for key in keys:
            self.held.pop(key, None)

    async def many(self) -> None:
        await set_status(self.trade, self.random.choice(("New", "Won")))

    async def unite(self) -> None:
        (one, _), (other, _) = await self.a_company(), await self.a_company()
        if one != other:
            async with self.trade.engine.begin() as connection:
                await say_same(connection, self.trade.actor, one, [other])

    async def split(self) -> None:
        _, keys = await self.a_company()
        if len(keys) > 1:
            await split(self.trade, self.random.choice(keys))

    async def undo_merge(self) -> None:
        open_merges = await self.trade.rows(
            """SELECT id FROM company_merges
            WHERE tenant_id = :tenant AND undone_at IS NULL ORDER BY created_at"""
        )
        if open_merges:
            merge = self.random.choice(open_merges)
            async with self.trade.engine.begin() as connection:
                await take_back_merge(connection, self.trade.actor, merge.id)

    async def undo_decision(self) -> None:
        if self.actions:
            action = self.random.choice(self.actions)
            self.actions.remove(action)
            await undo(self.trade.engine, self.trade.actor, action)
            for decisions in self.held.values():
                decisions.discard(action)

    async def take_in(self) -> None:
        """Let another source list one of four companies, each well known by its phone."""
        self.made += 1
        which = self.random.randrange(4)
        await self.trade.place(
            f"{self.made:03}",
            ("Huber", "Kaminwelt", "Adler Reisen", "Optik Blau")[which],
            phone=f"+4989123456{which}0",
            source=f"file {self.made}",
            latitude=48 + which,
        )
        await self.trade.match()

    async def report(self) -> None:
        """Let a source say something new of all it lists."""
        await self.trade.rows(
            """UPDATE places_staging SET address = coalesce(address, '') || 'x, 80331 M'
            WHERE tenant_id = :tenant"""
        )
        await self.trade.match()

    async def require_held(self) -> None:
        now = await statuses(self.trade)
        lost = [key for key, why in self.held.items() if why and now[key] != STOP]
        assert lost == [], self.acts


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
async def test_no_sequence_of_acts_loses_do_not_contact(
    trade: Trade, seed: int
) -> None:
    story = Story(trade, Random(seed))
    for _ in range(4):
        await story.take_in()
    for _ in range(40):
        await story.step()
        await story.require_held()
