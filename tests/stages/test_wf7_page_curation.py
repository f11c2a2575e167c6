"""WF7: every contact of a page with its evidence, and never one that is not there."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text

import curation_sdk
from curation_sdk import Done
from curation_sdk.connection import WorkerConnection
from scrapersky.crawler import FetchResult, RenderedPage
from scrapersky.errors import RenderFailed
from scrapersky.records import LocalBusiness, Page
from scrapersky.settings import SYSTEM_USER_ID
from scrapersky.stages.wf7_page_curation import curate_page
from simulated_town.sites.reply import Conduct, Reply, redirect
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "page_curation"
URL = "http://a.bv/contact"
CONTACT = """<html lang="en"><title>Contact</title><h1>Contact us</h1>
<p>Phone: <a href="tel:+442079460018">020 7946 0018</a></p>
<p>Fax: 020 7946 0999</p>
<p>E-mail: <a href="mailto:Hello@A.bv">Hello@A.bv</a></p>
<form action="/send"><input name="email"><textarea name="message"></textarea></form>
</html>"""
CONTACTS = "SELECT email, phone FROM contacts ORDER BY email, phone"


async def test_a_page_becomes_contacts_with_evidence_for_every_value(
    line: Line,
) -> None:
    line.web.page("a.bv/contact", CONTACT)
    page = await line.add_page(URL)

    await line.work(STAGE)

    row = await line.row(Page, page)
    assert (row.page_processing_status, row.page_processing_error) == ("Complete", None)
    assert (row.page_curation_status, row.contact_scrape_status) == (
        "Complete",
        "ContactFound",
    )
    assert (row.title, row.h1, row.http_status) == ("Contact", "Contact us", 200)
    assert row.has_contact_form
    found = await line.rows(
        "SELECT DISTINCT c.email, c.email_type::text, c.page_id, c.created_by"
        " FROM contacts c WHERE email IS NOT NULL"
    )
    assert found == [("hello@a.bv", "SERVICE", page, SYSTEM_USER_ID)]
    evidence = await line.rows(
        "SELECT DISTINCT field, value, url, snippet <> '', confidence > 0"
        " FROM contact_evidence ORDER BY 1"
    )
    assert ("email", "hello@a.bv", URL, True, True) in evidence
    assert ("phone", "+442079460018", URL, True, True) in evidence


async def test_contacts_of_a_site_that_a_page_leads_to_were_stored_as_ones_own(
    line: Line,
) -> None:
    line.web.says["a.bv/contact"] = redirect("http://globex.bv/contact")
    line.web.page("globex.bv/contact", CONTACT)
    page = await line.add_page(URL)

    await line.work(STAGE)

    row = await line.row(Page, page)
    assert row.page_processing_status == "Complete"
    assert await line.rows(CONTACTS) == []


async def test_a_fax_is_kept_with_the_pages_first_contact(line: Line) -> None:
    line.web.page("a.bv/contact", CONTACT)
    await line.add_page(URL)

    await line.work(STAGE)

    kinds = await line.rows(
        "SELECT k, v->>'kind' FROM contacts, jsonb_each(phones) AS p(k, v) ORDER BY 1"
    )
    assert ("+442079460999", "fax") in kinds
    assert not [row for row in await line.rows(CONTACTS) if row[1] == "+442079460999"]


async def test_a_page_without_contacts_is_complete_and_says_so(line: Line) -> None:
    line.web.page("a.bv/contact", "<title>News</title><p>We have moved.</p>")
    page = await line.add_page(URL)

    await line.work(STAGE)

    row = await line.row(Page, page)
    story = await line.story(STAGE, page)
    assert row.page_processing_status == "Complete"
    assert row.contact_scrape_status == "NoContactFound"
    assert (
        story.attempts[-1].why
        == "the page names no e-mail address, phone number or person"
    )
    assert await line.rows(CONTACTS) == []


async def test_contacts_of_several_pages_are_merged_by_their_key(line: Line) -> None:
    line.web.page(
        "a.bv/team",
        '<div class="card"><h3>Ada Lovelace</h3><p>Owner</p>'
        '<a href="mailto:ada@a.bv">ada@a.bv</a></div>',
    )
    line.web.page("a.bv/contact", '<p>Write to <a href="mailto:ada@a.bv">Ada</a></p>')
    domain = await line.add_domain("a.bv")
    await line.add_page("http://a.bv/team", domain)
    await line.add_page(URL, domain)

    await line.work(STAGE)

    assert await line.rows("SELECT email, name FROM contacts") == [
        ("ada@a.bv", "Ada Lovelace")
    ]
    seen = await line.rows(
        "SELECT DISTINCT url FROM contact_evidence WHERE field = 'email' ORDER BY 1"
    )
    assert seen == [(URL,), ("http://a.bv/team",)]


async def test_pages_of_a_site_that_settle_together_are_stored_together(
    line: Line,
) -> None:
    card = (
        '<div class="card"><h3>Ada Lovelace</h3><p>Owner</p>'
        '<a href="mailto:ada@a.bv">ada@a.bv</a></div><p>Phone: +44 20 7946 0018</p>'
    )
    line.web.page("a.bv/contact", '<p>Write to <a href="mailto:ada@a.bv">Ada</a></p>')
    line.web.page("a.bv/team", card)
    line.web.page("a.bv/about", card)
    domain = await line.add_domain("a.bv")
    urls = [f"http://a.bv/{name}" for name in ("contact", "team", "about", "gone")]
    pages = [await line.add_page(url, domain) for url in urls]
    work = curate_page.work
    outcomes = [await work(await line.row(Page, page), line.tools) for page in pages]
    statements: list[object] = []

    connection = WorkerConnection(line.engine)
    async with connection.transaction() as transaction:
        transaction.driver.add_query_logger(statements.append)
        for outcome in outcomes:
            assert isinstance(outcome, Done)
            assert outcome.effect is not None
            await outcome.effect(transaction)
        assert statements == []
        await transaction.end()
        transaction.driver.remove_query_logger(statements.append)
    await connection.close()

    assert await line.rows("SELECT email, name, page_id FROM contacts") == [
        ("ada@a.bv", "Ada Lovelace", pages[0])
    ]
    seen = "SELECT DISTINCT url FROM contact_evidence WHERE field = 'email' ORDER BY 1"
    assert await line.rows(seen) == [(url,) for url in sorted(urls[:3])]
    assert await line.rows("SELECT name, role FROM people") == [
        ("Ada Lovelace", "Owner")
    ]
    states = (
        "SELECT gone_at IS NOT NULL, page_curation_status::text FROM pages ORDER BY id"
    )
    stored = await line.rows(states)
    assert sorted(stored) == [(False, "Complete")] * 3 + [(True, "Complete")]


async def test_visiting_again_changes_no_decision_and_doubles_nothing(
    line: Line,
) -> None:
    line.web.page("a.bv/contact", CONTACT)
    page = await line.add_page(URL, page_curation_status="Selected")
    await line.work(STAGE)
    before = await line.rows("SELECT count(*) FROM contact_evidence")
    await line.run(
        "UPDATE contacts SET contact_curation_status = 'Skipped', name = 'By hand'"
    )

    await line.run("UPDATE pages SET etag = NULL")
    await line.decide("pages", "Selected", page, force=True)
    await line.work(STAGE)

    kept = await line.rows(
        "SELECT DISTINCT contact_curation_status::text, name FROM contacts"
    )
    assert kept == [("Skipped", "By hand")]
    assert await line.rows("SELECT count(*) FROM contact_evidence") == before


async def test_a_page_a_person_skips_meanwhile_stays_skipped(line: Line) -> None:
    line.web.page("a.bv/contact", CONTACT)
    page = await line.add_page(URL, page_curation_status="Skipped")

    await line.work(STAGE)

    row = await line.row(Page, page)
    assert row.page_curation_status == "Skipped"
    assert row.page_processing_status == "Complete"


async def test_an_unchanged_page_is_not_read_again(line: Line) -> None:
    line.web.page("a.bv/contact", CONTACT)
    page = await line.add_page(URL)
    await line.work(STAGE)
    etag = (await line.row(Page, page)).etag
    line.web.says["a.bv/contact"] = Reply(status=304, headers=(("ETag", etag),))

    await line.decide("pages", "Selected", page, force=True)
    await line.work(STAGE)

    story = await line.story(STAGE, page)
    assert story.attempts[-1].why == "not modified since the last visit"
    assert (await line.row(Page, page)).title == "Contact"


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refusal_is_final(line: Line, status: int) -> None:
    line.web.fails("a.bv/contact", status)
    page = await line.add_page(URL)

    await line.work(STAGE)

    row = await line.row(Page, page)
    assert row.page_processing_status == "Error"
    assert row.contact_scrape_status == "Error"
    assert row.page_processing_error == f"the server answered {status}"
    assert (await line.story(STAGE, page)).dead == "gave_up"


@pytest.mark.parametrize("status", [404, 410])
async def test_a_dead_link_is_an_answer_and_no_failure(line: Line, status: int) -> None:
    line.web.fails("a.bv/contact", status)
    page = await line.add_page(URL)

    await line.work(STAGE)

    row = await line.row(Page, page)
    assert (row.page_processing_status, row.page_processing_error) == ("Complete", None)
    assert (row.contact_scrape_status, row.http_status) == ("NoContactFound", status)
    assert row.gone_at is not None
    story = await line.story(STAGE, page)
    assert story.dead is None
    assert story.attempts[-1].why == f"the page is gone: the server answered {status}"


async def test_a_page_that_is_back_is_not_gone(line: Line) -> None:
    line.web.fails("a.bv/contact", 404)
    page = await line.add_page(URL)
    await line.work(STAGE)
    line.web.page("a.bv/contact", CONTACT)

    await line.decide("pages", "Selected", page, force=True)
    await line.work(STAGE)

    row = await line.row(Page, page)
    assert (row.gone_at, row.contact_scrape_status) == (None, "ContactFound")


@pytest.mark.parametrize("status", [500, 502, 504])
async def test_a_server_in_trouble_is_tried_again(line: Line, status: int) -> None:
    line.web.fails("a.bv/contact", status, then=CONTACT)
    page = await line.add_page(URL)

    await line.work(STAGE)
    await line.work_again(STAGE)

    assert await line.outcomes(STAGE, page) == ["retried", "done"]


async def test_a_page_that_says_it_is_not_there_is_no_page(line: Line) -> None:
    line.web.page(
        "a.bv/contact",
        "<title>Page not found</title><h1>404 - Page not found</h1><p>info@a.bv</p>",
    )
    page = await line.add_page(URL)

    await line.work(STAGE)

    row = await line.row(Page, page)
    assert row.page_processing_status == "Complete"
    assert row.gone_at is not None
    assert await line.rows(CONTACTS) == []


async def test_robots_are_obeyed_and_the_page_is_never_asked(line: Line) -> None:
    line.web.text("a.bv/robots.txt", "User-agent: *\nDisallow: /contact\n")
    line.web.page("a.bv/contact", CONTACT)
    page = await line.add_page(URL)

    await line.work(STAGE)

    row = await line.row(Page, page)
    assert row.page_processing_error.startswith("robots_denied")
    assert "a.bv/contact" not in line.web.asked


async def test_an_error_is_cut_at_1024_characters_and_the_story_is_whole(
    line: Line,
) -> None:
    line.web.text("a.bv/robots.txt", "User-agent: *\nDisallow: /\n")
    page = await line.add_page(f"http://a.bv/{'x' * 1500}")

    await line.work(STAGE)

    row, story = await line.row(Page, page), await line.story(STAGE, page)
    assert len(row.page_processing_error) == 1024
    assert "x" * 1500 in (story.attempts[-1].why or "")


async def test_a_page_that_hangs_holds_up_no_other_site(line: Line) -> None:
    line.web.says["hang.bv/contact"] = Reply(conduct=Conduct.SILENT)
    line.web.page("a.bv/contact", CONTACT)
    slow = await line.add_page("http://hang.bv/contact")
    await line.add_page(URL)

    await line.work(STAGE)

    # On a slow machine it is due again before the other page is read.
    assert set(await line.outcomes(STAGE, slow)) == {"retried"}
    assert await line.rows("SELECT email FROM contacts WHERE email IS NOT NULL") == [
        ("hello@a.bv",)
    ]


async def test_no_placeholder_is_ever_stored(line: Line) -> None:
    line.web.page(
        "a.bv/contact",
        "<p>name@example.com, your@email.com, logo@2x.png, user@domain.com</p>"
        "<p>Phone: not available</p>",
    )
    await line.add_page(URL)

    await line.work(STAGE)

    assert await line.rows(CONTACTS) == []


async def test_numbers_are_read_by_the_country_of_the_business(line: Line) -> None:
    domain = await line.add_domain("a.com")
    await line.add(LocalBusiness, domain_id=domain, country="GB", name="A")
    line.web.page("a.com/contact", "<p>Phone: 020 7946 0018</p>")
    await line.add_page("http://a.com/contact", domain)

    await line.work(STAGE)

    assert await line.rows(CONTACTS) == [(None, "+442079460018")]


async def test_a_dead_letter_can_be_replayed(line: Line) -> None:
    line.web.fails("a.bv/contact", 403)
    page = await line.add_page(URL)
    await line.work(STAGE)
    line.web.page("a.bv/contact", CONTACT)

    replayed = await curation_sdk.dead_letters.replay(line.engine, STAGE, str(page))
    await line.work(STAGE)

    assert replayed == 1
    row = await line.row(Page, page)
    assert (row.page_processing_status, row.page_processing_error) == ("Complete", None)


async def test_every_value_of_a_contact_has_its_evidence(line: Line) -> None:
    line.web.page(
        "a.bv/contact",
        '<div class="card"><h3>Ada Lovelace</h3><p>Owner</p>'
        '<a href="mailto:ada@a.bv">ada@a.bv</a> <a href="tel:+442079460018">call</a>'
        "</div><p>12 High Street, London SW1A 1AA</p>"
        '<a href="https://www.facebook.com/adas.bakery">Facebook</a>',
    )
    await line.add_page(URL)

    await line.work(STAGE)

    unproven = await line.rows(
        "SELECT v.field, v.value FROM contacts c CROSS JOIN LATERAL ("
        " SELECT 'email', c.email UNION ALL SELECT 'phone', c.phone"
        " UNION ALL SELECT 'name', c.name UNION ALL SELECT 'role', c.role"
        " UNION ALL SELECT 'address', c.address->>'text'"
        " UNION ALL SELECT 'phones', jsonb_object_keys(c.phones)"
        " UNION ALL SELECT key, value FROM jsonb_each_text(c.social_links)"
        ") AS v(field, value) WHERE v.value IS NOT NULL AND NOT EXISTS ("
        " SELECT FROM contact_evidence e WHERE e.contact_id = c.id"
        "  AND e.value = v.value AND e.url <> '' AND e.robots IS NOT NULL)"
    )
    ((known,),) = await line.rows(
        "SELECT num_nonnulls(email, phone, name, role, address) FROM contacts"
    )
    assert unproven == []
    assert known == 5


async def test_a_page_given_up_by_anyone_says_that_its_contacts_were_not_had(
    line: Line,
) -> None:
    line.web.fails("a.bv/contact", *[500] * 5, then="<p>Mail info@a.bv</p>")
    page = await line.add_page("http://a.bv/contact")
    await line.work(STAGE)
    between = await line.row(Page, page)
    for _ in range(4):
        await line.work_again(STAGE)
    dead = await line.row(Page, page)
    await curation_sdk.dead_letters.replay(line.engine, STAGE, str(page))
    await line.work(STAGE)

    assert (between.page_processing_status, between.contact_scrape_status) == (
        "Processing",
        "New",
    )
    assert (dead.page_processing_status, dead.contact_scrape_status) == (
        "Error",
        "Error",
    )
    assert (await line.row(Page, page)).contact_scrape_status == "ContactFound"


class Browser:
    """Renders every page as the same one, or fails."""

    def __init__(self, html: str | None) -> None:
        self.html = html
        self.rendered: list[str] = []

    async def render(self, fetched: FetchResult) -> RenderedPage:
        self.rendered.append(str(fetched.url))
        if self.html is None:
            raise RenderFailed(str(fetched.url), "it took too long")
        return RenderedPage(self.html.encode(), 2, 1)


@contextmanager
def rendered_by(line: Line, browser: Browser) -> Iterator[None]:
    """Hand the stages a browser for a while."""
    object.__setattr__(line.tools, "renderer", browser)
    try:
        yield
    finally:
        object.__setattr__(line.tools, "renderer", None)


SHELL = '<title>Acme</title><div id="root"></div><script src="/app.js"></script>'
"""A page that is empty until its script has run."""


async def test_a_page_that_only_scripts_fill_is_rendered_and_read(line: Line) -> None:
    browser = Browser("<p>Büro: info@a.bv</p>")
    line.web.page("a.bv/contact", SHELL)
    line.web.page("a.bv/team", f"<p>{'We bake bread every day. ' * 9}jo@a.bv</p>")
    page = await line.add_page(URL)
    await line.add_page("http://a.bv/team", (await line.row(Page, page)).domain_id)

    with rendered_by(line, browser):
        await line.work(STAGE)

    assert browser.rendered == [URL]
    assert await line.rows("SELECT email FROM contacts ORDER BY 1") == [
        ("info@a.bv",),
        ("jo@a.bv",),
    ]
    reported = (await line.row(Page, page)).fetch_facts
    assert reported["rendered"] == {"requests": 2, "refused": 1}
    assert reported["needs_script"] == "without its scripts the page has 0 words"


async def test_a_page_that_cannot_be_rendered_is_read_as_it_is(line: Line) -> None:
    line.web.page("a.bv/contact", f"<p>info@a.bv</p>{SHELL}")
    page = await line.add_page(URL)

    with rendered_by(line, Browser(None)):
        await line.work(STAGE)

    assert await line.rows("SELECT email FROM contacts") == [("info@a.bv",)]
    assert (await line.row(Page, page)).page_processing_status == "Complete"


async def test_a_page_that_links_another_that_was_being_settled_was_a_deadlock(
    line: Line,
) -> None:
    linking = '<p>Write to a@a.bv</p><a href="/contact">Contact</a>'
    line.web.page("a.bv/team", linking)
    domain = await line.add_domain("a.bv")
    settling = await line.add_page(URL, domain)
    await line.add_page("http://a.bv/team", domain)

    async with line.engine.connect() as other:
        # What another worker has settled of the site before it waits for its turn there.
        await other.execute(
            text("UPDATE pages SET page_processing_status = 'Complete' WHERE id = :id"),
            {"id": settling},
        )
        assert await line.work(STAGE) == 1
        await other.rollback()

    assert ("a@a.bv", None) in await line.rows(CONTACTS)


async def test_addresses_that_no_contact_stands_beside_were_stored_nowhere(
    line: Line,
) -> None:
    offices = (
        "<h2>Leeds</h2><p>12 Mill Lane, Leeds LS1 4AP, United Kingdom</p>"
        "<h2>York</h2><p>7 Station Road, York YO1 6HT, United Kingdom</p>"
    )
    again = "<p>Our shop: 7 Station Rd, York YO1 6HT, United Kingdom</p>"
    line.web.page("a.bv/offices", f"<html lang=en><h1>Offices</h1>{offices}</html>")
    line.web.page("a.bv/shop", f"<html lang=en><h1>Shop</h1>{again}</html>")
    domain = await line.add_domain()
    for path in ("offices", "shop"):
        await line.add_page(f"http://a.bv/{path}", domain=domain)

    await line.work(STAGE)

    kept = await line.rows(
        "SELECT o->>'postal_code', o->>'url' <> '', o->>'snippet' <> ''"
        " FROM domains, jsonb_array_elements(organisation->'addresses') AS e (o) ORDER BY 1"
    )
    assert kept == [("LS1 4AP", True, True), ("YO1 6HT", True, True)]
    assert await line.rows(CONTACTS) == []


async def test_an_office_that_has_moved_away_is_forgotten(line: Line) -> None:
    both = "<p>12 Mill Lane, Leeds LS1 4AP</p><h2>York</h2><p>7 Mill Road, York YO1 6HT</p>"
    listed = "SELECT jsonb_array_length(organisation->'addresses') FROM domains"
    line.web.page("a.bv/offices", f"<html lang=en><h2>Leeds</h2>{both}</html>")
    await line.add_page("http://a.bv/offices")
    await line.work(STAGE)
    assert await line.rows(listed) == [(2,)]

    line.web.page(
        "a.bv/offices", "<html lang=en><p>12 Mill Lane, Leeds LS1 4AP</p></html>"
    )
    await line.run("UPDATE pages SET page_processing_status = 'Queued'")
    await line.work(STAGE)
    assert await line.rows(listed) == [(1,)]


@pytest.mark.parametrize("first", ["contact", "prices"])
async def test_a_number_that_another_contact_has_was_a_contact_of_its_own(
    line: Line, first: str
) -> None:
    prices = "<html lang=en><p>Oak from 12. Call us: 020 7946 0018</p></html>"
    reach = "<p>Phone 020 7946 0018</p><p>hello@a.bv</p>"
    office = f"<html lang=en><p>12 Mill Lane, Leeds LS1 4AP</p>{reach}</html>"
    line.web.page("a.bv/contact", office)
    line.web.page("a.bv/prices", prices)
    domain = await line.add_domain()
    for path in dict.fromkeys((first, "contact", "prices")):
        await line.add_page(f"http://a.bv/{path}", domain=domain)
        await line.work(STAGE)

    assert await line.rows(CONTACTS) == [("hello@a.bv", "+442079460018")]


async def test_one_address_spelt_twice_was_two_and_a_venue_was_an_office(
    line: Line,
) -> None:
    own = "<p>12 Mill Lane, Leeds LS1 4AP</p>"
    party = (
        "<p>Last autumn all of us met with many guests for a long and cheerful evening at "
        "the hall, 40 Dock Street, Leeds LS10 1JF</p>"
    )
    line.web.page("okelo.bv/contact", f"<html lang=en>{own}</html>")
    line.web.page("okelo.bv/offices", f"<html lang=en>{own}</html>")
    line.web.page(
        "okelo.bv/about", "<html lang=en><p>12 Mill Old Lane, Leeds LS1 4AP</p></html>"
    )
    line.web.page(
        "okelo.bv/about-us", "<html lang=en><p>12 High Lane, Leeds LS1 4AP</p></html>"
    )
    line.web.page("okelo.bv/prices", f"<html lang=en>{party}</html>")
    domain = await line.add_domain("okelo.bv")
    for path in ("contact", "offices", "about", "about-us", "prices"):
        await line.add_page(f"http://okelo.bv/{path}", domain=domain)

    await line.work(STAGE)

    kept = (
        "SELECT o->>'street' FROM domains,"
        " jsonb_array_elements(organisation->'addresses') AS e (o)"
    )
    assert sorted(await line.rows(kept)) == [("12 High Lane",), ("12 Mill Lane",)]
