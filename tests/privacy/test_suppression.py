"""Whoever is on the list is not stored, not kept, and not named by the list itself."""

import asyncio
from uuid import uuid4

import pytest
from pydantic import SecretStr

from scrapersky.db.connection import connect, parse_target
from scrapersky.errors import ConfigurationError, Suppressed, UnknownSuppression
from scrapersky.privacy.key import load_suppression_keys
from scrapersky.privacy.subject import any_subject
from scrapersky.privacy.suppression import (
    SuppressionResult,
    lift,
    suppress,
    suppress_lines,
)
from scrapersky.privacy.suppression_filter import (
    look_up,
    refuse_suppressed,
    suppressions,
)
from tests.conftest import TestDatabase
from tests.privacy.conftest import House

SECRET = SecretStr("a key of thirty-two signs or more, surely")
OLD_SECRET = SecretStr("a key that has entries and no comma in it")
NEW_SECRET = SecretStr("the key that comes after it and is long enough")


async def put(house: House, *values: str) -> SuppressionResult:
    subjects = [any_subject(value) for value in values]
    return await suppress(house.engine, house.actor, subjects)


async def test_an_address_takes_its_contact_and_evidence_along(house: House) -> None:
    domain = await house.add_domain(emails=["ada@a.bv", "info@a.bv"])
    await house.add_contact(domain, email="ada@a.bv", name="Ada Lovelace")
    await house.add_contact(domain, email="info@a.bv")

    await put(house, "ADA@a.bv")

    assert await house.rows("SELECT email FROM contacts") == [("info@a.bv",)]
    assert await house.rows("SELECT value FROM contact_evidence") == [("info@a.bv",)]
    assert await house.rows("SELECT emails FROM domains") == [(["info@a.bv"],)]


async def test_a_number_is_taken_out_and_the_contact_stays(house: House) -> None:
    domain = await house.add_domain(phones=["+442079460018"])
    phones = {"+442079460018": {"kind": "phone"}, "+442079460019": {"kind": "fax"}}
    await house.add_contact(
        domain, email="info@a.bv", phone="+442079460018", phones=phones
    )
    await house.add_contact(domain, phone="+442079460018")

    await put(house, "+44 20 7946 0018")

    assert await house.rows("SELECT email, phone, phones FROM contacts") == [
        ("info@a.bv", None, {"+442079460019": {"kind": "fax"}})
    ]
    assert await house.rows("SELECT phones FROM domains") == [([],)]
    assert await house.rows("SELECT value FROM contact_evidence") == [("info@a.bv",)]


async def test_a_domain_takes_its_contacts_and_its_queue_along(house: House) -> None:
    domain = await house.add_domain("a.bv", emails=["x@gmail.com"])
    other = await house.add_domain("b.bv")
    await house.add_contact(domain, email="x@gmail.com")
    await house.add_contact(other, email="ada@mail.a.bv")
    await house.add_contact(other, email="bob@ba.bv")
    await house.run(
        "INSERT INTO pages (tenant_id, domain_id, url, page_processing_status)"
        " VALUES (:t, :d, 'http://a.bv/x', 'Queued')",
        t=house.actor.tenant_id,
        d=domain,
    )

    await put(house, "a.bv")

    assert await house.rows("SELECT email FROM contacts") == [("bob@ba.bv",)]
    assert await house.rows(
        "SELECT page_processing_status::text, page_curation_status::text FROM pages"
    ) == [(None, "Skipped")]


async def test_the_list_protects_in_one_tenant_only(house: House) -> None:
    other = uuid4()
    await put(house, "ada@a.bv")

    async with house.engine.begin() as connection:
        theirs = await suppressions(connection, other, "ada@a.bv")
        ours = await suppressions(connection, house.actor.tenant_id, "ada@a.bv")

    assert not theirs
    assert ours.hides_email("ada@a.bv")


