"""WF3: the registrable domain of a website, or the reason why there is none."""

from uuid import UUID

import pytest

from scrapersky.records import LocalBusiness
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "domain_extraction"


async def add_business(line: Line, website: str | None) -> UUID:
    return await line.add(
        LocalBusiness, website=website, domain_extraction_status="Queued"
    )


@pytest.mark.parametrize(
    ("website", "domain", "home"),
    [
        ("https://www.a.bv/contact?x=1", "a.bv", "https://www.a.bv/"),
        ("shop.a.co.uk", "a.co.uk", "https://shop.a.co.uk/"),
        ("HTTP://User:pw@A.BV:8080/x", "a.bv", "http://a.bv:8080/"),
        (" //a.bv ", "a.bv", "https://a.bv/"),
        ("https://müller.de", "xn--mller-kva.de", "https://xn--mller-kva.de/"),
        ("http://a.bv./,", "a.bv", "http://a.bv/"),
        ("https://somebody.blogspot.com/about", "somebody.blogspot.com", None),
    ],
)
async def test_a_website_becomes_its_registrable_domain(
    line: Line, website: str, domain: str, home: str | None
) -> None:
    business = await add_business(line, website)

    await line.work(STAGE)

    row = await line.row(LocalBusiness, business)
    rows = await line.rows(
        "SELECT id, domain, status::text, sitemap_analysis_status::text, home_url"
        " FROM domains"
    )
    assert rows == [(row.domain_id, domain, "pending", "pending", home or rows[0][4])]
    assert row.domain_extraction_status == "Completed"


@pytest.mark.parametrize(
    ("website", "why"),
    [
        (None, "the business has no website"),
        ("  ", "the business has no website"),
        ("https://www.facebook.com/a.dentist", "its website is a social profile"),
        ("https://linktr.ee/somebody", "its website is a page of links"),
        ("https://www.yelp.com/biz/somebody", "its website is a page in a directory"),
    ],
)
async def test_no_domain_of_its_own_is_completed_with_the_reason(
    line: Line, website: str | None, why: str
) -> None:
    business = await add_business(line, website)

    await line.work(STAGE)

    story = await line.story(STAGE, business)
    assert story.status == "Completed"
    assert (story.attempts[-1].why or "").startswith(why)
    assert await line.rows("SELECT domain FROM domains") == []


async def test_a_profile_is_kept_as_a_link_once(line: Line) -> None:
    url = "https://www.facebook.com/a.dentist"
    business = await add_business(line, url)
    await line.work(STAGE)

    await line.run("UPDATE local_businesses SET domain_extraction_status = 'Queued'")
    await line.work(STAGE)

    assert (await line.row(LocalBusiness, business)).links == [url]


@pytest.mark.parametrize("website", ["http://", "not a website at all", "javascript:x"])
async def test_nonsense_is_given_up_with_a_reason(line: Line, website: str) -> None:
    business = await add_business(line, website)

    await line.work(STAGE)

    row = await line.row(LocalBusiness, business)
    assert row.domain_extraction_status == "Error"
    assert row.domain_extraction_error
    assert (await line.story(STAGE, business)).dead == "gave_up"


async def test_businesses_share_a_domain_and_its_decision_stands(line: Line) -> None:
    domain = await line.add_domain(
        "a.bv", status="completed", sitemap_curation_status="Not a Fit"
    )
    await add_business(line, "https://a.bv/north")
    await add_business(line, "https://a.bv/south")

    await line.work(STAGE)

    linked = await line.rows("SELECT DISTINCT domain_id FROM local_businesses")
    kept = await line.rows(
        "SELECT status::text, sitemap_curation_status::text FROM domains"
    )
    assert linked == [(domain,)]
    assert kept == [("completed", "Not a Fit")]
