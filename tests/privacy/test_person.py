"""One person: everything about them is shown, and erasing leaves nothing of it."""

import asyncio
import re
import subprocess
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import insert
from sqlalchemy.dialects.postgresql import BYTEA, ENUM, JSONB

from curation_sdk.schema import attempt, dead_letter
from scrapersky.crawler import Sandbox
from scrapersky.curation.batch import submit
from scrapersky.pipeline.parsers import WARM
from scrapersky.privacy.person import erase_person, export_person
from scrapersky.privacy.subject import any_subject
from scrapersky.privacy.sweep import ACCOUNT_TABLES, PACKED_TABLES, searched_tables
from scrapersky.records import METADATA, LocalBusiness, Place
from sdk_tests.rig.size import size
from tests.conftest import TestDatabase, TestServer
from tests.privacy.conftest import House
from tests.stages.rig import Line, running_line

ADA = any_subject("ada@a.bv")
NUMBER = any_subject("+442079460018")


def dump(server: TestServer, database: TestDatabase) -> str:
    """Return the whole database as a backup would hold it."""
    done = subprocess.run(
        [server.bin / "pg_dump", "--data-only", "--inserts", database.dsn],
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout


async def test_everything_about_a_person_is_shown_with_its_origin(
    house: House,
) -> None:
    domain = await house.add_domain(emails=["ada@a.bv"])
    await house.add_contact(domain, email="ada@a.bv", name="Ada Lovelace")
    await house.add_contact(domain, email="bob@a.bv")
    await house.add(
        Place, source="osm", source_place_id="1", licence="ODbL",
        raw={"email": "Ada@A.bv"},
    )  # fmt: skip

    held = await export_person(house.engine, house.actor, ADA)

    found = {one.table: one for one in held}
    assert set(found) == {"contacts", "contact_evidence", "domains", "places_staging"}
    assert found["contacts"].values["name"] == "Ada Lovelace"
    assert found["contacts"].origin[0]["url"] == "http://a.bv/"
    assert found["places_staging"].origin == [{"source": "osm", "licence": "ODbL"}]


async def test_erasing_reaches_every_table(
    house: House, database: TestDatabase, postgres_server: TestServer
) -> None:
    domain = await house.add_domain(
        emails=["ada@a.bv", "bob@a.bv"], title="Ask ada@a.bv", phones=["+442079460018"]
    )
    await house.add_contact(domain, email="ada@a.bv", name="Ada Lovelace")
    bob = await house.add_contact(domain, email="bob@a.bv", notes="or ADA@A.BV")
    await house.run(
        "UPDATE contact_evidence SET snippet = 'Ada Lovelace: ada [at] a.bv, bob'"
        " WHERE contact_id = :bob",
        bob=bob,
    )
    await house.add(
        Place, source="osm", source_place_id="1", raw={"mail": ["ada@a.bv"], "n": 5}
    )
    await house.add(LocalBusiness, name="A", attributes={"emails": ["ada@a.bv"]})
    for table, kind in ((attempt, "outcome"), (dead_letter, "kind")):
        more = {"deaths": 0} if table is dead_letter else {}
        async with house.engine.begin() as connection:
            await connection.execute(
                insert(table).values(
                    {"stage": "s", "item": "i", "fence": 1, "tries": 1, kind: "x",
                     "why": "no such mailbox: ada@a.bv", **more}
                )
            )  # fmt: skip
    await house.run(
        "INSERT INTO audit_log (tenant_id, actor, action, subject, details) VALUES"
        " (:t, 'x', 'edited', 'contacts', jsonb_build_object('was', 'ada@a.bv'))",
        t=house.actor.tenant_id,
    )
    await house.run(
        "INSERT INTO pages (tenant_id, domain_id, url, title) VALUES"
        " (:t, :d, 'http://a.bv/vcard?m=ada%40a.bv', 'x'),"
        " (:t, :d, 'http://a.bv/team', 'Ada Lovelace, owner')",
        t=house.actor.tenant_id,
        d=domain,
    )

    erased = await erase_person(house.engine, house.actor, ADA)

    everything = dump(postgres_server, database).lower()
    assert "ada@" not in everything
    assert "ada%40" not in everything
    assert "ada [at]" not in everything
    assert "lovelace" not in everything
    assert "bob@a.bv" in everything
    assert erased.deleted["contacts"] == 1
    assert await house.rows("SELECT raw FROM places_staging") == [
        ({"mail": [], "n": 5},)
    ]
    assert await house.rows("SELECT notes FROM contacts") == [("or [removed]",)]
    assert await house.rows("SELECT url, title FROM pages") == [
        ("http://a.bv/team", "[removed], owner")
    ]


async def test_a_number_is_erased_in_every_way_of_writing_it(
    house: House, database: TestDatabase, postgres_server: TestServer
) -> None:
    domain = await house.add_domain(phones=["+442079460018"])
    await house.add_contact(domain, phone="+442079460018")
    await house.add_contact(
        domain, email="b@a.bv", phone="+442079460018", notes="call (020) 7946-0018",
        phones={"+442079460018": {"written": "020 7946 0018"}},
    )  # fmt: skip
    await house.add(Place, source="x", source_place_id="2079460018", raw={"id": 2079460018,
        "tel": "+44 20 7946 0018"})  # fmt: skip

    await erase_person(house.engine, house.actor, NUMBER)

    assert await house.rows("SELECT email, phone, phones, notes FROM contacts") == [
        ("b@a.bv", None, {}, "call [removed]")
    ]
    assert await house.rows("SELECT raw FROM places_staging") == [
        ({"id": 2079460018, "tel": None},)
    ]
    # The whole number: four digits alone may stand in any random id.
    left = dump(postgres_server, database).replace("2079460018", "")
    assert not re.search(r"7946\D{0,3}0018", left)


LETTERS = (
    ("zoe.o@a.bv", "Zoë Ö", "ZOË Ö; Zoe.O (at) A.bv"),
    ("x@a.bv", "Li Bo", "mail X@a.bv, ask for LI BO"),
    ("ö@a.bv", "Émile", "Ö@A.BV"),
    ("kaya+1@a.bv", "İSTANBUL Kaya", "write to KAYA+1%40a.bv"),
)


@pytest.mark.slow
async def test_whatever_the_letters_all_of_it_is_found(house: House) -> None:
    for email, name, written in LETTERS:
        await erase_lettered(house, email, name, written)
        await house.run("DELETE FROM domains")


async def erase_lettered(house: House, email: str, name: str, written: str) -> None:
    """Erase one of two contacts, of whom the other's notes tell."""
    domain = await house.add_domain()
    await house.add_contact(domain, email=email, name=name)
    other = await house.add_contact(domain, email="bob@a.bv", notes=written)

    await erase_person(house.engine, house.actor, any_subject(email))

    (notes,) = (await house.rows("SELECT notes FROM contacts WHERE id = :i", i=other))[
        0
    ]
    assert notes is None or "[removed]" in notes
    assert notes is None or not re.search("@|%40|at|LI BO|ZOË", notes), notes


async def test_a_renamed_contact_left_its_old_name_behind(house: House) -> None:
    domain = await house.add_domain(title="Ada Byron and Augusta King at A")
    ada = await house.add_contact(domain, email="ada@a.bv", name="Ada Lovelace")
    bob = await house.add_contact(domain, email="bob@a.bv")
    await house.run(
        "UPDATE contact_evidence SET snippet = 'Ada Byron, Ada Lovelace; Bob'"
        " WHERE contact_id = :bob",
        bob=bob,
    )
    await house.run(
        "INSERT INTO contact_evidence (tenant_id, contact_id, field, value, url,"
        " snippet, method, confidence, robots, seen_at) VALUES (:t, :c, 'name',"
        " 'Ada Byron', 'http://a.bv/', '', 'text', 1, 'allowed', now())",
        t=house.actor.tenant_id,
        c=ada,
    )
    await house.run(
        "INSERT INTO audit_log (tenant_id, actor, action, subject, record_id, details)"
        " VALUES (:t, 'x', 'edited', 'contacts', :c, CAST(:d AS jsonb))",
        t=house.actor.tenant_id,
        c=ada,
        d='{"before": {"name": "Augusta King"}, "after": {"name": "Ada Lovelace"}}',
    )

    await erase_person(house.engine, house.actor, ADA)

    assert await house.rows("SELECT title FROM domains") == [
        ("[removed] and [removed] at A",)
    ]
    assert await house.rows("SELECT snippet FROM contact_evidence") == [
        ("[removed], [removed]; Bob",)
    ]
    (details,) = await house.rows(
        "SELECT details::text FROM audit_log WHERE action = 'edited'"
    )
    assert not [name for name in ("Lovelace", "King") if name in details[0]]


async def test_a_namesake_at_another_site_keeps_their_name(house: House) -> None:
    here, elsewhere = await house.add_domain(), await house.add_domain("b.bv")
    await house.add_contact(here, email="ada@a.bv", name="Ada Lovelace")
    await house.add_contact(elsewhere, email="ada@b.bv", name="Ada Lovelace")

    erased = await erase_person(house.engine, house.actor, ADA)

    assert erased.cleaned == {}
    assert await house.rows("SELECT email, name FROM contacts") == [
        ("ada@b.bv", "Ada Lovelace")
    ]


def test_every_table_that_can_hold_a_text_is_searched() -> None:
    searched = {table.fullname for table in searched_tables()}
    texts = {
        table.fullname
        for metadata in METADATA
        for table in metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, JSONB | BYTEA)
        or (column.type.python_type is str and not isinstance(column.type, ENUM))
    }

    assert texts - searched == ACCOUNT_TABLES | PACKED_TABLES | {"curation.claim"}


