"""The search through every table: what is expensive is asked of few rows."""

from scrapersky.privacy.sweep import SearchTerm, hits
from tests.privacy.conftest import House

INVALID = "("
"""PostgreSQL fails with the first text that it compares with this pattern."""


async def test_a_pattern_is_matched_only_where_its_letters_are(house: House) -> None:
    await house.add_contact(await house.add_domain(), email="ada@a.bv")
    wanted = SearchTerm(INVALID, ("nowhere@a.bv",))

    found = [hit async for hit in hits(house.engine, house.actor.tenant_id, wanted)]

    assert found == []