async def test_values_are_struck_out_wherever_they_stand(house: House) -> None:
    await put(house, "ada@a.bv", "+442079460018", "gone.bv")
    said = {
        "title": "Write to ada [at] a.bv or bob@a.bv",
        "phone": "(020) 7946 0018",
        "list": ["ada@a.bv", "bob@a.bv", "x@mail.gone.bv"],
        "phones": {"+442079460018": {"kind": "phone"}, "+15550100": {}},
        "raw": [{"tel": "+44 20 7946-0018"}, 5, None],
    }

    async with house.engine.begin() as connection:
        guard = await suppressions(connection, house.actor.tenant_id, said)

    assert guard.clean(said) == {
        "title": "Write to [removed] or bob@a.bv",
        "phone": None,
        "list": ["bob@a.bv"],
        "phones": {"+15550100": {}},
        "raw": [{"tel": None}, 5, None],
    }


async def test_the_list_tells_nothing_about_who_is_on_it(house: House) -> None:
    await put(house, "ada@a.bv", "+442079460018")

    kept = await house.rows(
        "SELECT s::text || coalesce(a::text, '') FROM suppressions s"
        " LEFT JOIN audit_log a ON true"
    )

    assert len(kept) == 2
    assert not [row for row in kept if "a.bv" in row[0] or "2079460018" in row[0]]


async def test_adding_twice_is_once_and_lifting_lets_it_in_again(house: House) -> None:
    first = await suppress(house.engine, house.actor, [any_subject("ada@a.bv")])
    again = await suppress(house.engine, house.actor, [any_subject("Ada@A.bv")])

    await lift(house.engine, house.actor, first.ids[0])

    assert (len(first.ids), again.ids, again.known) == (1, [], 1)
    async with house.engine.connect() as connection:
        assert not await look_up(connection, house.actor.tenant_id, "ada@a.bv")
    with pytest.raises(UnknownSuppression):
        await lift(house.engine, house.actor, first.ids[0])


async def test_a_list_is_taken_line_by_line_and_bad_lines_are_told(
    house: House,
) -> None:
    lines = ["email", "ada@a.bv", "", '"+44 20 7946 0018"', "gone.bv", "ada@a.bv"]

    done = await suppress_lines(house.engine, house.actor, lines)

    assert (len(done.ids), done.known, done.refused) == (3, 1, 1)
    assert done.refusals == [(1, "This is not a domain.")]


async def test_a_person_cannot_write_what_is_on_the_list(house: House) -> None:
    await put(house, "ada@a.bv")

    async with house.engine.begin() as connection:
        await refuse_suppressed(connection, house.actor.tenant_id, {"email": "b@a.bv"})
        with pytest.raises(Suppressed, match="Do not contact"):
            await refuse_suppressed(
                connection, house.actor.tenant_id, {"email": "ada@a.bv"}
            )


async def test_who_asked_before_stores_before_and_who_asks_after_does_not(
    house: House,
) -> None:
    """The race that a check without a lock loses: look, be suppressed, store."""
    domain = await house.add_domain()
    async with house.engine.begin() as storing:
        guard = await suppressions(storing, house.actor.tenant_id, "ada@a.bv")
        suppressing = asyncio.create_task(put(house, "ada@a.bv"))
        await asyncio.sleep(0.3)
        is_waiting = not suppressing.done()
        await storing.exec_driver_sql(
            "INSERT INTO contacts (tenant_id, domain_id, email) VALUES "
            f"('{house.actor.tenant_id}', '{domain}', 'ada@a.bv')"
        )
    await suppressing

    assert not guard
    assert is_waiting
    assert await house.rows("SELECT email FROM contacts") == []


