"""WF6: every page a sitemap names, once, rated; new, changed and gone ones noted."""

import asyncio
from uuid import UUID

import pytest
from sqlalchemy import text

from scrapersky.records import SitemapFile
from scrapersky.settings import SYSTEM_USER_ID
from scrapersky.stages.wf6_sitemap_import import COPY_MIN_PAGES, FIND_GONE
from simulated_town.sites.reply import HTML, XML, Reply
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "sitemap_import"
MAP = "http://a.bv/sitemap.xml"
A, B, C = "http://a.bv/contact", "http://a.bv/about", "http://a.bv/blog/x"
AGAIN = "UPDATE sitemap_files SET sitemap_import_status = 'Queued'"
PAGES = (
    "SELECT url, page_curation_status::text, page_processing_status::text, page_type,"
    " gone_at IS NOT NULL FROM pages ORDER BY url"
)


async def test_every_page_is_stored_rated_and_waits(line: Line) -> None:
    line.web.sitemap("a.bv/sitemap.xml", A, B, C, A, lastmod="2026-01-02")
    file = await line.add_sitemap(MAP)

    await line.work(STAGE)

    row = await line.row(SitemapFile, file)
    assert (row.sitemap_import_status, row.status) == ("Complete", "Completed")
    assert (row.url_count, row.dropped["new"]) == (3, 3)
    assert {page[3] for page in await line.rows(PAGES)} >= {
        "contact_root",
        "about_root",
    }
    best = await line.rows(
        "SELECT url, likelihood_reasons <> '{}', lastmod::date::text, created_by"
        " FROM pages ORDER BY contact_likelihood DESC LIMIT 1"
    )
    assert best == [(A, True, "2026-01-02", SYSTEM_USER_ID)]


@pytest.mark.parametrize("stored_before", [False, True])
async def test_a_change_in_the_year_9999_was_believed(
    line: Line, *, stored_before: bool
) -> None:
    line.web.sitemap("a.bv/sitemap.xml", A, lastmod="9999-12-31T23:59:59-12:00")
    file = await line.add_sitemap(MAP)
    if stored_before:
        await line.work(STAGE)
        await line.run("UPDATE pages SET lastmod = '9999-12-31'")
        await line.run(
            "UPDATE sitemap_files SET sitemap_import_status = 'Queued' WHERE id = :id",
            id=file,
        )

    await line.work(STAGE)

    assert await line.rows("SELECT url, lastmod FROM pages") == [(A, None)]


async def test_what_is_not_worth_fetching_is_filtered(line: Line) -> None:
    asset, archive = "http://a.bv/flyer.pdf", "http://a.bv/2019/04/"
    line.web.sitemap("a.bv/sitemap.xml", A, asset, archive)
    await line.rule(
        "pages",
        {"field": "contact_likelihood", "comparison": "at_least", "value": 0.3},
    )
    await line.add_sitemap(MAP)

    await line.work(STAGE)

    found = {page[0]: page[1:3] for page in await line.rows(PAGES)}
    assert found[A] == ("Selected", "Queued")
    assert found[asset] == ("New", "Filtered")
    assert found[archive] == ("New", "Filtered")


async def test_the_default_rule_selects_contact_pages_and_leaves_the_rest(
    line: Line,
) -> None:
    line.web.sitemap("a.bv/sitemap.xml", A, C)
    await line.add_sitemap(MAP)

    await line.work(STAGE)

    found = {page[0]: page[1:3] for page in await line.rows(PAGES)}
    assert found == {A: ("Selected", "Queued"), C: ("New", None)}
    by = await line.rows(
        "SELECT a.kind, r.name <> '' FROM curation_actions a"
        " JOIN selection_rules r ON r.id = a.rule_id"
    )
    assert by == [("pages", True)]


