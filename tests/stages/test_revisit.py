"""A website that is visited again: what differs is kept, and nothing that people wrote is lost."""

from uuid import UUID

import pytest
from sqlalchemy import text

from scrapersky.api.records.contact import change_contact
from scrapersky.export.contacts import contact_rows
from scrapersky.privacy.retention import RETENTION_RULES, purge_expired
from scrapersky.privacy.subject import any_subject
from scrapersky.privacy.suppression import suppress
from scrapersky.records import Contact, Page, SitemapFile
from scrapersky.revisits.visit import begin
from simulated_town.sites.reply import Reply
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
URL, MAP = "http://a.bv/contact", "http://a.bv/sitemap.xml"
DIFFERENCES = "SELECT what, field, old_value, new_value FROM differences ORDER BY id"
EVIDENCE = "SELECT DISTINCT value FROM contact_evidence WHERE gone_at IS NULL AND field = 'phone'"


def contact_page(phone: str, *, email: str = "ada@a.bv", note: str = "") -> str:
    return (
        '<html lang="en"><title>Contact</title><h1>Contact us</h1>'
        '<div class="card"><h3>Ada Lovelace</h3><p>Owner</p>'
        f'<p><a href="mailto:{email}">{email}</a></p>'
        f'<p><a href="tel:{phone}">{phone}</a></p></div><!--{note}--></html>'
    )


OLD, NEW = "+442079460018", "+442079460123"


async def read_first(line: Line, body: str = "") -> UUID:
    line.web.page("a.bv/contact", body or contact_page(OLD))
    page = await line.add_page(URL)
    await line.work("page_curation")
    return UUID(str((await line.row(Page, page)).domain_id))


async def visit(line: Line, domain: UUID) -> None:
    async with line.engine.begin() as connection:
        await begin(connection, [domain])
    line.web.asked.clear()
    await line.work("sitemap_import")
    await line.work("page_curation")


async def test_a_number_that_changed_is_kept_old_and_new_with_both_sources(
    line: Line,
) -> None:
    domain = await read_first(line)
    line.web.page("a.bv/contact", contact_page(NEW))

    await visit(line, domain)

    assert await line.rows(DIFFERENCES) == [("changed", "phone", OLD, NEW)]
    sources = "SELECT old_source, new_source, old_seen_at IS NOT NULL FROM differences"
    assert await line.rows(sources) == [(URL, URL, True)]
    assert await line.rows("SELECT phone FROM contacts") == [(NEW,)]
    assert await line.rows(EVIDENCE) == [(NEW,)]
    logged = "SELECT kind, fields, details->>'what' FROM record_changes WHERE event = 'differed'"
    assert await line.rows(logged) == [("domains", ["phone"], "changed")]


async def test_a_page_that_is_written_anew_for_everyone_differed_on_every_visit(
    line: Line,
) -> None:
    domain = await read_first(line, contact_page(OLD, note="1"))

    for turn in ("2", "3"):
        line.web.page("a.bv/contact", contact_page(OLD, note=turn))
        await visit(line, domain)

    assert await line.rows(DIFFERENCES) == []


@pytest.mark.slow
async def test_a_number_that_is_another_on_every_visit_was_reported_each_time(
    line: Line,
) -> None:
    domain = await read_first(line)

    for turn in range(8):
        line.web.page("a.bv/contact", contact_page(OLD if turn % 2 else NEW))
        await visit(line, domain)

    found = await line.rows(DIFFERENCES)
    assert found == [("changed", "phone", OLD, NEW), ("changed", "phone", NEW, OLD)]


async def test_what_a_person_wrote_was_overwritten_by_a_visit(line: Line) -> None:
    domain = await read_first(line)
    ((contact,),) = await line.rows("SELECT id FROM contacts")
    by_hand = {"name": "Ada King", "phone": "+442079469999", "notes": "call at noon"}
    async with line.engine.begin() as connection:
        await change_contact(connection, line.actor, contact, by_hand, "*")
    line.web.page("a.bv/contact", contact_page(NEW))

    await visit(line, domain)

    row = await line.row(Contact, contact)
    assert {name: getattr(row, name) for name in by_hand} == by_hand
    assert await line.rows(DIFFERENCES) == [("changed", "phone", OLD, NEW)]


