"""WF7: the people of a business are kept, whether or not they can be written to."""

import pytest

from scrapersky.privacy.person import erase_person
from scrapersky.privacy.subject import any_subject, person_subject
from scrapersky.privacy.suppression import lift, suppress
from scrapersky.records import Page
from scrapersky.records.page import what_is_not_its_own
from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")
STAGE = "page_curation"
TEAM = "http://okelo-dental.bv/team"
IMPRINT = "http://okelo-dental.bv/imprint"
TEAM_PAGE = """<title>Our team - Okelo Dental</title><h1>Okelo Dental</h1><h2>Our team</h2>
<div><h3>Martha Okelo</h3><p>Owner</p></div>
<div><h3>Peter Lindgren</h3><p>Receptionist</p>
<a href="mailto:peter@okelo-dental.bv">peter@okelo-dental.bv</a></div>"""
IMPRINT_PAGE = """<title>Imprint - Okelo Dental</title><h1>Imprint</h1><p>Okelo Dental</p>
<p>Owner: Martha Okelo</p>"""
PEOPLE = "SELECT name, role, seniority::text, email FROM people ORDER BY standing DESC"


async def team(line: Line) -> None:
    line.web.page("okelo-dental.bv/team", TEAM_PAGE)
    line.web.page("okelo-dental.bv/imprint", IMPRINT_PAGE)
    domain = await line.add_domain("okelo-dental.bv")
    await line.add_page(TEAM, domain)
    await line.add_page(IMPRINT, domain)
    await line.work(STAGE)


async def again(line: Line) -> None:
    await line.run("UPDATE pages SET page_processing_status = 'Queued', etag = NULL")
    await line.work(STAGE)


async def test_an_owner_without_an_address_of_their_own_is_kept(line: Line) -> None:
    await team(line)

    assert await line.rows(PEOPLE) == [
        ("Martha Okelo", "Owner", "owner", None),
        ("Peter Lindgren", "Receptionist", "staff", "peter@okelo-dental.bv"),
    ]
    (reason,) = await line.rows(
        "SELECT standing_reason FROM people WHERE role = 'Owner'"
    )
    assert reason == ("owner: Owner; the business bears their name",)


async def test_a_person_on_two_pages_is_one_with_evidence_of_both(line: Line) -> None:
    await team(line)
    await again(line)

    seen = await line.rows(
        "SELECT DISTINCT e->>'url', e->>'robots' <> '', e->>'seen_at' <> '' FROM people,"
        " jsonb_array_elements(evidence) AS e WHERE name = 'Martha Okelo' ORDER BY 1"
    )
    assert seen == [(IMPRINT, True, True), (TEAM, True, True)]
    assert len(await line.rows(PEOPLE)) == 2


async def test_a_page_with_people_only_is_not_called_empty(line: Line) -> None:
    line.web.page("a.bv/team", "<h2>Our team</h2><h3>Martha Okelo</h3><p>Owner</p>")
    page = await line.add_page("http://a.bv/team")

    await line.work(STAGE)

    story = await line.story(STAGE, page)
    assert story.attempts[-1].why is None
    assert [row[0] for row in await line.rows(PEOPLE)] == ["Martha Okelo"]


async def test_the_domain_gets_the_name_that_its_pages_agree_on(line: Line) -> None:
    await team(line)

    named = await line.rows(
        "SELECT d.organisation->>'name', count(p.organisation) FROM domains d"
        " JOIN pages p ON p.domain_id = d.id GROUP BY 1"
    )
    assert named == [("Okelo Dental", 2)]


async def test_hours_and_address_are_kept_though_nobody_can_be_written_to(
    line: Line,
) -> None:
    line.web.page(
        "okelo-dental.bv/imprint",
        IMPRINT_PAGE + "<p>12 Mill Lane</p><p>Ludlow SY8 1PE</p>"
        "<p>Monday to Friday 9:00 - 17:00</p>",
    )
    await line.add_page(IMPRINT)
    await line.work(STAGE)

    reported = await line.rows(
        "SELECT organisation->'hours'->>'text', organisation->'address'->>'postal_code'"
        " FROM domains"
    )
    assert reported == [("Monday to Friday 9:00 - 17:00", "SY8 1PE")]
    assert await line.rows("SELECT id FROM contacts") == []


async def test_a_person_whose_address_is_suppressed_is_not_stored(line: Line) -> None:
    await suppress(line.engine, line.actor, [any_subject("peter@okelo-dental.bv")])

    await team(line)

    assert [row[0] for row in await line.rows(PEOPLE)] == ["Martha Okelo"]


