"""Who may speak for a company: others who name its website, or a person; never itself."""

from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from scrapersky.companies.correction import answer_question
from scrapersky.records import Person
from scrapersky.records.status import PairVerdict
from tests.companies.conftest import Trade

PHONE = "+431600000301"
NAME = "Tischlerei Kunze"
CYRILLIC = "Tischlerei Kunz\u0435"
ADDRESS = "Lindenweg 12, 1010 Wien"
PROFILE = "https://www.facebook.com/kunze.tischler"
COPIES: dict[str, dict[str, Any]] = {
    "name and phone": {"organisation": {"name": NAME}, "phones": [PHONE]},
    "one Cyrillic letter": {"organisation": {"name": CYRILLIC}, "phones": [PHONE]},
    "three Cyrillic letters": {
        "organisation": {"name": "Tis\u0441hl\u0435rei \u041aunze"},
        "phones": [PHONE],
    },
    "phone alone": {"phones": [PHONE]},
    "name and address": {
        "organisation": {
            "name": NAME,
            "address": {
                "street": "Lindenweg 12",
                "postal_code": "1010",
                "city": "Wien",
            },
        },
        "phones": ["+431600000399"],
    },
    "name and social profile": {
        "organisation": {"name": NAME},
        "social_links": {"facebook": PROFILE},
    },
    "everything": {
        "organisation": {
            "name": NAME,
            "address": {
                "street": "Lindenweg 12",
                "postal_code": "1010",
                "city": "Wien",
            },
        },
        "phones": [PHONE],
        "social_links": {"facebook": PROFILE},
    },
}
MEMBERS = """SELECT company_id, domain_id FROM company_members
  WHERE tenant_id = :tenant AND domain_id IS NOT NULL"""


async def a_victim(trade: Trade) -> UUID:
    """Store a company of which no website is known, only a profile."""
    place = await trade.place("v", NAME, phone=PHONE, address=ADDRESS, website=PROFILE)
    await trade.business(place, NAME, links=[PROFILE])
    return place


async def an_impostor(trade: Trade, **copied: Any) -> UUID:
    """Store a website that says what it copied, with an address and an owner."""
    domain = await trade.domain("kunze-tischler.example", verdict="own_site", **copied)
    await trade.contact(
        domain, email="boss@kunze-tischler.example", name="Mal Ory", phone=PHONE
    )
    await trade.add(
        Person,
        domain_id=domain,
        name="Mal Ory",
        name_key="mal ory",
        role="Owner",
        confidence=0.9,
        standing=0.9,
        standing_reason="owner: Owner",
    )
    return domain


async def owner_of(trade: Trade, domain: UUID) -> UUID:
    rows = await trade.rows(MEMBERS)
    found = {row.domain_id: row.company_id for row in rows}
    return UUID(str(found[domain]))


async def victim(trade: Trade) -> Any:
    key = await trade.company_of("v")
    (found,) = [row for row in await trade.companies() if row.id == key]
    return found


async def require_unharmed(trade: Trade, domain: UUID) -> None:
    """Assert that nothing of the impostor is the company's."""
    company = await victim(trade)
    assert company.id != await owner_of(trade, domain)
    assert company.domain_id is None
    assert (company.email_contact_id, company.decision_maker_id) == (None, None)
    assert company.website == PROFILE
    assert company.records_count == 1


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "later"])
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
async def test_a_website_that_copies_a_company_is_a_question_and_never_a_merge(
    trade: Trade, copied: dict[str, Any], is_first: bool
) -> None:
    if not is_first:
        await a_victim(trade)
        await trade.match()
    domain = await an_impostor(trade, **copied)
    await trade.match()
    if is_first:
        await a_victim(trade)
        await trade.match()

    await require_unharmed(trade, domain)
    (question,) = await trade.questions()
    assert "only the website itself says so" in question.reasons


async def test_both_in_one_run_are_a_question_too(trade: Trade) -> None:
    domain = await an_impostor(trade, **COPIES["everything"])
    await a_victim(trade)
    await trade.match()

    await require_unharmed(trade, domain)
    assert len(await trade.questions()) == 1


async def test_a_name_alone_is_neither_a_merge_nor_a_question(trade: Trade) -> None:
    await a_victim(trade)
    domain = await an_impostor(
        trade, organisation={"name": NAME}, phones=["+431600000399"]
    )
    await trade.match()

    await require_unharmed(trade, domain)
    assert await trade.questions() == []


async def test_two_websites_that_claim_one_phone_number_are_a_question(
    trade: Trade,
) -> None:
    await trade.domain("kunze.example", **COPIES["name and phone"])
    await trade.domain("kunze-tischler.example", **COPIES["name and phone"])
    await trade.match()

    assert len(await trade.companies()) == 2
    assert len(await trade.questions()) == 1


