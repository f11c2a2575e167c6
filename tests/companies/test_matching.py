"""Which records become one company: by evidence, and never by one shared thing."""

from importlib import import_module

from tests.companies.conftest import Trade

PHONE = "+498912345678"


def groups(*keys: str) -> set[frozenset[str]]:
    """Write groups of places: "ab" is one company of the places a and b."""
    return {frozenset(each) for each in keys}


async def test_one_company_told_by_two_sources_is_one_row(trade: Trade) -> None:
    await trade.place("a", "Bäckerei Huber GmbH", phone=PHONE)
    await trade.place(
        "b", "Baeckerei Huber", phone=PHONE, source="other", latitude=48.1375
    )

    await trade.match()

    assert await trade.groups() == groups("ab")
    (company,) = await trade.companies()
    assert company.phone == PHONE
    assert company.records_count == 2
    reasons = [row.reasons for row in await trade.rows("SELECT * FROM company_members "
        "WHERE tenant_id = :tenant AND score IS NOT NULL")]  # fmt: skip
    assert reasons == [["same name", "same phone number", "same address"]]


async def test_two_companies_with_one_phone_stay_two(trade: Trade) -> None:
    await trade.place("a", "Praxis Dr. Meier", phone=PHONE)
    await trade.place("b", "Kanzlei Albrecht", phone=PHONE)

    await trade.match()

    assert await trade.groups() == groups("a", "b")


async def test_a_switchboard_does_not_glue_strangers_together(trade: Trade) -> None:
    names = ("Nord Logistik", "Adler Reisen", "Kern Elektro", "Nordlicht Optik")
    for key, name in zip("abcd", names, strict=True):
        await trade.place(key, name, phone=PHONE, latitude=None, longitude=None)

    await trade.match()

    assert await trade.groups() == groups("a", "b", "c", "d")


async def test_one_domain_with_forty_branches_is_forty_rows_of_one_brand(
    trade: Trade,
) -> None:
    site = "https://www.filiale.example/"
    domain = await trade.domain("filiale.example")
    for number in range(40):
        await trade.place(
            f"{number}", "Filiale Markt", website=site, latitude=40 + number / 10
        )
    await trade.place(
        "7 again", "Filiale Markt", website=site, latitude=40.7, source="other"
    )

    await trade.match()

    found = await trade.groups()
    assert len(found) == 40
    assert frozenset({"7", "7 again"}) in found
    assert {row.domain_id for row in await trade.companies()} == {domain}
    assert await trade.questions() == []


async def test_near_twins_in_one_house_are_asked_about_and_not_linked(
    trade: Trade,
) -> None:
    await trade.place("a", "Praxis Dr. Brandner", phone="+498911111111")
    await trade.place("b", "Praxis Dr. Brendner", phone="+498922222222")

    await trade.match()

    assert await trade.groups() == groups("a", "b")
    (question,) = await trade.questions()
    assert "names differ only in spelling" in question.reasons
    assert "different phone numbers" in question.reasons


async def test_a_directory_as_website_does_not_make_two_companies_one(
    trade: Trade,
) -> None:
    for key, name in (("a", "Salon Rosa"), ("b", "Salon Lilo")):
        await trade.place(
            key, name, website=f"https://www.yelp.com/biz/{name}", latitude=None
        )

    await trade.match()

    assert await trade.groups() == groups("a", "b")


async def test_a_company_that_renames_moves_closes_and_reopens_stays_itself(
    trade: Trade,
) -> None:
    place = await trade.place("a", "Café Alt", phone=PHONE)
    await trade.match()
    before = await trade.company_of("a")
    changes = (
        "name = 'Bistro Neu'",
        "latitude = 52.5, longitude = 13.4, phone = '+493012345678'",
        "business_status = 'closed_permanently'",
        "business_status = 'operating'",
    )
    for change in changes:
        await trade.rows(
            f"UPDATE places_staging SET {change} WHERE id = :id",
            id=place,
        )
        await trade.match()

    (company,) = await trade.companies()
    assert company.id == before
    assert company.name == "Bistro Neu"
    assert company.phone == "+493012345678"
    assert company.business_status == "operating"


async def test_a_place_that_its_source_says_moved_is_the_company_at_the_new_place(
    trade: Trade,
) -> None:
    await trade.place("a", "Ofen Kunze", moved_to="b", business_status="moved")
    await trade.place("b", "Ofen Kunze", latitude=52.5, longitude=13.4)

    await trade.match()

    assert await trade.groups() == groups("ab")


async def test_a_domain_that_was_submitted_joins_the_business_that_names_it(
    trade: Trade,
) -> None:
    await trade.domain("kunze.example", organisation={"name": "Ofenbau"})
    await trade.match()
    (alone,) = await trade.companies()

    await trade.place("a", "Kunze", website="http://www.kunze.example")
    await trade.match()

    (company,) = await trade.companies()
    assert company.id == alone.id
    assert company.name == "Kunze"


async def test_what_matched_once_is_not_matched_again_unless_it_changes(
    trade: Trade,
) -> None:
    place = await trade.place("a", "Huber")

    assert await trade.match() == 1
    assert await trade.match() == 0
    await trade.rows(
        "UPDATE places_staging SET status = 'Selected' WHERE id = :id", id=place
    )
    assert await trade.match() == 0
    await trade.rows("UPDATE places_staging SET name = 'H' WHERE id = :id", id=place)
    assert await trade.match() == 1


async def test_a_company_goes_with_its_last_place(trade: Trade) -> None:
    place = await trade.place("a", "Huber")
    await trade.match()

    await trade.rows("DELETE FROM places_staging WHERE id = :id", id=place)
    await trade.match()

    assert await trade.companies() == []


async def test_domains_of_a_pasted_list_stayed_companies_named_after_their_urls(
    trade: Trade,
) -> None:
    pasted = [
        await trade.domain(f"pasted{n}.example", verdict="own_site") for n in range(3)
    ]
    await trade.match()
    await trade.rows(
        "UPDATE domains SET verdict = NULL"
        " WHERE tenant_id = :tenant AND domain <> 'pasted2.example'"
    )
    await trade.rows(
        "UPDATE companies SET worked_at = now() WHERE domain_id = :id", id=pasted[1]
    )

    release = import_module("scrapersky.db.migrations.versions.0067_unvisited_domains")
    await trade.rows(
        f"UPDATE company_members SET domain_id = NULL WHERE {release.UNVISITED}"
    )
    await trade.match()

    left = await trade.companies()
    assert {company.domain_id for company in left} == {*pasted[1:]}
