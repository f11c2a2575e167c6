"""People of a business: shown beside its records, listed, exported and forgotten."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from scrapersky.records import LocalBusiness, Person
from tests.api.records.rig import Desk

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def add_person(
    desk: Desk, domain: UUID, name: str, standing: float, **values: Any
) -> UUID:
    reported = {
        "name_key": name.lower(),
        "confidence": 0.9,
        "standing_reason": "owner: Owner",
        "evidence": [
            {
                "url": "http://a.bv/team", "snippet": f"{name}, Owner", "method": "role",
                "robots": "allowed", "seen_at": "2026-01-02T03:04:05Z",
            }
        ],
    }  # fmt: skip
    return await desk.add(
        Person, domain_id=domain, name=name, standing=standing, **{**reported, **values}
    )


async def test_every_record_of_a_business_shows_its_people(desk: Desk) -> None:
    domain = await desk.add_domain("a.bv")
    business = await desk.add(LocalBusiness, domain_id=domain, name="A")
    contact = await desk.add_contact("info@a.bv", domain=domain)
    await add_person(desk, domain, "Peter Lindgren", 0.2, role="Receptionist")
    await add_person(desk, domain, "Martha Okelo", 0.9, role="Owner", seniority="owner")

    for path in (
        f"/domains/{domain}",
        f"/local-businesses/{business}",
        f"/contacts/{contact}",
    ):
        found = await desk.get(path)
        assert [(p["name"], p["is_decision_maker"]) for p in found["people"]] == [
            ("Martha Okelo", True),
            ("Peter Lindgren", False),
        ]
        assert found["people"][0]["reason"] == "owner: Owner"
        assert found["record"]["decision_maker"] == "Martha Okelo"


async def test_who_decides_is_reached_by_their_own_else_a_suggestion_else_the_inbox(
    desk: Desk,
) -> None:
    domain = await desk.add_domain("a.bv")
    who = await add_person(desk, domain, "Martha Okelo", 0.9, role="Owner")
    await desk.add_contact("info@a.bv", domain=domain, email_type="SERVICE")
    for first, last in (("peter", "lindgren"), ("ann", "lee"), ("ole", "berg")):
        await desk.add_contact(
            f"{first}.{last}@a.bv",
            domain=domain,
            name=f"{first} {last}".title(),
            email_type="CORPORATE",
        )

    async def reach() -> dict[str, str]:
        found = await desk.get(f"/domains/{domain}")
        return dict(found["people"][0]["reach"])

    off = await reach()
    assert (off["kind"], off["value"]) == ("shared_inbox", "info@a.bv")
    settings = desk.app.state.settings
    desk.app.state.settings = settings.model_copy(
        update={"people_suggest_addresses": True}
    )
    try:
        suggested = await reach()
    finally:
        desk.app.state.settings = settings
    assert (suggested["kind"], suggested["value"]) == (
        "suggestion",
        "martha.okelo@a.bv",
    )
    assert suggested["reason"].startswith("found nowhere: 3 of 3")
    # It is stored nowhere, so that no list and no export has it.
    assert (await desk.get("/contacts?q=martha.okelo"))["items"] == []
    async with desk.engine.begin() as connection:
        await connection.execute(
            update(Person).where(Person.id == who).values(email="mo@a.bv")
        )
    assert (await reach())["kind"] == "own_email"


async def test_people_are_listed_and_filtered_as_other_records_are(desk: Desk) -> None:
    domain = await desk.add_domain("a.bv")
    await add_person(desk, domain, "Martha Okelo", 0.9, seniority="owner")
    await add_person(desk, domain, "Peter Lindgren", 0.2, seniority="staff")

    found = await desk.get("/people?filter=seniority:equal:owner")
    words = await desk.get("/people?q=lindgren")

    assert [one["name"] for one in found["items"]] == ["Martha Okelo"]
    assert found["items"][0]["domain"] == "a.bv"
    assert found["items"][0]["is_decision_maker"] is True
    assert [one["name"] for one in words["items"]] == ["Peter Lindgren"]


async def test_a_person_is_read_with_the_pages_that_name_them(desk: Desk) -> None:
    domain = await desk.add_domain("a.bv")
    person = await add_person(desk, domain, "Martha Okelo", 0.9)

    found = await desk.get(f"/people/{person}")

    (seen,) = found["evidence"]
    assert (seen["url"], seen["snippet"]) == ("http://a.bv/team", "Martha Okelo, Owner")
    assert [link["label"] for link in found["related"]["domains"]] == ["a.bv"]


async def test_contacts_are_exported_with_the_decision_maker(desk: Desk) -> None:
    domain = await desk.add_domain("a.bv")
    await desk.add_contact("info@a.bv", domain=domain)
    await add_person(desk, domain, "Martha Okelo", 0.9, role="Owner")

    columns = "email,decision_maker,decision_maker_role"
    answer = await desk.client.get(f"/api/v3/contacts/export?columns={columns}")
    people = await desk.client.get("/api/v3/people/export?columns=name,domain")

    assert answer.text.splitlines()[1] == "info@a.bv,Martha Okelo,Owner"
    assert people.text.splitlines()[1] == "Martha Okelo,a.bv"


async def test_a_forgotten_person_is_gone_and_only_a_hash_is_kept(desk: Desk) -> None:
    domain = await desk.add_domain("a.bv")
    await desk.add_contact("martha@a.bv", domain=domain, name="Martha Okelo")
    await desk.add_contact("info@a.bv", domain=domain)
    person = await add_person(desk, domain, "Martha Okelo", 0.9)

    answer = await desk.client.delete(f"/api/v3/people/{person}")

    assert answer.status_code == 204
    assert await desk.run("SELECT name FROM people") == []
    assert await desk.run("SELECT email FROM contacts") == [("info@a.bv",)]
    assert await desk.run("SELECT kind, length(value_hash) FROM suppressions") == [
        ("person", 32)
    ]


async def test_people_of_another_tenant_are_not_seen(desk: Desk) -> None:
    domain = await desk.add_domain("b.bv", tenant=desk.other)
    await add_person(desk, domain, "Martha Okelo", 0.9, tenant=desk.other)

    assert (await desk.get("/people"))["items"] == []
