"""Who must be told by when: exact to the day, kept by the database itself."""

import asyncio
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from scrapersky.api.records.contact import merge
from scrapersky.privacy.notice import NoticeDetails, mark_all_informed, mark_informed
from scrapersky.privacy.person import erase_person
from scrapersky.privacy.subject import any_subject
from tests.privacy.conftest import House


def at(written: str) -> datetime:
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("obtained", "due"),
    [
        ("2026-01-15T12:00", "2026-02-15T12:00"),
        ("2026-01-31T23:59:59.999", "2026-02-28T23:59:59.999"),
        ("2028-01-31T00:00", "2028-02-29T00:00"),
        ("2026-02-28T08:00", "2026-03-28T08:00"),
        ("2026-12-31T10:00", "2027-01-31T10:00"),
        # Clocks of Europe go forward between the two.
        ("2026-03-10T01:30", "2026-04-10T01:30"),
    ],
)
async def test_a_month_is_a_month_of_the_calendar_in_every_time_zone(
    house: House, obtained: str, due: str
) -> None:
    contact = await house.add_contact(await house.add_domain(), email="ada@a.bv")

    async with house.engine.begin() as connection:
        await connection.execute(text("SET LOCAL timezone = 'Europe/Berlin'"))
        await connection.execute(
            text("UPDATE contact_notices SET obtained_at = :at"), {"at": at(obtained)}
        )
    rows = await house.rows(
        "SELECT contact_id, obtained_at, due_at, informed_at, legal_basis"
        " FROM contact_notices"
    )

    assert rows == [(contact, at(obtained), at(due), None, "legitimate_interests")]


async def test_every_contact_has_one_however_it_was_stored(house: House) -> None:
    domain = await house.add_domain()
    twice = (
        "INSERT INTO contacts AS c (tenant_id, domain_id, email) SELECT :t, :d,"
        " 'm' || n || '@a.bv' FROM generate_series(1, 50) AS n"
        " ON CONFLICT (domain_id, email) WHERE (email IS NOT NULL)"
        " DO UPDATE SET name = coalesce(c.name, excluded.name)"
    )
    for _ in range(2):
        await house.run(twice, t=house.actor.tenant_id, d=domain)
    await house.run("DELETE FROM contacts WHERE email = 'm7@a.bv'")

    rows = await house.rows(
        "SELECT count(*), count(n.contact_id), bool_and(n.obtained_at = c.created_at)"
        " FROM contacts c FULL JOIN contact_notices n ON n.contact_id = c.id"
    )

    assert rows == [(49, 49, True)]


async def test_two_who_mark_the_same_people_count_each_once(house: House) -> None:
    domain = await house.add_domain()
    people = [
        await house.add_contact(domain, email=f"m{n}@a.bv", created_at=at("2026-01-31"))
        for n in range(30)
    ]
    newer = await house.add_contact(
        domain, email="new@a.bv", created_at=at("2026-02-01")
    )
    before = at("2026-01-31")

    done = await asyncio.gather(
        mark_informed(house.engine, house.actor, people, NoticeDetails(how="by mail")),
        mark_informed(
            house.engine, house.actor, people[::-1], NoticeDetails(how="by mail")
        ),
        mark_all_informed(
            house.engine, house.actor, before, NoticeDetails(how="by mail")
        ),
    )

    assert sum(one.changed for one in done) == 30
    assert await house.rows(
        "SELECT contact_id FROM contact_notices WHERE informed_at IS NULL"
    ) == [(newer,)]
    noted = await house.rows(
        "SELECT sum((details->>'contacts')::int) FROM audit_log"
        " WHERE action = 'informed' AND subject = 'notices'"
    )
    assert noted == [(30,)]


async def test_contacts_that_are_one_are_due_by_the_earliest(house: House) -> None:
    domain = await house.add_domain()
    kept = await house.add_contact(
        domain, email="ada@a.bv", created_at=at("2026-03-01")
    )
    older = await house.add_contact(
        domain, phone="+442079460018", created_at=at("2026-01-05")
    )
    informed = await house.add_contact(
        domain, email="a.l@a.bv", created_at=at("2026-02-01")
    )
    await mark_informed(
        house.engine, house.actor, [informed], NoticeDetails(at("2026-02-10"), "letter")
    )

    async with house.engine.begin() as connection:
        await merge(connection, house.actor, kept, [older, informed])

    assert await house.rows(
        "SELECT contact_id, obtained_at, due_at, informed_at, how FROM contact_notices"
    ) == [(kept, at("2026-01-05"), at("2026-02-05"), at("2026-02-10"), "letter")]


async def test_who_is_erased_is_not_due_any_more(house: House) -> None:
    domain = await house.add_domain()
    await house.add_contact(domain, email="ada@a.bv")
    other = await house.add_contact(domain, email="bob@a.bv")
    await mark_informed(
        house.engine, house.actor, [other], NoticeDetails(how="with ada@a.bv in copy")
    )

    await erase_person(house.engine, house.actor, any_subject("ada@a.bv"))

    assert await house.rows("SELECT contact_id, how FROM contact_notices") == [
        (other, "with [removed] in copy")
    ]
