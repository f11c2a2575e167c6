"""The row of the lead list: the best of everything that is known, and why."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from scrapersky.records import Person
from scrapersky.records.contact import Evidence
from tests.companies.conftest import Trade

SITE = "https://www.kunze.example/"
OWNER = "Marta Kunze"


async def a_company(trade: Trade) -> UUID:
    """Store a place with a website; return its domain."""
    domain = await trade.domain("kunze.example")
    await trade.place("a", "Kunze", website=SITE)
    return domain


async def an_owner(trade: Trade, domain: UUID) -> UUID:
    return await trade.add(
        Person,
        domain_id=domain,
        name=OWNER,
        name_key=OWNER.lower(),
        role="Owner",
        confidence=0.9,
        standing=0.9,
        standing_reason="owner: Owner",
    )


async def test_the_decision_makers_own_address_is_best_and_says_why(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    owner = await an_owner(trade, domain)
    await trade.contact(domain, email="info@kunze.example", email_type="SERVICE")
    best = await trade.contact(
        domain,
        email="marta@kunze.example",
        email_type="CORPORATE",
        name=OWNER,
        confidence=0.8,
        validation={"verdict": "deliverable"},
    )

    await trade.match()

    (company,) = await trade.companies()
    assert company.email_contact_id == best
    assert company.email_kind == "person"
    assert company.email_reason == (
        "the decision maker's own address, checked: deliverable, the best of 2"
    )
    assert company.decision_maker_id == owner
    assert company.confidence == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(
    ("method", "kind"),
    [("only_person", "free mail"), ("legal_notice", "free mail"), ("role", "person")],
)
async def test_the_inbox_of_a_one_person_business_was_that_person_s_own(
    trade: Trade, method: str, kind: str
) -> None:
    domain = await a_company(trade)
    await an_owner(trade, domain)
    contact = await trade.contact(
        domain, email="teeth.and.more@gmx.example", email_type="FREE", name=OWNER
    )
    await trade.add(
        Evidence,
        contact_id=contact,
        field="name",
        value=OWNER,
        url=SITE,
        snippet=OWNER,
        method=method,
        confidence=0.8,
        robots="allowed",
        seen_at=datetime.now(UTC),
    )

    await trade.match()

    (company,) = await trade.companies()
    assert company.email_contact_id == contact
    assert company.email_kind == kind


async def test_an_undeliverable_or_skipped_address_is_never_best(trade: Trade) -> None:
    domain = await a_company(trade)
    await trade.contact(
        domain, email="a@kunze.example", validation={"verdict": "undeliverable"}
    )
    await trade.contact(
        domain, email="b@kunze.example", contact_curation_status="Skipped"
    )

    await trade.match()

    (company,) = await trade.companies()
    assert company.email_contact_id is None
    assert company.email_kind is None


async def test_an_address_that_visitors_may_not_see_is_best_only_alone(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    planted = await trade.contact(
        domain, email="eve@evil.example", email_type="CORPORATE", confidence=0.582
    )
    await trade.match()
    (alone,) = await trade.companies()
    shown = await trade.contact(
        domain, email="kunze@mail.example", email_type="FREE", confidence=0.97
    )
    await trade.match()

    (company,) = await trade.companies()
    assert alone.email_contact_id == planted
    assert company.email_contact_id == shown


async def test_whoever_is_erased_leaves_the_lead_list_and_the_next_best_follows(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    owner = await an_owner(trade, domain)
    first = await trade.contact(domain, email="marta@kunze.example", name=OWNER)
    second = await trade.contact(
        domain, email="info@kunze.example", email_type="SERVICE"
    )
    await trade.match()

    await trade.rows("DELETE FROM contacts WHERE id = :id", id=first)
    await trade.rows("DELETE FROM people WHERE id = :id", id=owner)
    await trade.match()

    (company,) = await trade.companies()
    assert company.email_contact_id == second
    assert company.email_kind == "shared inbox"
    assert company.decision_maker_id is None
    assert company.decision_maker_reason is None


async def test_facts_that_a_source_takes_back_leave_the_lead_list(trade: Trade) -> None:
    await trade.place("a", "Kunze", phone="+498912345678", address="Weg 1, 80331 M")
    await trade.match()

    await trade.rows(
        """UPDATE places_staging SET name = NULL, phone = NULL, address = NULL,
          latitude = NULL, longitude = NULL WHERE tenant_id = :tenant"""
    )
    await trade.match()

    (company,) = await trade.companies()
    assert (company.name, company.phone, company.street) == (None, None, None)


async def test_a_role_mailbox_with_a_name_was_a_person_s_own_address(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    await an_owner(trade, domain)
    await trade.contact(
        domain,
        email="segreteria@kunze.example",
        email_type="SERVICE",
        name=OWNER,
        phone="+498912345678",
    )
    own = await trade.contact(
        domain, email="m.kunze@kunze.example", email_type="CORPORATE", name=OWNER
    )
    await trade.rows("UPDATE places_staging SET phone = '+498912345678'")
    await trade.match()
    (company,) = await trade.companies()
    await trade.rows("DELETE FROM contacts WHERE id = :id", id=own)
    await trade.match()
    (without,) = await trade.companies()

    assert (company.email_contact_id, company.email_kind) == (own, "person")
    assert without.email_kind == "shared inbox"
    assert without.email_reason == "a shared inbox, not checked"


async def test_an_address_beside_two_people_was_one_s_own(trade: Trade) -> None:
    domain = await a_company(trade)
    for name in (OWNER, "Jan Roth"):
        await trade.add(
            Person,
            domain_id=domain,
            name=name,
            name_key=name.lower(),
            email="ofen@kunze.example",
            confidence=0.9,
            standing=0.9,
            standing_reason="named without a role",
        )
    await trade.contact(
        domain, email="ofen@kunze.example", email_type="CORPORATE", name=OWNER
    )

    await trade.match()

    (company,) = await trade.companies()
    assert company.email_kind == "company"
    assert company.email_reason == "an address of the company, not checked"


@pytest.mark.parametrize(
    ("local", "kind"),
    [("kunze", "company"), ("marta", "person"), ("m.kunze", "person")],
)
async def test_an_address_called_as_the_company_was_the_owner_s_own(
    trade: Trade, local: str, kind: str
) -> None:
    domain = await a_company(trade)
    await trade.contact(
        domain, email=f"{local}@kunze.example", email_type="CORPORATE", name=OWNER
    )

    await trade.match()

    (company,) = await trade.companies()
    assert company.email_kind == kind


async def test_a_shared_inbox_beside_the_number_hid_a_person_s_own_address(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    await trade.rows("UPDATE places_staging SET phone = '+498912345678'")
    await trade.contact(
        domain, email="info@kunze.example", email_type="SERVICE", phone="+498912345678"
    )
    own = await trade.contact(
        domain, email="jan.roth@kunze.example", email_type="CORPORATE", name="Jan Roth"
    )

    await trade.match()

    (company,) = await trade.companies()
    assert (company.email_contact_id, company.email_kind) == (own, "person")


async def test_whoever_works_in_another_town_is_not_reached_before_the_branch(
    trade: Trade,
) -> None:
    domain = await trade.domain("kunze.example")
    place = await trade.place("a", "Kunze", website=SITE)
    await trade.business(place, "Kunze", website=SITE, city="Wien")
    await trade.contact(
        domain,
        email="jan.roth@kunze.example",
        email_type="CORPORATE",
        name="Jan Roth",
        address={"city": "Graz"},
    )
    here = await trade.contact(
        domain,
        email="wien@kunze.example",
        email_type="SERVICE",
        address={"city": "wien"},
    )

    await trade.match()

    (company,) = await trade.companies()
    assert company.email_contact_id == here