async def test_a_forgotten_person_does_not_come_back_by_name(line: Line) -> None:
    await team(line)

    who = person_subject("Martha OKELO", "okelo-dental.bv")
    await suppress(line.engine, line.actor, [who])
    forgotten = await line.rows(PEOPLE)
    await again(line)

    assert [row[0] for row in forgotten] == ["Peter Lindgren"]
    assert await line.rows(PEOPLE) == forgotten


async def test_erasing_by_address_takes_the_person_and_keeps_them_away(
    line: Line,
) -> None:
    """Later a page names them without their address: they stay erased."""
    await team(line)

    await erase_person(line.engine, line.actor, any_subject("peter@okelo-dental.bv"))
    line.web.page(
        "okelo-dental.bv/imprint", IMPRINT_PAGE + "<p>Manager: Peter Lindgren</p>"
    )
    await again(line)

    assert [row[0] for row in await line.rows(PEOPLE)] == ["Martha Okelo"]
    assert await line.rows("SELECT count(*) FROM suppressions") == [(2,)]


async def test_the_values_of_others_are_kept_under_the_page_and_are_no_contacts(
    line: Line,
) -> None:
    line.web.page(
        "okelo-dental.bv/imprint",
        IMPRINT_PAGE + "<p>Phone: +44 20 7946 0018</p><h2>Supervisory authority</h2>"
        "<p>Dental Board</p><p>Phone: +44 20 7946 0999</p>",
    )
    page = await line.add_page(IMPRINT)
    await line.work(STAGE)

    assert await line.rows("SELECT phone FROM contacts") == [("+442079460018",)]
    reported = "SELECT o->>'value', o->>'whose' FROM pages, jsonb_array_elements(other_values) o"
    assert await line.rows(reported) == [("+442079460999", "third_party")]
    (origin,) = what_is_not_its_own(await line.row(Page, page))
    assert origin.value == "+442079460999"
    assert origin.method.startswith("third party: stands under ")

    await suppress(line.engine, line.actor, [any_subject("+442079460999")])
    assert await line.rows(reported) == []


NAMED = "SELECT email, name, role FROM contacts ORDER BY email"
LIST_PAGE = """<title>Contact</title><p>Write to us: mokelo@okelo-dental.bv,
lindgren@okelo-dental.bv or info@okelo-dental.bv</p>"""


async def site(line: Line, *pages: tuple[str, str]) -> None:
    domain = await line.add_domain("okelo-dental.bv")
    for path, html in pages:
        line.web.page(f"okelo-dental.bv/{path}", html)
        await line.add_page(f"http://okelo-dental.bv/{path}", domain)
        await line.work(STAGE)


@pytest.mark.parametrize("order", [1, -1])
async def test_an_address_is_named_after_whom_another_page_names(
    line: Line, order: int
) -> None:
    team = TEAM_PAGE.replace("peter@okelo-dental.bv", "")
    await site(line, *[("team", team), ("contact", LIST_PAGE)][::order])

    assert await line.rows(NAMED) == [
        ("info@okelo-dental.bv", None, None),
        ("lindgren@okelo-dental.bv", "Peter Lindgren", "Receptionist"),
        ("mokelo@okelo-dental.bv", "Martha Okelo", "Owner"),
    ]
    assert [email for *_, email in await line.rows(PEOPLE)] == [
        "mokelo@okelo-dental.bv",
        "lindgren@okelo-dental.bv",
    ]
    evidence = await line.rows(
        "SELECT DISTINCT value, url FROM contact_evidence WHERE field = 'name' ORDER BY 1"
    )
    assert evidence == [("Martha Okelo", TEAM), ("Peter Lindgren", TEAM)]


async def test_an_address_that_two_people_could_have_is_nobodys(line: Line) -> None:
    team = "<h2>Our team</h2><h3>Martha Okelo</h3><p>Owner</p><h3>Mark Okelo</h3><p>Dentist</p>"
    await site(line, ("team", team), ("contact", LIST_PAGE))

    assert {name for _, name, _ in await line.rows(NAMED)} == {None}


async def test_a_postal_code_is_kept_whichever_page_is_read_first(line: Line) -> None:
    short = "<p>info@okelo-dental.bv</p><p>12 High Street</p>"
    whole = "<p>info@okelo-dental.bv</p><p>12 High Street, London SW1A 1AA</p>"
    await site(line, ("team", short), ("contact", whole))

    assert await line.rows("SELECT address->>'postal_code' FROM contacts") == [
        ("SW1A 1AA",)
    ]


@pytest.mark.parametrize("order", [1, -1])
async def test_a_direct_number_stays_its_person_s_on_whatever_page_it_stands(
    line: Line, order: int
) -> None:
    card = "<div><h3>Martha Okelo</h3><p>Owner</p><p>Mobile: +44 7911 123456</p></div>"
    bare = "<p>In emergencies: +44 7911 123456</p>"
    await site(line, *[("team", card), ("contact", bare)][::order])

    assert await line.rows(
        "SELECT name, phones->'+447911123456'->>'whose' FROM contacts"
    ) == [("Martha Okelo", "staff")]


