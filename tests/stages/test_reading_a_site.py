"""From a domain to the pages that say most: by links, best first, within a budget."""

import asyncio
from datetime import timedelta
from functools import partial

import pytest

from scrapersky.curation.rule import run_rule
from scrapersky.pipeline import recent
from scrapersky.pipeline.dead_pages import choose_after_dead_letters
from scrapersky.records import Domain
from scrapersky.settings import SYSTEM_USER_ID
from simulated_town.sites.reply import redirect
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
READ = "SELECT url FROM pages WHERE fetched_at IS NOT NULL ORDER BY url"
HOME = """<html lang="en"><title>Alder Joinery</title><h1>Alder Joinery</h1>
<p>Stairs, doors and windows made to measure, in oak, ash and larch, since 1987. We plan,
build and fit, and come back when something creaks. Ask us for a date.</p>{links}</html>"""


def home(*links: str) -> str:
    """Write a home page that links these paths."""
    anchors = "".join(f'<a href="{path}">{path}</a> ' for path in links)
    return HOME.format(links=anchors)


def page(text: str, *links: str) -> str:
    """Write another page."""
    anchors = "".join(f'<a href="{path}">more</a> ' for path in links)
    return f"<html lang=en><title>{text[:20]}</title><p>{text}</p>{anchors}</html>"


async def read_all(line: Line) -> list[str]:
    """Work on the domain and its pages until nothing is left; return what was read."""
    await line.work("domain_metadata")
    await line.work("sitemap_submission")
    while await line.work("page_curation"):
        pass
    return [row[0].removeprefix("http://a.bv") for row in await line.rows(READ)]


async def choose_now(line: Line) -> None:
    """Let the rule that everyone begins with choose, as a person asks it to."""
    ((rule,),) = await line.rows("SELECT id FROM selection_rules")
    await run_rule(line.engine, line.actor, rule)


async def test_a_submitted_site_is_read_without_anybody_selecting_anything(
    line: Line,
) -> None:
    """The home page, what it links, and what those pages link."""
    line.web.page("a.bv/", home("/about", "/stairs"))
    line.web.page("a.bv/about", page("Founded in 1987.", "/profile-7"))
    line.web.page("a.bv/stairs", page("Oak."))
    line.web.page("a.bv/profile-7", page("Write to jo@a.bv."))
    await line.add_domain()

    assert await read_all(line) == ["/", "/about", "/profile-7", "/stairs"]
    assert await line.rows("SELECT email FROM contacts") == [("jo@a.bv",)]
    clicks = await line.rows("SELECT url, clicks FROM pages ORDER BY clicks, url")
    assert clicks[0] == ("http://a.bv/", 0)
    assert clicks[-1] == ("http://a.bv/profile-7", 2)


async def test_the_home_page_is_asked_for_once(line: Line) -> None:
    """Two stages read it; its server need not know."""
    line.web.page("a.bv/", home("/stairs"))
    line.web.page("a.bv/stairs", page("Oak."))
    await line.add_domain()
    await read_all(line)
    assert line.web.asked.count("a.bv/") == 1


async def test_a_sitemap_is_asked_for_once_a_visit(line: Line) -> None:
    """What the search for sitemaps has read is imported, and later visits ask again."""
    line.web.page("a.bv/", home())
    line.web.text("a.bv/robots.txt", "Sitemap: http://a.bv/map.xml")
    line.web.sitemap("a.bv/map.xml", "http://a.bv/stairs")
    await line.add_domain()
    await line.work("domain_metadata")
    await line.work("sitemap_submission")
    queue = "UPDATE sitemap_files SET sitemap_import_status = 'Queued'"
    await line.run(queue)
    assert await line.work("sitemap_import") == 1
    assert line.web.asked.count("a.bv/map.xml") == 1
    stored = await line.rows("SELECT url FROM pages WHERE sitemap_file_id IS NOT NULL")
    assert stored == [("http://a.bv/stairs",)]

    await line.run(queue)
    assert await line.work("sitemap_import") == 1
    assert line.web.asked.count("a.bv/map.xml") == 2