@pytest.mark.parametrize("is_page_gone", [True, False])
async def test_where_a_business_had_been_stayed_its_address(
    line: Line, is_page_gone: bool
) -> None:
    where = (
        '<script type="application/ld+json">{"@context": "https://schema.org",'
        ' "@type": "LocalBusiness", "name": "Ada Ltd", "address": {"@type":'
        ' "PostalAddress", "streetAddress": "1 High Street", "postalCode": "SW1A 1AA",'
        ' "addressLocality": "London", "addressCountry": "GB"}}</script>'
    )
    domain = await read_first(line, contact_page(OLD))
    line.web.page("a.bv/about", contact_page(OLD).replace("<h1>", f"{where}<h1>"))
    await line.add_page("http://a.bv/about", domain)
    await line.work("page_curation")
    said = "SELECT organisation->'addresses'->0->>'street' FROM domains"
    before = await line.rows(said)
    if is_page_gone:
        line.web.fails("a.bv/about", 404)
    else:
        line.web.page("a.bv/about", contact_page(OLD, note="anew"))

    for _ in range(4):
        await visit(line, domain)

    assert before == [("1 High Street",)]
    assert await line.rows(said) == [(None,)]


async def test_an_address_that_is_gone_stays_with_what_was_written_about_it(
    line: Line,
) -> None:
    domain = await read_first(line)
    await line.run("UPDATE contacts SET notes = 'a friend'")
    line.web.page("a.bv/contact", contact_page(OLD, email="lovelace@a.bv"))

    await visit(line, domain)

    rows = "SELECT email, gone_at IS NOT NULL, notes FROM contacts ORDER BY email"
    assert await line.rows(rows) == [
        ("ada@a.bv", True, "a friend"),
        ("lovelace@a.bv", False, None),
    ]
    assert await line.rows(DIFFERENCES) == [
        ("changed", "email", "ada@a.bv", "lovelace@a.bv")
    ]

    line.web.page("a.bv/contact", contact_page(OLD))
    await visit(line, domain)

    assert (await line.rows(rows))[0] == ("ada@a.bv", False, "a friend")


async def test_a_file_named_who_had_left_and_marked_no_address_that_was_gone(
    line: Line,
) -> None:
    domain = await read_first(line)
    now = contact_page(NEW, email="grace@a.bv").replace("Ada Lovelace", "Grace Hopper")
    line.web.page("a.bv/contact", now.replace("Owner", "Assistant"))

    await visit(line, domain)

    rows = [row async for row in contact_rows(line.engine, line.actor.tenant_id)]
    assert {row["email"]: row["gone_at"] is not None for row in rows} == {
        "ada@a.bv": True,
        "grace@a.bv": False,
    }
    assert {row["decision_maker"] for row in rows} == {"Grace Hopper"}


async def test_a_website_that_did_not_answer_was_taken_for_gone(line: Line) -> None:
    domain = await read_first(line)
    line.web.fails("a.bv/contact", 500)

    await visit(line, domain)
    await line.work_again("page_curation")

    assert [row[:2] for row in await line.rows(DIFFERENCES)] == [("unreachable", None)]
    assert await line.rows("SELECT gone_at FROM contacts") == [(None,)]
    assert await line.rows(EVIDENCE) == [(OLD,)]

    line.web.page("a.bv/contact", contact_page(OLD))
    await visit(line, domain)

    assert [row[0] for row in await line.rows(DIFFERENCES)] == ["unreachable", "back"]


async def test_an_unchanged_website_took_more_than_one_request(line: Line) -> None:
    line.web.sitemap("a.bv/sitemap.xml", URL, lastmod="2026-10-01")
    domain = await line.add_domain()
    sitemap = await line.add_sitemap(MAP, domain)
    await line.work("sitemap_import")
    line.web.page("a.bv/contact", contact_page(OLD))
    await line.run("UPDATE pages SET page_processing_status = 'Queued'")
    await line.work("page_curation")
    etag = (await line.row(SitemapFile, sitemap)).etag
    said = line.web.says["a.bv/sitemap.xml"]
    line.web.says["a.bv/sitemap.xml"] = Reply(status=304, headers=(("ETag", etag),))

    await visit(line, domain)

    assert line.web.asked == ["a.bv/sitemap.xml"]

    line.web.says["a.bv/sitemap.xml"] = said
    line.web.sitemap("a.bv/sitemap.xml", URL, lastmod="2026-11-02")
    line.web.page("a.bv/contact", contact_page(NEW))
    await visit(line, domain)

    assert line.web.asked == ["a.bv/sitemap.xml", "a.bv/contact"]
    assert await line.rows(DIFFERENCES) == [("changed", "phone", OLD, NEW)]


