"""What a website says of what a map says: confirmed, contradicted, silent, unreachable."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from scrapersky.companies.agreement import (
    MapClaim,
    WebsiteFacts,
    WebsiteHours,
    WebsiteNumber,
    WebsiteOffice,
    WebsiteValue,
)
from scrapersky.companies.verdict import FieldVerdict, judge_claim
from scrapersky.curation.clause import where
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.privacy.subject import phone_subject
from scrapersky.privacy.suppression import suppress
from scrapersky.records import Company, Page
from scrapersky.records.company import COMPANIES
from scrapersky.records.status import MapVerdict
from tests.companies.conftest import Trade

PHONE, OTHER_PHONE = "+498923125100", "+498923125199"
WORKDAYS = {day: frozenset({("09:00", "17:00")}) for day in range(5)}
LATER = {day: frozenset({("11:00", "19:00")}) for day in range(5)}
CLAIM = MapClaim(
    source="osm",
    name="Tischlerei Kunze",
    phone=PHONE,
    street="Lindenweg 12",
    postal_code="80331",
    city="München",
    hours=WORKDAYS,
    website="https://kunze.example",
    business_status="operating",
)
CONTACT = "https://kunze.example/kontakt"


def number(e164: str, *, is_own: bool = True) -> WebsiteNumber:
    return WebsiteNumber(
        e164, is_own, WebsiteValue(e164, CONTACT, f"Tel. {e164}", 0.95)
    )


def office(street: str, code: str) -> WebsiteOffice:
    return WebsiteOffice(
        street, code, "München", WebsiteValue(street, CONTACT, street, 0.95)
    )


def week(days: Any) -> WebsiteHours:
    return WebsiteHours(days, WebsiteValue("Mo-Fr", CONTACT, "Mo-Fr", 0.95))


SITE = WebsiteFacts(
    kind="own_site",
    domain="kunze.example",
    home_url="https://kunze.example/",
    names=(WebsiteValue("Tischlerei Kunze GmbH", CONTACT),),
    numbers=(number(PHONE),),
    offices=(office("Lindenweg 12", "80331"),),
    weeks=(week(WORKDAYS),),
)
ANOTHERS: dict[str, Any] = {
    "domain": "salon-adler.example",
    "names": (WebsiteValue("Salon Adler", CONTACT),),
    "numbers": (number(OTHER_PHONE),),
    "offices": (office("Hafenstraße 3", "80999"),),
    "weeks": (week(LATER),),
}


def judged(site: WebsiteFacts, claim: MapClaim = CLAIM) -> dict[str, FieldVerdict]:
    return {each.field.value: each for each in judge_claim(claim, site)}


def verdicts(site: WebsiteFacts, claim: MapClaim = CLAIM) -> dict[str, str]:
    return {name: each.verdict.value for name, each in judged(site, claim).items()}


def test_a_website_that_says_the_same_confirms_every_field() -> None:
    assert verdicts(SITE) == dict.fromkeys(
        ("name", "phone", "address", "hours", "website", "business_status"), "confirmed"
    )


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("phone", {"numbers": (number(OTHER_PHONE),)}),
        ("address", {"offices": (office("Hafenstraße 3", "80999"),)}),
        ("hours", {"weeks": (week(LATER),)}),
        (
            "name",
            {
                "names": (WebsiteValue("Salon Adler", CONTACT),),
                "domain": "adler.example",
            },
        ),
        (
            "business_status",
            {"closed": WebsiteValue("closed permanently", CONTACT, "Closed")},
        ),
    ],
)
def test_what_differs_is_contradicted_with_its_page_and_nothing_else_is(
    field: str, said: dict[str, Any]
) -> None:
    found = judged(replace(SITE, **said))

    assert {name for name, each in found.items() if each.verdict == "contradicted"} == {
        field
    }
    assert found[field].url == CONTACT
    assert found[field].said is not None
    assert 0.8 < found[field].confidence < 1


def test_a_website_that_says_nothing_contradicts_nothing() -> None:
    silent = replace(
        SITE, names=(), numbers=(), offices=(), weeks=(), domain="x.example"
    )

    assert set(verdicts(silent).values()) == {"silent"}


def test_the_website_of_another_business_makes_no_other_field_wrong() -> None:
    site = replace(SITE, **ANOTHERS)
    found = verdicts(site)

    assert found.pop("website") == "contradicted"
    assert set(found.values()) == {"silent"}
    assert judged(site)["phone"].why == "the website is that of another business"


def test_a_website_that_nothing_shows_to_be_the_company_s_contradicts_nothing() -> None:
    site = replace(
        SITE, domain="x.example", names=(), offices=(), weeks=(),
        numbers=(number(OTHER_PHONE),),
    )  # fmt: skip

    assert set(verdicts(site).values()) == {"silent"}


@pytest.mark.parametrize("kind", ["unreachable", "login_wall", "challenge_wall"])
def test_a_website_that_could_not_be_read_is_unreachable_in_every_field(
    kind: str,
) -> None:
    assert set(verdicts(replace(SITE, kind=kind)).values()) == {"unreachable"}


def test_a_parked_domain_contradicts_the_website_alone() -> None:
    found = verdicts(replace(SITE, kind="parked", kind_snippet="this domain is parked"))

    assert found.pop("website") == "contradicted"
    assert set(found.values()) == {"silent"}


def test_a_website_of_several_places_does_not_contradict_one_of_them() -> None:
    chain = replace(
        SITE, numbers=(number(OTHER_PHONE),), weeks=(week(LATER),), is_of_several=True
    )

    found = verdicts(chain)
    assert (found["phone"], found["hours"]) == ("silent", "silent")


def test_a_number_that_stands_there_as_somebody_else_s_is_not_contradicted() -> None:
    site = replace(SITE, numbers=(number(OTHER_PHONE), number(PHONE, is_own=False)))

    assert verdicts(site)["phone"] == "silent"


def test_a_website_that_is_still_there_does_not_open_a_closed_business() -> None:
    closed = replace(CLAIM, business_status="closed_permanently")

    assert verdicts(SITE, closed)["business_status"] == "silent"
    notice = replace(SITE, closed=WebsiteValue("closed permanently", CONTACT))
    assert verdicts(notice, closed)["business_status"] == "confirmed"


def test_one_day_that_differs_is_no_other_week() -> None:
    saturday = {**WORKDAYS, 0: frozenset({("10:00", "17:00")})}

    assert verdicts(replace(SITE, weeks=(week(saturday),)))["hours"] == "silent"


async def a_company(trade: Trade, **said: Any) -> UUID:
    """Store a place whose number another one stands beside on its website."""
    place = await trade.place(
        "a", "Tischlerei Kunze", website="https://kunze.example", phone=PHONE,
        address="Lindenweg 12, 80331 München", business_status="operating",
    )  # fmt: skip
    await trade.business(
        place, "Tischlerei Kunze", street="Lindenweg 12", postal_code="80331",
        city="München", phone=PHONE, website="https://kunze.example",
    )  # fmt: skip
    office = {"street": "Lindenweg 12", "postal_code": "80331", "text": "Lindenweg 12"}
    domain = await trade.domain(
        "kunze.example",
        organisation={"name": "Tischlerei Kunze", "addresses": [office]},
    )
    facts = {"whose": "own", "kind": "phone"}
    await trade.contact(
        domain, email="info@kunze.example", phones={OTHER_PHONE: facts}, **said
    )
    return domain


async def stored(trade: Trade) -> dict[str, str]:
    rows = await trade.rows(
        "SELECT field::text, verdict::text FROM company_verdicts WHERE tenant_id = :tenant"
    )
    return {row[0]: row[1] for row in rows}


async def test_verdicts_are_written_where_companies_are_summed_up(trade: Trade) -> None:
    await a_company(trade)
    await trade.match()

    assert await stored(trade) == {
        "name": "confirmed",
        "phone": "contradicted",
        "address": "confirmed",
        "website": "confirmed",
        "business_status": "silent",
    }


async def test_a_verdict_follows_the_website_and_goes_with_the_claim(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    await trade.match()
    await trade.rows(
        "UPDATE contacts SET phones = jsonb_build_object(CAST(:phone AS text),"
        " jsonb_build_object('whose', 'own', 'kind', 'phone')) WHERE domain_id = :id",
        phone=PHONE,
        id=domain,
    )
    await trade.match()
    now = await stored(trade)
    await trade.rows("UPDATE places_staging SET business_status = NULL")
    await trade.match()

    assert now["phone"] == "confirmed"
    assert "business_status" not in await stored(trade)


async def test_a_number_that_the_website_had_once_confirmed_the_map_for_ever(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    facts = {"whose": "own", "kind": "phone"}
    await trade.contact(domain, phone=PHONE, phones={PHONE: facts})
    await trade.match()
    before = await stored(trade)
    await trade.rows(
        "UPDATE contacts SET gone_at = now() WHERE phone = :phone", phone=PHONE
    )
    await trade.match()

    assert before["phone"] == "confirmed"
    assert (await stored(trade))["phone"] == "contradicted"


async def test_a_notice_on_a_page_that_is_gone_closed_the_business(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    await trade.add(
        Page,
        domain_id=domain,
        url="https://kunze.example/",
        gone_at=datetime.now(UTC),
        organisation={"closed": "Wir haben endgültig geschlossen."},
    )
    await trade.match()

    assert (await stored(trade))["business_status"] == "silent"


async def test_a_notice_on_a_page_contradicts_a_map_that_says_open(
    trade: Trade,
) -> None:
    domain = await a_company(trade)
    await trade.add(
        Page,
        domain_id=domain,
        url="https://kunze.example/",
        organisation={"closed": "Wir haben endgültig geschlossen."},
    )
    await trade.match()

    assert (await stored(trade))["business_status"] == "contradicted"


async def test_a_number_that_must_be_forgotten_leaves_no_verdict(trade: Trade) -> None:
    await a_company(trade)
    await trade.match()

    async with trade.engine.begin() as connection:
        them = [phone_subject(OTHER_PHONE)]
        await suppress(connection, trade.actor, them, "asked")
    await trade.match()

    rows = await trade.rows(
        "SELECT * FROM company_verdicts v WHERE tenant_id = :tenant"
        " AND to_jsonb(v)::text LIKE :sign",
        sign=f"%{OTHER_PHONE[4:]}%",
    )
    assert rows == []


async def test_lists_find_companies_by_the_verdict_on_a_field(trade: Trade) -> None:
    await a_company(trade)
    await trade.match()
    found = {}
    async with trade.engine.connect() as connection:
        for field in ("phone_verdict", "name_verdict", "map_verdict"):
            asked = Condition(
                field=field,
                comparison=Comparison.EQUAL,
                value=MapVerdict.CONTRADICTED.value,
            )
            query = select(Company.id).where(
                Company.tenant_id == trade.actor.tenant_id, where(COMPANIES, [asked])
            )
            found[field] = len((await connection.scalars(query)).all())

    assert found == {"phone_verdict": 1, "name_verdict": 0, "map_verdict": 1}
