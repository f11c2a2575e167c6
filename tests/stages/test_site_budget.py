"""Sites without end, submitted like any other: each costs its budget and no more."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest

from scrapersky.crawler import Crawler
from scrapersky.curation.batch import submit
from scrapersky.curation.site_budget import SiteBudget, change_budget
from scrapersky.errors import Trap
from scrapersky.records import Domain, Page, SitemapFile
from simulated_town.sites.reply import Reply
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGES = ("domain_metadata", "sitemap_submission", "sitemap_import", "page_curation")
STORED = "SELECT count(*) FROM pages"
QUEUED = f"{STORED} WHERE page_processing_status = 'Queued'"
RULE = {"field": "contact_likelihood", "comparison": "at_least", "value": 0.3}
BEYOND = "beyond the budget of"


def contacts(path: str) -> Iterator[str]:
    """Link fifty contact pages that were never seen: by path, by query and by host."""
    number = sum(map(ord, path))
    for n in range(17):
        yield f"/contact-{number}-{n}"
        yield f"/contact?team={number}&person={n}"
        yield f"http://h{number}-{n}.a.bv/contact"


def calendar(path: str) -> Iterator[str]:
    """Link the next ten days, whatever day is asked for."""
    words = [int(word) for word in path.strip("/").split("/") if word.isdigit()]
    day = date(*words) if len(words) == 3 else date(2026, 11, 15)
    yield from (f"/events/{day + timedelta(n):%Y/%m/%d}" for n in range(1, 11))


def deeper(path: str) -> Iterator[str]:
    """Link into the same directories, as a wrong relative link does."""
    yield from (f"{path.rstrip('/')}/{name}/" for name in ("offers", "team", "contact"))


def honeypot(path: str) -> Iterator[str]:
    """Link ten pages of random names."""
    chance = random.Random(path)
    for _ in range(10):
        yield "/" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=9))


def session(path: str) -> Iterator[str]:
    """Link one and the same page under addresses that are new every time."""
    chance = random.Random(path)
    yield from (f"/shop/{chance.getrandbits(64):016x}" for _ in range(10))


class Endless(dict[str, Any]):
    """Answers anything with a page that links more of them; there is no sitemap."""

    def __init__(self, links: Callable[[str], Iterator[str]]) -> None:
        super().__init__()
        self.links = links

    def get(self, place: str, _default: Any = None) -> Reply:
        path = "/" + place.partition("/")[2]
        if path.endswith((".txt", ".xml")):
            return Reply(b"no", status=404)
        links = "".join(f'<a href="{url}">Contact</a>' for url in self.links(path))
        text = f"The archive of {path}. " * 9
        return Reply(
            f"<html lang=en><title>A {path}</title><p>{text}</p>{links}</html>".encode()
        )


async def work_on_all(line: Line) -> None:
    """Let every stage do all there is to do."""
    while sum([await line.work(stage) for stage in STAGES]):
        pass


async def count(line: Line, query: str = STORED) -> int:
    ((found,),) = await line.rows(query)
    return int(found)


async def import_all(line: Line, domain: UUID, *lists: list[str]) -> list[Any]:
    """Import sitemaps of a domain together; return their rows."""
    files = []
    for urls in lists:
        name = f"{len(line.web.says)}.xml"
        line.web.sitemap(f"a.bv/{name}", *urls)
        files.append(await line.add_sitemap(f"http://a.bv/{name}", domain))
    await line.work("sitemap_import")
    return [await line.row(SitemapFile, file) for file in files]


def left_out(files: list[Any], name: str) -> int:
    """Return how many pages the imports have not stored for one reason."""
    return sum(file.dropped.get(f"{BEYOND} {name}", 0) for file in files)


@pytest.mark.parametrize("links", [contacts, calendar, deeper, honeypot, session])
async def test_a_trap_submitted_as_a_domain_costs_its_budget(
    line: Line, links: Callable[[str], Iterator[str]]
) -> None:
    """`SiteBudget` was to be asked before each URL, and nobody asked it."""
    line.web.says = Endless(links)
    await submit(line.engine, line.actor, "domains", ["a.bv"])

    await work_on_all(line)

    assert 1 <= await count(line, f"{STORED} WHERE fetched_at IS NOT NULL") <= 12
    assert await count(line, QUEUED) == 0
    assert len([place for place in line.web.asked if "robots" not in place]) < 25
    hosts = "SELECT count(DISTINCT split_part(url, '/', 3)) FROM pages"
    assert await count(line, hosts) <= 10
    assert await count(line) < 12 * 80
    ((fetched, size, parsing),) = await line.rows(
        "SELECT pages_fetched, bytes, parse_ms FROM site_usage"
    )
    assert 1 <= fetched <= 12
    assert size > 1_000
    assert parsing > 0


async def test_500_query_variants_of_one_path_were_stored_and_fetched(
    line: Line,
) -> None:
    """The order of a query's parts does not make a page another one."""
    urls = [f"http://a.bv/contact?a={n}&b=1" for n in range(50)]
    urls += [f"http://a.bv/contact?b=1&a={n}" for n in range(50)]
    domain = await line.add_domain()
    files = await import_all(line, domain, ["http://a.bv/team", *urls])

    assert await count(line) == 21
    assert left_out(files, "query_variants") == 80
    # What is stored already counts for the next file, and for links.
    more = [f"http://a.bv/contact?c={n}" for n in range(5)]
    assert left_out(await import_all(line, domain, more), "query_variants") == 5
    assert await count(line) == 21