async def test_what_the_home_page_calls_a_page_rates_a_silent_address(
    line: Line,
) -> None:
    silent, old = "http://www.a.bv/p/7/", "http://a.bv/team"
    line.web.sitemap("a.bv/sitemap.xml", silent, C)
    line.web.sitemap("a.bv/old.xml", old, lastmod="2001-02-03")
    domain = await line.add_domain("a.bv", link_texts={"https://a.bv/p/7": "Kontakt"})
    await line.add_sitemap(MAP, domain)
    await line.add_sitemap("http://a.bv/old.xml", domain)

    await line.work(STAGE)

    found = {page[0]: page[1:4] for page in await line.rows(PAGES)}
    assert found[silent] == ("Selected", "Queued", "contact_root")
    why = await line.rows(
        "SELECT url, likelihood_reasons[2] FROM pages WHERE cardinality("
        "likelihood_reasons) > 1"
    )
    assert [(url, text[:19]) for url, text in why] == [(old, "it was last changed")]


async def test_a_second_import_notes_new_changed_and_gone_pages(line: Line) -> None:
    line.web.sitemap("a.bv/sitemap.xml", A, B, lastmod="2026-01-02")
    file = await line.add_sitemap(MAP)
    await line.work(STAGE)
    line.web.sitemap("a.bv/sitemap.xml", A, C, lastmod="2026-02-03")

    await line.run(AGAIN)
    await line.work(STAGE)

    counts = (await line.row(SitemapFile, file)).dropped
    assert (counts["new"], counts["changed"], counts["gone"]) == (1, 1, 1)
    assert [(page[0], page[4]) for page in await line.rows(PAGES)] == [
        (B, True), (C, False), (A, False),
    ]  # fmt: skip


async def test_a_page_that_comes_back_is_not_gone_any_more(line: Line) -> None:
    line.web.sitemap("a.bv/sitemap.xml", A)
    first = await line.add_sitemap(MAP)
    await line.work(STAGE)
    line.web.sitemap("a.bv/sitemap.xml", B)
    await line.run(AGAIN)
    await line.work(STAGE)
    ((domain,),) = await line.rows("SELECT id FROM domains")
    line.web.sitemap("a.bv/other.xml", A)

    await line.add_sitemap("http://a.bv/other.xml", domain)
    await line.work(STAGE)
    await line.run(f"{AGAIN} WHERE id = '{first}'")
    await line.work(STAGE)

    gone = {page[0]: page[4] for page in await line.rows(PAGES)}
    assert gone == {A: False, B: False}


async def test_a_second_import_touches_no_decision_and_no_result(line: Line) -> None:
    line.web.sitemap("a.bv/sitemap.xml", A)
    await line.add_sitemap(MAP)
    await line.work(STAGE)
    await line.run(
        "UPDATE pages SET page_curation_status = 'Skipped',"
        " page_processing_status = 'Complete', title = 'kept'"
    )
    line.web.sitemap("a.bv/sitemap.xml", A, lastmod="2026-02-03")

    await line.run(AGAIN)
    await line.work(STAGE)

    assert await line.rows(
        "SELECT page_curation_status::text, page_processing_status::text, title,"
        " lastmod IS NOT NULL FROM pages"
    ) == [("Skipped", "Complete", "kept", True)]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(b"<html><p>no</p></html>", HTML, 404), "the server answered 404"),
        (Reply(b"<urlset><url><loc>", XML, 410), "the server answered 410"),
        (Reply(b"<html><title>Hi</title><p>Hello</p></html>", HTML), "a web page"),
    ],
)
async def test_what_is_no_sitemap_is_an_error_and_no_page_is_gone(
    line: Line, reply: Reply, why: str
) -> None:
    line.web.sitemap("a.bv/sitemap.xml", A)
    file = await line.add_sitemap(MAP)
    await line.work(STAGE)

    line.web.says["a.bv/sitemap.xml"] = reply
    await line.run(AGAIN)
    await line.work(STAGE)

    row = await line.row(SitemapFile, file)
    assert row.sitemap_import_status == "Error"
    assert why.lower() in row.sitemap_import_error.lower()
    assert [page[4] for page in await line.rows(PAGES)] == [False]