async def test_a_website_is_visited_sooner_where_something_changed(line: Line) -> None:
    domain = await read_first(line)
    pauses = []

    for phone in (OLD, OLD, NEW, NEW):
        line.web.page("a.bv/contact", contact_page(phone))
        await visit(line, domain)
        ((pause,),) = await line.rows("SELECT extract(day FROM pause) FROM site_visits")
        pauses.append(int(pause))

    assert pauses == [7, 14, 7, 14]


async def test_what_a_site_may_cost_was_used_up_by_years_of_visits(line: Line) -> None:
    domain = await read_first(line)
    await line.run("UPDATE site_usage SET pages_fetched = 500")
    line.web.page("a.bv/contact", contact_page(NEW))

    await visit(line, domain)

    assert await line.rows(DIFFERENCES) == [("changed", "phone", OLD, NEW)]


async def test_an_erased_contact_takes_what_differed_of_it_along(line: Line) -> None:
    domain = await read_first(line)
    line.web.page("a.bv/contact", contact_page(OLD, email="lovelace@a.bv"))
    await visit(line, domain)

    await line.run("DELETE FROM contacts WHERE email = 'ada@a.bv'")

    assert await line.rows(DIFFERENCES) == []


async def test_a_contact_that_its_website_still_has_was_forgotten_for_its_age(
    line: Line,
) -> None:
    domain = await read_first(line)
    await visit(line, domain)
    old = "SET LOCAL scrapersky.keep_updated_at = 'on'"
    async with line.engine.begin() as connection:
        await connection.execute(text(old))
        await connection.execute(
            text("UPDATE contacts SET updated_at = now() - interval '400 days'")
        )

    days = dict.fromkeys((rule.setting for rule in RETENTION_RULES), 0)
    days["CONTACT_DAYS"] = 365
    await purge_expired(line.engine, days)
    assert len(await line.rows("SELECT id FROM contacts")) == 1

    await line.run("UPDATE site_visits SET visited_at = now() - interval '400 days'")
    await purge_expired(line.engine, days)
    assert await line.rows("SELECT id FROM contacts") == []


async def test_a_number_that_was_suppressed_stayed_in_what_had_differed(
    line: Line,
) -> None:
    domain = await read_first(line)
    line.web.page("a.bv/contact", contact_page(NEW))
    await visit(line, domain)

    await suppress(line.engine, line.actor, [any_subject(OLD)])

    assert await line.rows(DIFFERENCES) == []
    held = "SELECT count(*) FROM contact_evidence WHERE value = :old"
    assert await line.rows(held, old=OLD) == [(0,)]


async def test_a_website_of_which_no_page_is_held_was_due_for_ever(line: Line) -> None:
    domain = await read_first(line)
    await visit(line, domain)
    await line.run("DELETE FROM pages")

    async with line.engine.begin() as connection:
        await begin(connection, [domain])

    later = "SELECT next_at > now() + interval '20 days' FROM site_visits"
    assert await line.rows(later) == [(True,)]


PLAIN = '<html lang="en"><title>{0}</title><h1>{0}</h1><p>{1}</p></html>'
WALLS = {
    "a challenge": PLAIN.format(
        "Just a moment...", "Checking your browser before accessing a.bv"
    ),
    "a parking page": PLAIN.format("a.bv", "This domain may be for sale."),
    "a notice": PLAIN.format("Maintenance", "We will be back soon"),
    "a login": '<title>Log in</title><form><input type="password"><button>Log in</form>',
    "nothing": "<html></html>",
}