async def test_250_000_pages_were_stored_of_one_site(line: Line) -> None:
    """Five sitemaps at once; the likeliest pages of each are stored first."""
    domain = await line.add_domain(budget={"pages_stored": 100})
    lists = [[f"http://a.bv/stairs-{f}-{n}" for n in range(60)] for f in range(5)]
    for f, urls in enumerate(lists):
        urls.append(f"http://a.bv/contact-{f}")
    files = await import_all(line, domain, *lists)

    assert await count(line) == 100
    assert left_out(files, "pages_stored") == 205
    # Which of them comes first is nobody's choice.
    stored = {url for (url,) in await line.rows("SELECT url FROM pages")}
    begun = {f for f, urls in enumerate(lists) if stored & set(urls)}
    assert begun
    assert {f for f in begun if f"http://a.bv/contact-{f}" in stored} == begun


async def test_a_full_site_keeps_what_it_has_when_it_is_imported_again(
    line: Line,
) -> None:
    domain = await line.add_domain(budget={"pages_stored": 10})
    urls = [f"http://a.bv/stairs-{n}" for n in range(12)]
    (file,) = await import_all(line, domain, urls)
    await line.run("UPDATE sitemap_files SET sitemap_import_status = 'Queued'")
    await line.work("sitemap_import")

    again = await line.row(SitemapFile, file.id)
    assert await count(line, f"{STORED} WHERE gone_at IS NULL") == 10
    assert left_out([file, again], "pages_stored") == 4


async def test_12_sites_of_long_addresses_took_1_9_gb(line: Line) -> None:
    """All addresses of a site together have a budget too."""
    domain = await line.add_domain(budget={"url_bytes": 10_000})
    urls = [f"http://a.bv/{'long-' * 380}{n}" for n in range(20)]
    files = await import_all(line, domain, urls)

    assert await count(line) == 5
    assert left_out(files, "url_bytes") == 15


async def test_49_000_contact_like_pages_were_queued(line: Line) -> None:
    """A rule that is not `best_first` selects no more than may be fetched."""
    await line.run("DELETE FROM selection_rules")
    await line.rule("pages", RULE)
    domain = await line.add_domain(budget={"pages_fetched": 10})
    await import_all(line, domain, [f"http://a.bv/contact/{n}" for n in range(40)])
    assert (await count(line), await count(line, QUEUED)) == (40, 10)

    await import_all(line, domain, [f"http://a.bv/contact-us/{n}" for n in range(9)])
    assert (await count(line), await count(line, QUEUED)) == (49, 10)


async def test_pages_beyond_the_budget_fail_until_a_person_raises_it(
    line: Line,
) -> None:
    """Whoever selected them."""
    domain = await line.add_domain(budget={"pages_fetched": 1})
    line.web.page("a.bv/two", "<p>Oak.</p>")
    await line.add_page("http://a.bv/one", domain)
    await line.work("page_curation")
    page = await line.add_page("http://a.bv/two", domain)
    await line.work("page_curation")
    row = await line.row(Page, page)
    assert row.page_processing_status == "Error"
    assert "the site's budget is used up: pages_fetched 1 of 1" in (
        row.page_processing_error
    )

    async with line.engine.begin() as connection:
        change = {"pages_fetched": 5}
        waiting = await change_budget(
            connection, line.actor, domain, change, SiteBudget()
        )
    assert waiting == 1
    await line.work("page_curation")
    assert (await line.row(Page, page)).page_processing_status == "Complete"


@pytest.mark.parametrize(
    ("name", "column"), [("bytes", "bytes"), ("parse_seconds", "parse_ms")]
)
async def test_a_site_that_has_cost_too_much_is_left(
    line: Line, name: str, column: str
) -> None:
    """Nothing more is asked of it: no page, no sitemap."""
    domain = await line.add_domain(budget={name: 5}, sitemap_analysis_status="queued")
    await line.run(
        f"INSERT INTO site_usage (domain_id, tenant_id, {column})"
        " VALUES (:domain, :tenant, 5000)",
        domain=domain, tenant=line.actor.tenant_id,
    )  # fmt: skip
    page = await line.add_page("http://a.bv/new", domain)
    file = await line.add_sitemap("http://a.bv/sitemap.xml", domain)
    for stage in STAGES[1:]:
        await line.work(stage)

    why = f"the site's budget is used up: {name}"
    assert why in (await line.row(Page, page)).page_processing_error
    assert why in (await line.row(SitemapFile, file)).sitemap_import_error
    assert why in (await line.row(Domain, domain)).sitemap_analysis_error
    assert line.web.asked == []