async def test_a_copy_of_a_company_that_has_a_website_is_a_question(
    trade: Trade,
) -> None:
    await trade.place("v", NAME, phone=PHONE, website="https://kunze.example")
    await trade.match()
    real = await victim(trade)
    await an_impostor(trade, **COPIES["name and phone"])
    await trade.match()

    assert len(await trade.companies()) == 2
    assert (await victim(trade)).website == real.website
    assert len(await trade.questions()) == 1


async def test_what_a_person_agreed_to_speaks_for_the_company(trade: Trade) -> None:
    await a_victim(trade)
    domain = await an_impostor(trade, **COPIES["name and phone"])
    await trade.match()
    (question,) = await trade.questions()

    async with trade.engine.begin() as connection:
        await answer_question(connection, trade.actor, question.id, PairVerdict.SAME)

    company = await victim(trade)
    assert company.domain_id == domain
    assert company.email_contact_id is not None


async def test_what_a_person_refused_is_not_asked_again(trade: Trade) -> None:
    await a_victim(trade)
    domain = await an_impostor(trade, **COPIES["name and phone"])
    await trade.match()
    (question,) = await trade.questions()
    async with trade.engine.begin() as connection:
        await answer_question(
            connection, trade.actor, question.id, PairVerdict.DIFFERENT
        )

    await trade.rows("UPDATE domains SET phones = phones || '{+43160000}'::text[]")
    await trade.rows("UPDATE places_staging SET name = name || ' GmbH'")
    await trade.match()

    await require_unharmed(trade, domain)
    assert await trade.questions() == []


async def test_the_website_that_a_map_names_joins_also_after_it_was_a_question(
    trade: Trade,
) -> None:
    place = await a_victim(trade)
    domain = await an_impostor(trade, **COPIES["name and phone"])
    await trade.match()

    await trade.rows(
        """UPDATE local_businesses SET website = 'https://kunze-tischler.example'
        WHERE place_id = :id""",
        id=place,
    )
    await trade.match()

    assert (await victim(trade)).id == await owner_of(trade, domain)
    assert (await victim(trade)).domain_id == domain


async def test_a_second_record_that_names_no_website_brings_no_impostor_with_it(
    trade: Trade,
) -> None:
    domain = await an_impostor(trade, **COPIES["everything"])
    await a_victim(trade)
    await trade.match()
    await trade.place("w", NAME, phone=PHONE, address=ADDRESS, source="other")
    await trade.match()

    assert await trade.groups() == {frozenset({"v", "w"})}
    assert (await victim(trade)).id != await owner_of(trade, domain)


async def test_records_of_one_company_join_beside_a_website_that_one_of_them_names(
    trade: Trade,
) -> None:
    site = "https://kunze-tischler.example"
    domain = await an_impostor(trade, **COPIES["name and phone"])
    await trade.place("v", NAME, phone=PHONE, website=site)
    await trade.match()
    await trade.place("w", NAME, phone=PHONE, source="other")
    await trade.match()

    assert await trade.groups() == {frozenset({"v", "w"})}
    assert (await victim(trade)).id == await owner_of(trade, domain)
    assert await trade.questions() == []


async def test_what_joined_by_its_own_word_before_is_parted_by_the_migration(
    trade: Trade,
) -> None:
    await a_victim(trade)
    domain = await an_impostor(trade, **COPIES["name and phone"])
    await trade.place("n", "Named", website="https://named.example", latitude=50)
    named = await trade.domain("named.example")
    await trade.match()
    company = await trade.company_of("v")
    alone = await owner_of(trade, domain)
    await trade.rows(
        "UPDATE company_members SET company_id = :one WHERE domain_id = :id",
        one=company,
        id=domain,
    )
    await trade.rows("DELETE FROM companies WHERE id = :id", id=alone)
    await trade.rows(
        "UPDATE companies SET lead_status = 'Do Not Contact' WHERE id = :id", id=company
    )
    await trade.rows("DELETE FROM company_pairs WHERE tenant_id = :tenant")

    release = import_module("scrapersky.db.migrations.versions.0043_claimed_websites")
    async with trade.engine.begin() as connection:
        for statement in release.statements("true"):
            await connection.execute(text(statement))
    await trade.match()

    await require_unharmed(trade, domain)
    assert await owner_of(trade, named) == await trade.company_of("n")
    assert len(await trade.questions()) == 1
    statuses = [row.lead_status for row in await trade.companies()]
    assert sorted(statuses) == ["Do Not Contact", "Do Not Contact", "New"]