@pytest.mark.parametrize("wall", WALLS)
async def test_what_stood_in_place_of_a_page_had_taken_all_its_values(
    line: Line, wall: str
) -> None:
    domain = await read_first(line)
    line.web.page("a.bv/contact", WALLS[wall])

    await visit(line, domain)
    await line.work_again("page_curation")

    assert [row[:2] for row in await line.rows(DIFFERENCES)] == [("unreachable", None)]
    assert await line.rows("SELECT gone_at FROM contacts") == [(None,)]
    assert await line.rows(EVIDENCE) == [(OLD,)]


async def test_a_server_that_refuses_a_known_page_says_nothing_of_it(
    line: Line,
) -> None:
    domain = await read_first(line)
    line.web.fails("a.bv/contact", 403)

    await visit(line, domain)
    await line.work_again("page_curation")

    told = "SELECT what, new_value FROM differences"
    assert await line.rows(told) == [("unreachable", "the server answered 403")]
    assert await line.rows("SELECT gone_at FROM contacts") == [(None,)]


async def test_one_page_that_is_not_to_be_had_made_its_website_unreachable(
    line: Line,
) -> None:
    domain = await read_first(line)
    line.web.page("a.bv/team", contact_page(NEW, email="bob@a.bv"))
    await line.add_page("http://a.bv/team", domain)
    await line.work("page_curation")
    line.web.page("a.bv/contact", WALLS["nothing"])

    await visit(line, domain)
    await line.work_again("page_curation")

    assert await line.rows(DIFFERENCES) == []


async def test_a_domain_where_something_else_stands_is_judged_again(
    line: Line,
) -> None:
    shop = PLAIN.format("A Shop", "We sell things. " * 40)
    line.web.page("a.bv/", shop)
    domain = await line.add_domain(status="completed", verdict="own_site")
    line.web.page("a.bv/contact", contact_page(OLD))
    await line.add_page(URL, domain)
    await line.work("page_curation")
    verdicts = []

    for home, contact in (
        (WALLS["a parking page"],) * 2,
        (shop, contact_page(OLD)),
    ):
        line.web.page("a.bv/", home)
        line.web.page("a.bv/contact", contact)
        await visit(line, domain)
        await line.work_again("page_curation")
        await line.work("domain_metadata")
        verdicts += await line.rows("SELECT verdict FROM domains")

    assert verdicts == [("for_sale",), ("own_site",)]


async def test_a_role_that_is_another_one_follows_its_page(line: Line) -> None:
    domain = await read_first(line)
    now = contact_page(OLD).replace("Owner", "Managing Director")
    line.web.page("a.bv/contact", now)

    await visit(line, domain)

    who = "Ada Lovelace: "
    assert await line.rows(DIFFERENCES) == [
        ("changed", "role", f"{who}Owner", f"{who}Managing Director")
    ]
    roles = "SELECT c.role, p.role FROM contacts c, people p"
    assert await line.rows(roles) == [("Managing Director", "Managing Director")]


async def test_the_fourth_of_a_website_to_be_something_else_was_not_told(
    line: Line,
) -> None:
    names = ["Ada Lovelace", "Grace Hopper", "Mary Somerville", "Emmy Noether"]
    roles = dict.fromkeys(names, "Director")

    def team() -> str:
        cards = (
            f'<div class="card"><h3>{name}</h3><p>{role}</p></div>'
            for name, role in roles.items()
        )
        return f'<html lang="en"><title>Team</title><h1>Our team</h1>{"".join(cards)}</html>'

    domain = await read_first(line, team())
    for name in names:
        roles[name] = "Managing Director"
        line.web.page("a.bv/contact", team())
        await visit(line, domain)

    told = "SELECT old_value FROM differences WHERE field = 'role' ORDER BY id"
    assert await line.rows(told) == [(f"{name}: Director",) for name in names]


async def test_the_words_around_a_value_were_those_of_an_older_page(
    line: Line,
) -> None:
    page = '<html lang="en"><title>Contact</title><h1>Contact</h1><p>{}: {}</p></html>'
    domain = await read_first(line, page.format("Our owner answers", OLD))
    line.web.page("a.bv/contact", page.format("Our carpenter answers", OLD))

    await visit(line, domain)

    quoted = "SELECT snippet FROM contact_evidence WHERE field = 'phone'"
    ((snippet,),) = await line.rows(quoted)
    assert "carpenter" in snippet