async def test_a_search_for_sitemaps_ends_when_it_has_used_up_the_bytes(
    line: Line,
) -> None:
    """One item could fetch fifty files of 50 MB before anybody counted."""
    names = [f"http://a.bv/{n}.xml" for n in range(5)]
    line.web.text("a.bv/robots.txt", "\n".join(f"Sitemap: {url}" for url in names))
    for number in range(5):
        urls = [f"http://a.bv/{number}/{n}" for n in range(40)]
        line.web.sitemap(f"a.bv/{number}.xml", *urls)
    await line.add_domain(budget={"bytes": 3_000}, sitemap_analysis_status="queued")
    await line.work("sitemap_submission")

    assert len([place for place in line.web.asked if place.endswith(".xml")]) == 2


async def test_what_fails_is_charged_too(line: Line) -> None:
    """A site that answers everything with a large error cost nothing."""
    line.web.says["a.bv/p"] = Reply(b"no" * 2_000, status=404)
    domain = await line.add_domain()
    await line.add_page("http://a.bv/p", domain)
    await line.work("page_curation")

    ((fetched, size),) = await line.rows("SELECT pages_fetched, bytes FROM site_usage")
    assert fetched == 1
    assert size > 4_000


async def allow_a_day(line: Line, name: str, most: int, used: int) -> None:
    """Set what the tenant may take a day, and has taken: if the day ends now, this one too."""
    await line.run(
        "UPDATE tenants SET budget = jsonb_build_object(CAST(:name AS text), CAST(:most AS int))",
        name=name, most=most,
    )  # fmt: skip
    await line.run(
        f"INSERT INTO tenant_usage (tenant_id, day, {name}) SELECT id,"
        " (now() AT TIME ZONE 'UTC')::date + n, CAST(:used AS int)"
        " FROM tenants, generate_series(0, 1) AS n",
        used=used,
    )


@pytest.mark.parametrize("name", ["pages_fetched", "bytes"])
async def test_a_tenant_that_has_had_enough_for_a_day_waits_for_the_next(
    line: Line, name: str
) -> None:
    """No attempt is spent, and nothing is asked of any site."""
    await allow_a_day(line, name, most=7, used=7)
    line.web.page("a.bv/", "<p>Oak.</p>")
    page = await line.add_page("http://a.bv/")
    await line.work("page_curation")
    assert line.web.asked == []
    assert (await line.row(Page, page)).page_processing_error is None
    assert await line.outcomes("page_curation", page) == ["postponed"]

    await line.run("UPDATE tenant_usage SET day = day - 9")
    await line.work_again("page_curation")
    assert (await line.row(Page, page)).page_processing_status == "Complete"


async def test_a_tenant_stores_no_more_pages_a_day_than_it_may(line: Line) -> None:
    """By sitemaps or by links, over all of its sites."""
    await allow_a_day(line, "pages_stored", most=10, used=6)
    domain = await line.add_domain()
    urls = [f"http://a.bv/stairs-{n}" for n in range(8)]
    files = await import_all(line, domain, urls)
    assert await count(line) == 4
    assert left_out(files, "pages_stored of the tenant") == 4
    assert await count(line, "SELECT max(pages_stored) FROM tenant_usage") == 10

    await line.run("UPDATE tenant_usage SET pages_stored = 10")
    links = "".join(f'<a href="/team-{n}">Team</a>' for n in range(8))
    line.web.page("b.bv/", f"<html lang=en><p>{'Oak. ' * 50}</p>{links}</html>")
    await line.add_domain("b.bv")
    await line.work("domain_metadata")
    assert await count(line) == 4


async def test_133_subdomains_sent_69_mb_of_robots_txt(line: Line) -> None:
    """The files of all hosts of a registrable domain share one budget."""
    policy = replace(line.tools.crawler.policy, site_robots_bytes=25_000)
    rules = "User-agent: *\nDisallow: /private\n" + "# more\n" * 1_000
    for number in range(13):
        line.web.text(f"h{number}.a.bv/robots.txt", rules)
    line.web.text("b.bv/robots.txt", rules)
    refused = 0
    async with Crawler(policy, line.ledger, resolver=line.names) as crawler:
        for number in range(13):
            try:
                await crawler.robots(f"http://h{number}.a.bv/")
            except Trap:
                refused += 1
        assert (await crawler.robots("http://b.bv/")).allowed

    asked = [place for place in line.web.asked if place.endswith(".a.bv/robots.txt")]
    # The last one of them was cut off in the middle.
    assert (len(asked), refused) == (4, 9)
