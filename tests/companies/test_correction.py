"""A person's word about companies always stands, and every merge can be taken back."""

import pytest

from scrapersky.companies.correction import (
    answer_question,
    merges_into,
    questions,
    say_different,
    say_same,
    take_back_merge,
)
from scrapersky.errors import InvalidDecision, UnknownRecord
from scrapersky.records.status import PairVerdict
from tests.companies.conftest import Trade
from tests.companies.test_matching import PHONE, groups

FAR = {"latitude": 52.5, "longitude": 13.4}


async def split(trade: Trade, key: str) -> None:
    """Say that a place is a company of its own."""
    company = await trade.company_of(key)
    rows = await trade.rows(
        """SELECT m.id FROM company_members m JOIN places_staging p ON p.id = m.place_id
        WHERE m.tenant_id = :tenant AND p.source_place_id = :key""",
        key=key,
    )
    async with trade.engine.begin() as connection:
        await say_different(connection, trade.actor, company, [rows[0].id])


async def imported_again(trade: Trade) -> None:
    """Let every source say something new, and match again."""
    await trade.rows(
        """UPDATE places_staging SET address = coalesce(address, '') || 'x, 80331 M'
        WHERE tenant_id = :tenant"""
    )
    await trade.match()


async def test_what_a_person_split_is_not_put_together_by_the_next_import(
    trade: Trade,
) -> None:
    await trade.place("a", "Huber", phone=PHONE)
    await trade.place("b", "Huber", phone=PHONE)
    await trade.match()
    assert await trade.groups() == groups("ab")

    await split(trade, "b")
    await imported_again(trade)

    assert await trade.groups() == groups("a", "b")
    assert await trade.questions() == []


async def test_what_a_person_merged_stays_one_whatever_sources_tell(
    trade: Trade,
) -> None:
    await trade.place("a", "Huber Ofenbau")
    await trade.place("b", "Kaminwelt", **FAR)
    await trade.match()
    one, other = await trade.company_of("a"), await trade.company_of("b")

    async with trade.engine.begin() as connection:
        await say_same(connection, trade.actor, one, [other])
    await imported_again(trade)

    assert await trade.groups() == groups("ab")


async def test_a_merge_taken_back_gives_both_companies_what_they_had(
    trade: Trade,
) -> None:
    await trade.place("a", "Huber")
    await trade.place("b", "Kaminwelt", **FAR)
    await trade.match()
    one, other = await trade.company_of("a"), await trade.company_of("b")
    await trade.rows(
        """UPDATE companies SET notes = 'call ' || name, lead_status = 'Contacted',
        worked_at = clock_timestamp() WHERE tenant_id = :tenant"""
    )
    async with trade.engine.begin() as connection:
        await say_same(connection, trade.actor, one, [other])
    (merged,) = await trade.companies()
    assert merged.notes == "call Huber\n\ncall Kaminwelt"

    async with trade.engine.begin() as connection:
        (merge,) = await merges_into(connection, trade.actor.tenant_id, one)
        await take_back_merge(connection, trade.actor, merge.id)
    await imported_again(trade)

    assert await trade.groups() == groups("a", "b")
    assert {(row.id, row.notes) for row in await trade.companies()} == {
        (one, "call Huber"),
        (other, "call Kaminwelt"),
    }
    async with trade.engine.begin() as connection:
        with pytest.raises(UnknownRecord):
            await take_back_merge(connection, trade.actor, merge.id)


async def test_contradictory_corrections_by_two_people_end_with_the_last_and_are_shown(
    trade: Trade,
) -> None:
    await trade.place("a", "Praxis Dr. Brandner", phone="+498911111111")
    await trade.place("b", "Praxis Dr. Brendner", phone="+498922222222")
    await trade.match()
    (question,) = await trade.questions()

    for actor, verdict in (
        (trade.actor, PairVerdict.SAME),
        (trade.colleague, PairVerdict.DIFFERENT),
    ):
        async with trade.engine.begin() as connection:
            await answer_question(connection, actor, question.id, verdict)
        expected = groups("ab") if verdict is PairVerdict.SAME else groups("a", "b")
        assert await trade.groups() == expected
        await imported_again(trade)
        assert await trade.groups() == expected

    async with trade.engine.begin() as connection:
        (shown,) = await questions(connection, trade.actor.tenant_id, 10)
    assert shown.is_disputed
    assert shown.verdict == "different"


async def test_a_company_of_another_tenant_is_not_merged(trade: Trade) -> None:
    await trade.place("a", "Huber")
    await trade.match()
    mine = await trade.company_of("a")
    (theirs,) = await trade.rows(
        """WITH them AS (INSERT INTO tenants (name, slug)
          VALUES ('B', gen_random_uuid()::text) RETURNING id)
        INSERT INTO companies (tenant_id) SELECT id FROM them RETURNING id"""
    )

    async with trade.engine.begin() as connection:
        with pytest.raises(InvalidDecision, match="companies of yours"):
            await say_same(connection, trade.actor, mine, [theirs.id])