async def test_an_empty_sitemap_is_complete_with_a_reason(line: Line) -> None:
    line.web.sitemap("a.bv/sitemap.xml")
    file = await line.add_sitemap(MAP)

    await line.work(STAGE)

    story = await line.story(STAGE, file)
    assert story.status == "Complete"
    assert story.attempts[-1].why


async def test_a_cut_sitemap_keeps_what_came_and_calls_nothing_gone(line: Line) -> None:
    line.web.sitemap("a.bv/sitemap.xml", A, B)
    await line.add_sitemap(MAP)
    await line.work(STAGE)
    whole = b"<urlset><url><loc>http://a.bv/contact</loc></url><url><loc>http://a.b"
    line.web.says["a.bv/sitemap.xml"] = Reply(whole, XML)

    await line.run(AGAIN)
    await line.work(STAGE)

    assert [page[4] for page in await line.rows(PAGES)] == [False, False]


async def test_without_a_sitemap_the_links_of_the_home_page_are_taken(
    line: Line,
) -> None:
    line.web.page(
        "a.bv/", '<a href="/contact">Contact</a><a href="http://b.bv/">Else</a>'
    )
    await line.add_sitemap("http://a.bv/", sitemap_type="links")

    await line.work(STAGE)

    assert {page[0] for page in await line.rows(PAGES)} == {"http://a.bv/", A}


async def test_a_server_in_trouble_is_tried_again(line: Line) -> None:
    line.web.fails("a.bv/sitemap.xml", 500)
    file = await line.add_sitemap(MAP)
    await line.work(STAGE)
    line.web.sitemap("a.bv/sitemap.xml", A)

    await line.work_again(STAGE)

    assert await line.outcomes(STAGE, file) == ["retried", "done"]


async def test_two_sitemaps_that_name_one_page_make_one_page(line: Line) -> None:
    line.web.sitemap("a.bv/one.xml", A, B)
    line.web.sitemap("a.bv/two.xml", B, A)
    domain = await line.add_domain("a.bv")
    await line.add_sitemap("http://a.bv/one.xml", domain)
    await line.add_sitemap("http://a.bv/two.xml", domain)

    await line.work(STAGE)

    assert len(await line.rows(PAGES)) == 2


async def test_gone_pages_are_found_without_comparing_all_with_all(line: Line) -> None:
    """Once a statement has run five times, PostgreSQL plans it without its values."""
    await line.add_sitemap(MAP)
    key = "00000000-0000-0000-0000-000000000000"
    async with line.engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        await driver.execute("SET plan_cache_mode = force_generic_plan")
        await driver.execute(f"PREPARE gone (uuid, text[]) AS {FIND_GONE}")
        plan = await driver.fetch(f"EXPLAIN EXECUTE gone ('{key}', '{{a}}')")
        await driver.execute("DEALLOCATE gone")

    assert not [row[0] for row in plan if "Nested Loop" in row[0]]


def many(site: str, first: int, last: int) -> list[str]:
    """Name pages of all sorts: likely ones, assets, names that need escaping."""
    kinds = ("team/{}", "blog/x-{}", "flyer-{}.pdf", "2019/{}", "caf%C3%A9-{}", "o'x{}")
    return [
        f"http://{site}/{kinds[n % len(kinds)].format(n)}" for n in range(first, last)
    ]


