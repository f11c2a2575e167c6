"""WF4: every sitemap of a site, found, told from what is none, and stored before said."""

from uuid import UUID

import pytest

from scrapersky.crawler import Sandbox
from scrapersky.pipeline.tools import SiteLimits
from scrapersky.records import Domain
from scrapersky.settings import SYSTEM_USER_ID
from simulated_town.sites.reply import XML, Reply
from tests.stages.rig import Line, running_line
from tests.stages.shared_database import SharedDatabase

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "sitemap_submission"
FILES = (
    "SELECT url, sitemap_type, found_by, deep_scrape_curation_status::text,"
    " sitemap_import_status::text FROM sitemap_files ORDER BY created_at, url"
)
SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


async def queue_domain(line: Line, **values: object) -> UUID:
    return await line.add_domain(
        "a.bv", status="completed", sitemap_analysis_status="queued", **values
    )


def index(*urls: str) -> Reply:
    named = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return Reply(f'<sitemapindex xmlns="{SPACE}">{named}</sitemapindex>'.encode(), XML)


async def test_all_sitemap_lines_of_robots_are_stored_new(line: Line) -> None:
    line.web.text(
        "a.bv/robots.txt",
        "Sitemap: http://a.bv/one.xml\nSitemap: http://a.bv/two.xml\n",
    )
    line.web.sitemap("a.bv/one.xml", "http://a.bv/1")
    line.web.sitemap("a.bv/two.xml", "http://a.bv/2")
    domain = await queue_domain(line)

    await line.work(STAGE)

    assert (await line.row(Domain, domain)).sitemap_analysis_status == "submitted"
    assert await line.rows(FILES) == [
        ("http://a.bv/one.xml", "standard", "robots_txt", "New", None),
        ("http://a.bv/two.xml", "standard", "robots_txt", "New", None),
    ]
    made = await line.rows("SELECT DISTINCT created_by, tenant_id FROM sitemap_files")
    assert made == [(SYSTEM_USER_ID, line.actor.tenant_id)]


async def test_an_index_is_followed_and_a_loop_ends(line: Line) -> None:
    line.web.text("a.bv/robots.txt", "Sitemap: http://a.bv/index.xml\n")
    line.web.says["a.bv/index.xml"] = index(
        "http://a.bv/pages.xml", "http://a.bv/index.xml"
    )
    line.web.sitemap("a.bv/pages.xml", "http://a.bv/1", "http://a.bv/2")
    await queue_domain(line)

    await line.work(STAGE)

    found = {row[0]: row[1] for row in await line.rows(FILES)}
    assert found == {
        "http://a.bv/index.xml": "index",
        "http://a.bv/pages.xml": "standard",
    }
    counts = dict(await line.rows("SELECT url, url_count::int FROM sitemap_files"))
    assert counts["http://a.bv/pages.xml"] == 2


async def test_a_page_where_a_sitemap_should_be_is_no_sitemap(line: Line) -> None:
    for path in ("sitemap.xml", "sitemap_index.xml", "wp-sitemap.xml"):
        line.web.page(f"a.bv/{path}", "<html><title>Welcome</title><p>Hello</p></html>")
    line.web.page("a.bv/", '<a href="/contact">Contact</a>')
    domain = await queue_domain(line)

    await line.work(STAGE)

    story = await line.story(STAGE, domain)
    assert [row[:3] for row in await line.rows(FILES)] == [
        ("http://a.bv/", "links", "home_page")
    ]
    assert story.attempts[-1].why == "no sitemap: the home page's links are taken"


async def test_files_of_other_sites_are_not_this_sites(line: Line) -> None:
    line.web.text("a.bv/robots.txt", "Sitemap: http://b.bv/sitemap.xml\n")
    line.web.sitemap("b.bv/sitemap.xml", "http://b.bv/1")
    await queue_domain(line)

    await line.work(STAGE)

    assert [row[1] for row in await line.rows(FILES)] == ["links"]
    assert not [place for place in line.web.asked if place.startswith("b.bv")]


async def test_the_number_of_sitemaps_is_limited(
    shared_database: SharedDatabase, sandbox: Sandbox
) -> None:
    limits = SiteLimits(sitemaps=5)
    async with running_line(
        shared_database.database, sandbox, engine=shared_database.engine, limits=limits
    ) as line:
        line.web.text("a.bv/robots.txt", "Sitemap: http://a.bv/index.xml\n")
        files = [f"http://a.bv/{n}.xml" for n in range(40)]
        line.web.says["a.bv/index.xml"] = index(*files)
        for file in files:
            line.web.sitemap(file.removeprefix("http://"), "http://a.bv/1")
        await queue_domain(line)

        await line.work(STAGE)

        assert len(await line.rows(FILES)) == 5


async def test_nothing_is_submitted_while_the_site_is_in_trouble(line: Line) -> None:
    line.web.text("a.bv/robots.txt", "Sitemap: http://a.bv/one.xml\n")
    line.web.says["a.bv/one.xml"] = Reply(
        status=503, headers=(("Retry-After", "20"),)
    )  # fmt: skip
    domain = await queue_domain(line)

    await line.work(STAGE)
    before = await line.row(Domain, domain)
    line.web.sitemap("a.bv/one.xml", "http://a.bv/1")
    await line.ledger.resume("a.bv")
    await line.work_again(STAGE)

    assert before.sitemap_analysis_status == "processing"
    assert (await line.row(Domain, domain)).sitemap_analysis_status == "submitted"
    assert [row[0] for row in await line.rows(FILES)] == ["http://a.bv/one.xml"]


async def test_submitting_again_changes_no_decision_and_doubles_nothing(
    line: Line,
) -> None:
    line.web.text("a.bv/robots.txt", "Sitemap: http://a.bv/one.xml\n")
    line.web.sitemap("a.bv/one.xml", "http://a.bv/1")
    domain = await queue_domain(line)
    await line.work(STAGE)
    await line.run("UPDATE sitemap_files SET deep_scrape_curation_status = 'Not a Fit'")

    await line.decide("domains", "Selected", domain, force=True)
    await line.work(STAGE)

    assert [row[3:] for row in await line.rows(FILES)] == [("Not a Fit", None)]


async def test_a_rule_chooses_files_and_queues_their_import(line: Line) -> None:
    await line.rule("sitemap_files")
    line.web.text("a.bv/robots.txt", "Sitemap: http://a.bv/one.xml\n")
    line.web.sitemap("a.bv/one.xml", "http://a.bv/1")
    await queue_domain(line)

    await line.work(STAGE)

    assert [row[3:] for row in await line.rows(FILES)] == [("Selected", "Queued")]