async def test_an_address_that_somebody_else_has_kept_the_name_of_who_left(
    line: Line,
) -> None:
    domain = await read_first(line)
    now = contact_page(OLD).replace("Ada Lovelace", "Grace Hopper")
    line.web.page("a.bv/contact", now)

    await visit(line, domain)

    found = await line.rows("SELECT what, old_value, new_value FROM differences")
    assert sorted(found) == [
        ("gone", "Ada Lovelace", None), ("new", None, "Grace Hopper"),
    ]  # fmt: skip
    assert await line.rows("SELECT name FROM contacts") == [("Grace Hopper",)]


async def test_what_a_person_took_away_was_filled_in_by_a_visit(line: Line) -> None:
    domain = await read_first(line)
    ((contact,),) = await line.rows("SELECT id FROM contacts")
    cleared = dict.fromkeys(("name", "role", "phone"))
    async with line.engine.begin() as connection:
        await change_contact(connection, line.actor, contact, cleared, "*")
    line.web.page("a.bv/contact", contact_page(OLD, note="other"))

    await visit(line, domain)

    row = await line.row(Contact, contact)
    assert {name: getattr(row, name) for name in cleared} == cleared


@pytest.mark.slow
async def test_pages_that_repeat_what_others_say_were_all_asked_for(line: Line) -> None:
    domain = await read_first(line)
    for number in range(6):
        line.web.page(f"a.bv/{number}", contact_page(OLD, note=str(number)))
        await line.add_page(f"http://a.bv/{number}", domain)
    await line.work("page_curation")

    await visit(line, domain)
    asked_when_nothing_changed = len(line.web.asked)
    for place in ["contact", *map(str, range(6))]:
        line.web.page(f"a.bv/{place}", contact_page(NEW))
    await visit(line, domain)

    assert asked_when_nothing_changed == 1
    assert len(line.web.asked) == 7
    assert await line.rows(DIFFERENCES) == [("changed", "phone", OLD, NEW)]


async def test_a_page_was_asked_for_whose_values_stand_on_two_others(
    line: Line,
) -> None:
    domain = await read_first(line)
    number, address = "+442079460456", "12 Mill Lane, London N1 7AA"
    line.web.page(
        "a.bv/imprint",
        f"<p><a href='mailto:ada@a.bv'>ada@a.bv</a> <a href='tel:{OLD}'>{OLD}</a></p>"
        f"<p><a href='tel:{number}'>{number}</a></p><address>{address}</address>",
    )
    line.web.page(
        "a.bv/about",
        f"<p><a href='mailto:office@a.bv'>office@a.bv</a> <a href='tel:{number}'>x</a></p>"
        f"<address>{address.replace(',', '')}</address>",
    )
    for place in ("imprint", "about"):
        await line.add_page(f"http://a.bv/{place}", domain)
    await line.work("page_curation")

    await visit(line, domain)

    assert sorted(line.web.asked) == ["a.bv/about", "a.bv/contact"]


async def test_the_rest_was_not_asked_for_where_a_sitemap_only_seemed_to_tell(
    line: Line,
) -> None:
    other = "http://a.bv/imprint"
    line.web.sitemap("a.bv/sitemap.xml", URL, other, lastmod="2026-10-01")
    domain = await line.add_domain()
    await line.add_sitemap(MAP, domain)
    await line.work("sitemap_import")
    line.web.page("a.bv/contact", contact_page(OLD))
    line.web.page("a.bv/imprint", contact_page(OLD, note="imprint"))
    await line.run("UPDATE pages SET page_processing_status = 'Queued'")
    await line.work("page_curation")
    # Without these it would be sent as a whole each time, so it is not asked.
    await line.run("UPDATE sitemap_files SET etag = NULL, last_modified = NULL")
    for place in ("contact", "imprint"):
        line.web.page(f"a.bv/{place}", contact_page(NEW, note=place))

    await visit(line, domain)

    assert sorted(line.web.asked) == ["a.bv/contact", "a.bv/imprint"]
    assert await line.rows(DIFFERENCES) == [("changed", "phone", OLD, NEW)]