@pytest_asyncio.fixture
async def line(database: TestDatabase) -> AsyncIterator[Line]:
    async with (
        Sandbox(children=1, warm=WARM) as sandbox,
        running_line(database, sandbox) as line,
    ):
        yield line


def team_page(number: int) -> str:
    return (
        f"<title>Team {number}</title>"
        f'<p>Person {number}: <a href="mailto:person{number}@a{number}.bv">'
        f"person{number}@a{number}.bv</a>, next to her "
        f"<a href='mailto:other{number}@a{number}.bv'>other{number}@a{number}.bv</a></p>"
        f"<p>Phone: <a href='tel:+4420794600{number:02}'>020 7946 00{number:02}</a></p>"
    )


@pytest.mark.slow
async def test_people_erased_in_mid_drain_are_gone_and_do_not_come_back(
    line: Line, database: TestDatabase, postgres_server: TestServer
) -> None:
    """Half are erased while their pages are worked on; then all is crawled again."""
    count = size(8, 40)
    for number in range(count):
        line.web.page(f"a{number}.bv/", team_page(number))
        line.web.page(f"a{number}.bv/team", team_page(number))
        await line.add_page(f"http://a{number}.bv/team")
    people = [any_subject(f"person{n}@a{n}.bv") for n in range(0, count, 2)]
    numbers = [any_subject(f"+4420794600{n:02}") for n in range(0, count, 4)]

    async def erase() -> None:
        for one in [*people, *numbers]:
            await erase_person(line.engine, line.actor, one)

    await asyncio.gather(
        line.work("page_curation"), line.work("domain_metadata"), erase()
    )
    await line.run("UPDATE pages SET page_processing_status = 'Queued', etag = NULL;")
    await line.run("UPDATE domains SET status = 'pending'")
    await asyncio.gather(line.work("page_curation"), line.work("domain_metadata"))
    again = await submit(
        line.engine, line.actor, "pages", [f"a2.bv/card?mail={people[1].value}"]
    )

    everything = dump(postgres_server, database).lower()
    assert again.refused == 1
    assert not [one.value for one in people if one.value in everything]
    assert not [one.value for one in numbers if one.value in everything]
    assert not [n for n in range(0, count, 4) if f"7946 00{n:02}" in everything]
    assert everything.count("@a1.bv") > 0
    left = await line.rows("SELECT count(*) FROM contacts WHERE email LIKE 'other%'")
    assert left == [(count,)]