async def test_an_address_that_no_visitor_sees_was_given_to_the_owner_by_another_page(
    line: Line,
) -> None:
    planted = "martha.okelo@gmail.com</p><p>okelo@okelo-dental.bv"
    news = f"<h1>News</h1><noscript><p>{planted}</p></noscript>"
    line.web.page("okelo-dental.bv/news", news)
    await team(line)
    ((domain,),) = await line.rows("SELECT id FROM domains")

    await line.add_page("http://okelo-dental.bv/news", domain)
    await line.work(STAGE)

    named = await line.rows("SELECT email, name FROM contacts ORDER BY email")
    assert named == [
        ("martha.okelo@gmail.com", None),
        ("okelo@okelo-dental.bv", "Martha Okelo"),
        ("peter@okelo-dental.bv", "Peter Lindgren"),
    ]
    assert (await line.rows(PEOPLE))[0][3] == "okelo@okelo-dental.bv"


async def test_whoever_asked_to_be_left_alone_came_back_by_name(line: Line) -> None:
    await team(line)
    done = await suppress(
        line.engine, line.actor, [any_subject("peter@okelo-dental.bv")]
    )
    line.web.page(
        "okelo-dental.bv/imprint", IMPRINT_PAGE + "<p>Manager: Peter Lindgren</p>"
    )
    line.web.page("okelo-dental.bv/team", "<h1>Okelo Dental</h1><p>We have moved.</p>")

    await again(line)

    names = "SELECT name FROM people ORDER BY name"
    assert await line.rows(names) == [("Martha Okelo",)]
    await lift(line.engine, line.actor, done.ids[0])
    await again(line)
    assert await line.rows(names) == [("Martha Okelo",), ("Peter Lindgren",)]


async def test_a_mailbox_that_many_share_takes_nobody_along(line: Line) -> None:
    page = TEAM_PAGE.replace("peter@", "info@")
    line.web.page("okelo-dental.bv/team", page)
    await line.add_page(TEAM)
    await line.work(STAGE)

    await suppress(line.engine, line.actor, [any_subject("info@okelo-dental.bv")])
    await again(line)

    kept = await line.rows("SELECT name FROM people ORDER BY name")
    assert ("Peter Lindgren",) in kept


ALONE = "<p>Owner: Martha Okelo</p><p>info@okelo-dental.bv</p>"
NAMED = "SELECT email, name, role FROM contacts ORDER BY email"


async def test_the_inbox_of_a_business_of_one_person_reached_nobody(line: Line) -> None:
    await site(line, ("imprint", IMPRINT_PAGE), ("contact", "info@okelo-dental.bv"))

    assert await line.rows(NAMED) == [
        ("info@okelo-dental.bv", "Martha Okelo", "Owner"),
    ]
    assert await line.rows("SELECT name, email FROM people") == [("Martha Okelo", None)]
    (seen,) = await line.rows(
        "SELECT method, url, confidence < 0.9 FROM contact_evidence WHERE field = 'name'"
    )
    assert seen == ("only_person", IMPRINT, True)


async def test_an_inbox_stayed_the_only_person_s_when_a_page_named_another(
    line: Line,
) -> None:
    await site(line, ("imprint", IMPRINT_PAGE), ("contact", "info@okelo-dental.bv"))
    ((domain,),) = await line.rows("SELECT id FROM domains")
    line.web.page("okelo-dental.bv/team", TEAM_PAGE)

    await line.add_page(TEAM, domain)
    await line.work(STAGE)

    assert await line.rows(NAMED) == [
        ("info@okelo-dental.bv", None, None),
        ("peter@okelo-dental.bv", "Peter Lindgren", "Receptionist"),
    ]
    assert not await line.rows(
        "SELECT 1 FROM contact_evidence WHERE method = 'only_person'"
    )


async def test_an_inbox_was_named_before_all_pages_of_its_site_were_read(
    line: Line,
) -> None:
    line.web.page("okelo-dental.bv/contact", ALONE)
    domain = await line.add_domain("okelo-dental.bv")
    await line.add_page("http://okelo-dental.bv/contact", domain)
    await line.add_page(TEAM, domain)
    await line.run(
        f"UPDATE pages SET page_processing_status = 'Processing' WHERE url = '{TEAM}'"
    )

    await line.work(STAGE)

    assert await line.rows("SELECT email, name FROM contacts") == [
        ("info@okelo-dental.bv", None)
    ]