async def test_a_copied_page_is_like_one_that_was_put(line: Line) -> None:
    # Rules would choose the best of each site, which are not the same.
    await line.run("UPDATE selection_rules SET is_enabled = false")
    line.web.sitemap(
        "a.bv/sitemap.xml", *many("a.bv", 0, 2 * COPY_MIN_PAGES), lastmod="2026-01-02"
    )
    line.web.sitemap(
        "b.bv/sitemap.xml", *many("b.bv", 0, COPY_MIN_PAGES - 1), lastmod="2026-01-02"
    )
    file = await line.add_sitemap(MAP)
    await line.add_sitemap("http://b.bv/sitemap.xml")

    await line.work(STAGE)

    columns = (
        "lastmod, page_type, contact_likelihood, likelihood_reasons, p.priority,"
        " page_processing_status::text, page_curation_status::text, p.created_by,"
        " gone_at, contact_scrape_status::text"
    )
    stored = {
        site: await line.rows(
            f"SELECT split_part(p.url, '.bv', 2), {columns} FROM pages p"
            " JOIN domains d ON d.id = p.domain_id"
            f" WHERE d.domain = '{site}' ORDER BY 1"
        )
        for site in ("a.bv", "b.bv")
    }
    assert (await line.row(SitemapFile, file)).dropped["new"] == 2 * COPY_MIN_PAGES
    assert len(stored["a.bv"]) == 2 * COPY_MIN_PAGES
    assert len(stored["b.bv"]) == COPY_MIN_PAGES - 1
    assert set(map(str, stored["b.bv"])) < set(map(str, stored["a.bv"]))
    ids = {
        site: [
            one
            for (one,) in await line.rows(
                "SELECT p.id FROM pages p JOIN domains d ON d.id = p.domain_id"
                f" WHERE d.domain = '{site}' ORDER BY p.id"
            )
        ]
        for site in ("a.bv", "b.bv")
    }
    assert is_numbered(ids["a.bv"]), "they were copied"
    assert not is_numbered(ids["b.bv"]), "the database made these"


def is_numbered(ids: list[UUID]) -> bool:
    """Return whether keys count through their list, as those of copied rows do."""
    counted = [one.int >> 64 & 0xFFF for one in ids]
    return counted == [at * 4096 // len(ids) for at in range(len(ids))]


async def test_a_long_second_import_copies_only_what_is_new(line: Line) -> None:
    line.web.sitemap("a.bv/sitemap.xml", *many("a.bv", 0, COPY_MIN_PAGES))
    file = await line.add_sitemap(MAP)
    await line.work(STAGE)
    line.web.sitemap(
        "a.bv/sitemap.xml", *many("a.bv", 10, 2 * COPY_MIN_PAGES), lastmod="2026-02-03"
    )

    await line.run(AGAIN)
    await line.work(STAGE)

    counts = (await line.row(SitemapFile, file)).dropped
    assert (counts["new"], counts["changed"], counts["gone"]) == (
        COPY_MIN_PAGES,
        COPY_MIN_PAGES - 10,
        10,
    )
    assert await line.rows("SELECT count(*), count(DISTINCT url) FROM pages") == [
        (2 * COPY_MIN_PAGES, 2 * COPY_MIN_PAGES)
    ]


async def test_a_page_that_another_stores_meanwhile_spoils_no_copy(line: Line) -> None:
    urls = many("a.bv", 0, COPY_MIN_PAGES)
    line.web.sitemap("a.bv/sitemap.xml", *urls, lastmod="2026-02-03")
    domain = await line.add_domain("a.bv")
    file = await line.add_sitemap(MAP, domain)
    async with line.engine.connect() as other:
        await other.execute(
            text("INSERT INTO pages (tenant_id, domain_id, url) VALUES (:t, :d, :u)"),
            {"t": line.actor.tenant_id, "d": domain, "u": urls[7]},
        )
        working = asyncio.create_task(line.work(STAGE))
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        while (await line.rows(waiting)) == [(0,)]:  # noqa: ASYNC110 - a lock's
            await asyncio.sleep(0.02)
        await other.commit()
    await working

    counts = (await line.row(SitemapFile, file)).dropped
    assert (counts["new"], counts["changed"]) == (COPY_MIN_PAGES - 1, 1)
    assert await line.rows("SELECT count(*) FROM pages") == [(COPY_MIN_PAGES,)]