async def test_a_key_kept_elsewhere_must_be_given_to_every_process(
    house: House, database: TestDatabase
) -> None:
    await put(house, "old@a.bv")
    await load_suppression_keys(house.engine, secret=SECRET)
    await put(house, "ada@a.bv")
    other = connect(parse_target(database.url))

    with pytest.raises(ConfigurationError, match="another SUPPRESSION_KEY"):
        await load_suppression_keys(other)
    with pytest.raises(ConfigurationError, match="another SUPPRESSION_KEY"):
        await load_suppression_keys(
            other, secret=SecretStr("another one of the same length, or longer")
        )
    await load_suppression_keys(other, secret=SECRET)

    async with other.connect() as connection:
        guard = await look_up(
            connection, house.actor.tenant_id, "ada@a.bv", "old@a.bv", "new@a.bv"
        )
    await other.dispose()
    assert guard.hides_email("ada@a.bv")
    assert guard.hides_email("old@a.bv")
    assert not guard.hides_email("new@a.bv")


async def test_a_key_is_changed_and_everybody_stays_protected(
    house: House, database: TestDatabase
) -> None:
    await load_suppression_keys(house.engine, secret=OLD_SECRET)
    await put(house, "ada@a.bv", "bob@a.bv", "+44 20 7946 0018")
    other = connect(parse_target(database.url))
    # First every process can read what is under the new key, then one writes with it.
    await load_suppression_keys(other, secret=OLD_SECRET, others=NEW_SECRET)
    await load_suppression_keys(house.engine, secret=NEW_SECRET, others=OLD_SECRET)
    await put(house, "eve@a.bv")

    everybody = ("ada@a.bv", "bob@a.bv", "eve@a.bv", "+44 20 7946 0018")
    for engine in (house.engine, other):
        async with engine.connect() as connection:
            guard = await look_up(connection, house.actor.tenant_id, *everybody)
        assert all(map(guard.hides_email, everybody[:3]))
        assert guard.hides_phone("+44 20 7946 0018")
    await other.dispose()


async def test_a_key_is_dropped_when_no_entry_is_under_it_and_not_before(
    house: House, database: TestDatabase
) -> None:
    await load_suppression_keys(house.engine, secret=OLD_SECRET)
    await put(house, "ada@a.bv", "+44 20 7946 0018")
    await load_suppression_keys(house.engine, secret=NEW_SECRET, others=OLD_SECRET)
    other = connect(parse_target(database.url))

    with pytest.raises(ConfigurationError, match="2 entries"):
        await load_suppression_keys(other, secret=NEW_SECRET)
    again = await put(house, "ada@a.bv", "+44 20 7946 0018", "eve@a.bv")
    await load_suppression_keys(other, secret=NEW_SECRET)

    assert (len(again.ids), again.known) == (1, 2)
    assert await house.rows("SELECT count(*) FROM suppressions") == [(3,)]
    async with other.connect() as connection:
        guard = await look_up(
            connection, house.actor.tenant_id, "ada@a.bv", "call 020 7946 0018"
        )
    await other.dispose()
    assert guard.hides_email("ada@a.bv")
    assert "7946" not in guard.strike_out("call 020 7946 0018")


async def test_an_entry_of_an_older_version_keeps_its_key_from_being_dropped(
    house: House, database: TestDatabase
) -> None:
    await load_suppression_keys(house.engine, secret=OLD_SECRET)
    await put(house, "ada@a.bv")
    await house.run("UPDATE suppressions SET key_fingerprint = NULL")
    other = connect(parse_target(database.url))

    with pytest.raises(ConfigurationError, match="1 entries"):
        await load_suppression_keys(other, secret=NEW_SECRET)
    await load_suppression_keys(other, secret=NEW_SECRET, others=OLD_SECRET)
    await other.dispose()


async def test_without_the_key_nothing_is_looked_up_by_mistake(
    house: House, database: TestDatabase
) -> None:
    await load_suppression_keys(house.engine, secret=SECRET)
    await put(house, "ada@a.bv")
    unarmed = connect(parse_target(database.url))

    async with unarmed.connect() as connection:
        with pytest.raises(ConfigurationError):
            await look_up(connection, house.actor.tenant_id, "ada@a.bv")
    await unarmed.dispose()