async def test_a_sitemap_that_would_fill_the_memory_is_fetched_again(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Home pages that wait for their turn stay."""
    monkeypatch.setattr(recent, "MAX_PAGE_BYTES", 1_000)
    line.web.page("a.bv/", home())
    line.web.text("a.bv/robots.txt", "Sitemap: http://a.bv/map.xml")
    paths = [f"http://a.bv/stairs-{number}" for number in range(50)]
    line.web.sitemap("a.bv/map.xml", *paths)
    await line.add_domain()
    await line.work("domain_metadata")
    await line.work("sitemap_submission")
    assert line.tools.recent.take("http://a.bv/map.xml") is None
    assert line.tools.recent.take("http://a.bv/") is not None


async def test_no_more_pages_are_read_than_the_budget_allows_until_a_person_raises_it(
    line: Line,
) -> None:
    """The best ones are; later others may be."""
    paths = [f"/stairs-{number}" for number in range(6)]
    line.web.page("a.bv/", home(*paths, "/contact"))
    for path in [*paths, "/contact"]:
        line.web.page(f"a.bv{path}", page(f"Call +44 1584 8721{len(path):02}."))
    domain = await line.add_domain(page_budget=3)

    assert await read_all(line) == ["/", "/contact", "/stairs-0"]

    await line.run("UPDATE domains SET page_budget = 5 WHERE id = :id", id=domain)
    await choose_now(line)
    while await line.work("page_curation"):
        pass
    assert len(await line.rows(READ)) == 5


async def test_every_chosen_page_says_why_it_was_chosen(line: Line) -> None:
    """Others say nothing: they were not."""
    line.web.page("a.bv/", home("/contact", "/stairs"))
    line.web.page("a.bv/contact", page("Call +44 1584 872100."))
    await line.add_domain(page_budget=2)
    await read_all(line)
    reported = await line.rows(
        "SELECT url, choice->'reasons', choice->'gain' FROM pages ORDER BY url"
    )
    assert reported == [
        ("http://a.bv/", ["it is the home page"], 1.0),
        ("http://a.bv/contact", ['"contact" stands in its path'], 1.0),
        ("http://a.bv/stairs", None, None),
    ]


async def test_what_pages_held_is_remembered_for_sites_of_the_same_program(
    line: Line,
) -> None:
    """Counted once a page, with the page; the next site's choice says so."""
    meta = '<meta name="generator" content="WordPress 6.4">'
    for host in ("a.bv", "b.bv"):
        start = home("/contact", "/about").replace("<title>", f"{meta}<title>")
        line.web.page(f"{host}/", start)
        line.web.page(f"{host}/contact", page(f"Write to jo@{host}."))
        line.web.page(f"{host}/about", page("Founded in 1987."))
    await line.add_domain()
    await read_all(line)
    gains = "SELECT generator, page_type, pages, promised, paid FROM page_gains"
    ordered = f"{gains} ORDER BY page_type"
    remembered = [
        ("WordPress", "about_root", 1, 0.54, 0),
        ("WordPress", "contact_root", 1, 1.0, 1),
    ]
    assert await line.rows(ordered) == remembered

    await line.run(
        "UPDATE pages SET page_processing_status = 'Queued', etag = NULL"
        " WHERE url LIKE '%/contact'"
    )
    assert await line.work("page_curation") == 1
    assert await line.rows(ordered) == remembered

    await line.run("UPDATE page_gains SET pages = 40, promised = 40")
    await line.add_domain("b.bv")
    await read_all(line)
    ((reasons, gain),) = await line.rows(
        "SELECT choice->'reasons', choice->'gain' FROM pages"
        " WHERE url = 'http://b.bv/about'"
    )
    assert reasons[-1] == (
        "0 of 40 pages of this kind held something new on WordPress sites"
    )
    assert gain < 0.54
    assert await line.rows(f"{gains} WHERE page_type = 'about_root'") == [
        ("WordPress", "about_root", 41, pytest.approx(40.54), 0)
    ]


async def test_a_page_that_cannot_be_had_does_not_keep_the_others_waiting(
    line: Line,
) -> None:
    """Dead links stand in many a menu."""
    dead = [f"/gone-{number}" for number in range(5)]
    line.web.page("a.bv/", home(*dead, "/zzz-stairs"))
    line.web.page("a.bv/zzz-stairs", page("Write to jo@a.bv."))
    await line.add_domain()
    assert "/zzz-stairs" in await read_all(line)


async def test_a_contact_page_that_nothing_links_is_guessed(line: Line) -> None:
    """As the site writes its pages."""
    line.web.page("a.bv/", home("/stairs.html"))
    line.web.page("a.bv/stairs.html", page("Oak."))
    line.web.page("a.bv/contact.html", page("Write to jo@a.bv."))
    await line.add_domain()
    assert await read_all(line) == ["/", "/contact.html", "/stairs.html"]
    assert line.web.asked.count("a.bv/contact.html") == 1


async def test_a_page_about_the_people_that_nothing_links_is_guessed(
    line: Line,
) -> None:
    """Once, and only where the site has several pages and none of them is about people."""
    others = ("/contact.html", "/stairs.html", "/prices.html")
    line.web.page("a.bv/", home(*others))
    for path in others:
        line.web.page(f"a.bv{path}", page("Oak."))
    line.web.page("a.bv/about.html", page("Jo Marsh, owner. Write to jo@a.bv."))
    await line.add_domain()
    assert "/about.html" in await read_all(line)
    assert line.web.asked.count("a.bv/about.html") == 1


async def test_a_site_that_answers_everything_with_its_home_page_has_no_contact_page(
    line: Line,
) -> None:
    """A guess that leads home is none."""
    line.web.page("a.bv/", home("/stairs"))
    line.web.page("a.bv/contact", home("/stairs"))
    await line.add_domain()
    assert "/contact" not in await read_all(line)


async def test_nothing_is_guessed_where_a_contact_page_is_linked(line: Line) -> None:
    """Every request is somebody's money."""
    line.web.page("a.bv/", home("/kontakt"))
    line.web.page("a.bv/kontakt", page("Write to jo@a.bv."))
    await line.add_domain()
    await read_all(line)
    assert "a.bv/contact" not in line.web.asked


async def test_a_link_says_more_about_a_page_than_its_address_did(line: Line) -> None:
    """A page known from a sitemap is rated anew, unless somebody has decided about it."""
    line.web.page(
        "a.bv/",
        HOME.format(links='<a href="/p1">Contact us</a><a href="/p2">Contact</a>'),
    )
    domain = await line.add_domain(page_budget=0)
    rated = {"contact_likelihood": 0.15, "page_processing_status": None}
    await line.add_page("http://a.bv/p1", domain, **rated)
    await line.add_page(
        "http://a.bv/p2", domain, page_curation_status="Skipped", **rated
    )
    await line.work("domain_metadata")
    rows = await line.rows(
        "SELECT url, contact_likelihood > 0.9 FROM pages WHERE clicks = 1 OR url LIKE '%p2'"
        " ORDER BY url"
    )
    assert rows == [("http://a.bv/p2", False)] or rows[-1] == ("http://a.bv/p2", False)
    likely = await line.rows(
        "SELECT contact_likelihood > 0.9 FROM pages WHERE url LIKE '%p1'"
    )
    assert likely == [(True,)]


async def test_pages_that_settle_at_the_same_moment_do_not_wait_for_each_other(
    line: Line,
) -> None:
    """Each transaction sees the others' pages as still to come; one of them must go on."""
    paths = [f"/stairs-{number}" for number in range(11)]
    line.web.page("a.bv/", home(*paths))
    for path in paths:
        line.web.page(f"a.bv{path}", page(f"Call +44 1584 8721{paths.index(path):02}."))
    domain = await line.add_domain()
    await line.work("domain_metadata")
    await asyncio.gather(*(choose_now(line) for _ in range(4)))
    waiting = await line.rows(
        "SELECT count(*) FROM pages WHERE page_processing_status = 'Queued'"
    )
    assert waiting == [(4,)]
    while await line.work("page_curation"):
        pass
    assert len(await line.rows(READ)) == 12
    assert (await line.row(Domain, domain)).page_budget == 12


async def test_pages_that_raised_were_the_last_in_hand_and_no_other_was_chosen(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They never came to choose the next ones; the rescue of expired claims does it."""
    paths = [f"/stairs-{number}" for number in range(6)]
    line.web.page("a.bv/", home(*paths))
    for path in paths:
        line.web.page(f"a.bv{path}", page("Oak."))
    await line.add_domain()
    await line.work("domain_metadata")
    with monkeypatch.context() as patch:

        async def break_down(*_: object, **__: object) -> None:
            raise RuntimeError

        patch.setattr(line.tools.crawler, "fetch", break_down)
        line.tools.recent.take("http://a.bv/")
        while await line.work_again("page_curation"):
            pass
    dead = "SELECT count(*) FROM curation.dead_letter WHERE kind = 'exhausted'"
    assert await line.rows(dead) == [(4,)]
    assert await line.work("page_curation") == 0

    again = partial(
        choose_after_dead_letters,
        line.engine,
        user_id=line.actor.user_id or SYSTEM_USER_ID,
        site=line.tools.budgets.site,
    )
    assert await again(within=timedelta(0)) == 0
    assert await again(within=timedelta(hours=1)) == 3
    assert await again(within=timedelta(hours=1)) == 0
    assert await line.work("page_curation") == 3


async def test_an_off_site_redirect_brings_no_pages_of_the_other_site(
    line: Line,
) -> None:
    """Somebody else's pages are not this domain's."""
    line.web.page("a.bv/", home("/shop"))
    line.web.says["a.bv/shop"] = redirect("http://b.bv/", 302)
    line.web.page("b.bv/", home("/contact"))
    await line.add_domain()
    await read_all(line)
    assert await line.rows("SELECT url FROM pages WHERE url LIKE '%b.bv%'") == []


async def test_an_about_page_that_only_the_sitemap_named_was_never_read(
    line: Line,
) -> None:
    """A menu made by a script links nothing; what is linked already needs no second one."""
    listed = ("/about", "/contact-us", "/stairs", "/blog/1")
    line.web.text("a.bv/robots.txt", "Sitemap: http://a.bv/sitemap.xml\n")
    line.web.sitemap("a.bv/sitemap.xml", *(f"http://a.bv{path}" for path in listed))
    line.web.page("a.bv/", home("/contact"))
    for path in ("/contact", *listed):
        line.web.page(f"a.bv{path}", page("Oak, ash and larch."))
    await line.add_domain()

    assert await read_all(line) == ["/", "/about", "/contact"]
    ((clicks,),) = await line.rows("SELECT clicks FROM pages WHERE url LIKE '%/about'")
    assert clicks is None


async def test_a_site_whose_chosen_pages_were_all_gone_was_given_up(line: Line) -> None:
    line.web.page("a.bv/", home("/contact.html", "/about.html"))
    line.web.page("a.bv/contact_us.html", page("Write to jo@a.bv."))
    await line.add_domain()

    assert "/contact_us.html" in await read_all(line)
    assert await line.rows("SELECT email FROM contacts") == [("jo@a.bv",)]


async def test_a_contact_page_that_only_the_sitemap_names_was_not_listed(
    line: Line,
) -> None:
    line.web.page("a.bv/", home("/directions"))
    line.web.page("a.bv/directions", page("Take the bus."))
    line.web.page("a.bv/contact", page("Write to jo@a.bv."))
    line.web.sitemap("a.bv/sitemap.xml", "http://a.bv/contact", "http://a.bv/oak")
    await line.add_domain()

    assert "/contact" in await read_all(line)
