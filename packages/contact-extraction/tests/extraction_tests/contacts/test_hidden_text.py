"""What no visitor sees is not a contact of the business.

Whoever plants an address in hidden text was once believed like the page itself.
"""

import pytest

from contact_extraction.contact_card import ContactCard, cards_of
from contact_extraction.contacts import Contacts
from contact_extraction.contacts.confidence import LEAST_SURE
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.html import parse_page
from contact_extraction.html.sight import DOUBTED, FOLDED, OPENED, SEEN
from contact_extraction.person_card import people_of

PAGE = (
    '<html lang="en"><title>Fern Dental</title><h1>Fern Dental</h1>{head}'
    "<div class='card'><p>Jane Roe, Owner</p><p>Call (212) 736-5000</p></div>"
    "<p>info@fern.com</p>{body}"
)
PLANTED = "jane.roe@evil.org"
BRANCH = (
    "<p>Branch office</p><p>12 Elm Street</p><p>Austin, TX 78701</p>"
    "<p>Tel: (512) 472-1234 for appointments</p>"
)


def read(body: str, head: str = "") -> Contacts:
    return find_contacts(PAGE.format(head=head, body=body), "https://fern.com/")


def addresses(contacts: Contacts) -> dict[str, float]:
    return {email.address: email.confidence for email in contacts.emails}


def card_with(contacts: Contacts, address: str) -> ContactCard:
    return next(c for c in cards_of(contacts) if c.email and c.email.address == address)


HIDDEN = {
    "white on white": '<p style="color:#fff;background:#fff">{}</p>',
    "nearly white on white": '<p style="color:#fefefe;background-color:#ffffff">{}</p>',
    "by name on by number": '<p style="color: white; background: rgb(255,255,255)">{}</p>',
    "black on black": '<p style="color:#000;background:#010101">{}</p>',
    "on the ground of a block": (
        '<div style="background:#FFF"><p><b style="color:#ffffff">{}</b></p></div>'
    ),
    "of a table": '<table bgcolor="#ffffff"><td><font color="#FFFFFF">{}</font></table>',
    "of the body": '<style>body {{background: #fff}}</style><p style="color:#fff">{}</p>',
    "by one class": "<style>.h{{color:#fff;background:#fff}}</style><p class=h>{}</p>",
    "by two classes": (
        "<style>.i{{color:#fff}} .g{{background:#fff}}</style>"
        "<div class=g><p class=i>{}</p></div>"
    ),
    "without colour": '<p style="color: transparent">{}</p>',
    "without colour, by class": (
        "<style>.h{{color:transparent}}</style><p class=h>{}</p>"
    ),
    "without size": '<p style="font-size:0">{}</p>',
    "without size, by class": "<style>.h{{font-size:0px}}</style><p class=h>{}</p>",
    "not displayed": '<p style="display:none">{}</p>',
    "not visible": "<style>.h{{visibility:hidden}}</style><p class=h>{}</p>",
    "faded": '<p style="opacity:0">{}</p>',
    "far left": '<p style="position:absolute;left:-9999px">{}</p>',
    "indented away": "<style>.h{{text-indent:-9999px}}</style><p class=h>{}</p>",
    "hidden": "<p hidden>{}</p>",
}


@pytest.mark.parametrize("html", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize(
    "planted",
    [
        PLANTED,
        f'<a href="mailto:{PLANTED}">Write</a>',
        "jane.roe [at] evil.org",
        f'See <span class="vcard"><span class="email">{PLANTED}</span></span>',
        f'<span data-email="{PLANTED}"></span>',
    ],
    ids=["text", "link", "spelt", "hCard", "attribute"],
)
def test_an_address_in_hidden_text_became_the_owners(html: str, planted: str) -> None:
    contacts = read(html.format(planted))

    assert list(addresses(contacts)) == ["info@fern.com"]
    assert [link for link in contacts.links if link.email] == []


@pytest.mark.parametrize("html", HIDDEN.values(), ids=HIDDEN)
def test_somebody_named_in_hidden_text_became_the_decision_maker(html: str) -> None:
    contacts = read(html.format("Victor Grant, Chief Executive Officer"))

    assert [person.name for person in contacts.people] == ["Jane Roe"]


DOUBTFUL = {
    "noscript": "<noscript><p>{}</p></noscript>",
    "aria-hidden": '<div aria-hidden="true"><p>{}</p></div>',
    "aria-hidden in a line": '<p>Mail <span aria-hidden="true">{}</span></p>',
    "for screen readers": '<p>Mail <span class="sr-only">{}</span></p>',
    "clipped": '<p style="position:absolute;clip:rect(0,0,0,0)">{}</p>',
    "clipped, by class": (
        "<style>.h{{clip: rect(1px, 1px, 1px, 1px); left:-9999px}}</style><p class=h>{}</p>"
    ),
    "faded by class": "<style>.h{{opacity:0}}</style><p class=h>{}</p>",
}


@pytest.mark.parametrize("html", DOUBTFUL.values(), ids=DOUBTFUL)
@pytest.mark.parametrize(
    "planted",
    [PLANTED, f'<a href="mailto:{PLANTED}">Write to us</a>'],
    ids=["text", "link"],
)
def test_what_visitors_may_not_see_is_less_sure_and_nobodys(
    html: str, planted: str
) -> None:
    contacts = read(html.format(planted))

    assert 0 < addresses(contacts)[PLANTED] < LEAST_SURE
    assert contacts.emails[0].address == "info@fern.com"
    card = card_with(contacts, PLANTED)
    assert (card.name, card.phone) == (None, None)


@pytest.mark.parametrize("html", DOUBTFUL.values(), ids=DOUBTFUL)
def test_whom_visitors_may_not_see_stands_behind_everybody_else(html: str) -> None:
    contacts = find_contacts(
        "<html lang=en><h1>Our team</h1><p>Jane Roe, Receptionist</p>"
        + html.format("Victor Grant, Owner"),
        "https://fern.com/team",
    )

    people = people_of(contacts, cards_of(contacts), "fern.com")
    first = max(people, key=lambda person: person.standing)

    assert {person.name for person in people} == {"Jane Roe", "Victor Grant"}
    assert first.name == "Jane Roe"


def test_a_mailbox_of_the_business_is_the_persons_wherever_it_stands() -> None:
    contacts = read('<div aria-hidden="true"><p>jane.roe@fern.com</p></div>')

    assert card_with(contacts, "jane.roe@fern.com").name == "Jane Roe"


@pytest.mark.parametrize("html", (HIDDEN | DOUBTFUL).values(), ids=HIDDEN | DOUBTFUL)
def test_what_is_also_shown_is_as_sure_as_what_is_only_shown(html: str) -> None:
    alone = read(f"<p>{PLANTED}</p>")

    contacts = read(f"<p>{PLANTED}</p>" + html.format(PLANTED))

    assert addresses(contacts)[PLANTED] >= addresses(alone)[PLANTED]
    assert card_with(contacts, PLANTED).name == "Jane Roe"


VISIBLE = {
    "white on an unknown ground": '<p style="color:#fff">{}</p>',
    "white on dark": '<div style="background:#222"><p style="color:#fff">{}</p></div>',
    "white on a picture": (
        '<div style="background:#fff url(a.jpg)"><p style="color:#fff">{}</p></div>'
    ),
    "white in a section that another file may paint": (
        '<div style="background:#fff"><div class="dark"><p style="color:#fff">{}</p></div></div>'
    ),
    "white in a footer": (
        "<style>body{{background:#fff}}</style><footer><p style='color:#fff'>{}</p></footer>"
    ),
    "a class that another file paints": (
        "<link rel=stylesheet href=a.css><style>body{{background:#fff}} .w{{color:#fff}}</style>"
        "<p class=w>{}</p>"
    ),
    "a button": (
        "<style>body{{background:#fff}} .b{{color:#fff}} .b{{background:#06c}}</style>"
        "<p class=b>{}</p>"
    ),
    "colours of two menus": (
        "<style>.a .w{{color:#fff}} .b .w{{background:#fff}}</style><p class=w>{}</p>"
    ),
    "hidden on small screens": (
        "<style>@media (max-width:600px){{.m{{display:none;opacity:0}}}}</style>"
        "<p class=m>{}</p>"
    ),
    "white on white on paper": (
        "<style>@media print{{.m{{color:#fff;background:#fff}}}}</style><p class=m>{}</p>"
    ),
    "fading in": "<style>.f{{opacity:0;transition:opacity 1s}}</style><p class=f>{}</p>",
    "gaps closed": "<style>.g{{font-size:0}}</style><div class=g> <p>{}</p> </div>",
    "letters filled with a picture": (
        '<p style="color:transparent;-webkit-background-clip:text">{}</p>'
    ),
    "half transparent": '<p style="opacity:0.5">{}</p>',
    "open details": "<details open><summary>Mail</summary><p>{}</p></details>",
    "summary": "<details><summary>{}</summary><p>More</p></details>",
    "not aria-hidden": '<p aria-hidden="false">{}</p>',
    "beside an icon": '<p><i class="icon" aria-hidden="true">mail</i> {}</p>',
    "beside a label for screen readers": '<p><span class="sr-only">E-mail:</span> {}</p>',
}


@pytest.mark.parametrize("html", VISIBLE.values(), ids=VISIBLE)
def test_what_visitors_see_is_as_sure_as_ever(html: str) -> None:
    contacts = read(html.format(PLANTED))

    # A footer says who owns a site, so what stands there is even more surely its own.
    assert addresses(contacts)[PLANTED] >= addresses(read(f"<p>{PLANTED}</p>"))[PLANTED]


def test_what_a_click_shows_is_a_little_less_sure_and_somebodys() -> None:
    contacts = read(f"<details><summary>More</summary><p>{PLANTED}</p></details>")

    shown = addresses(read(f"<p>{PLANTED}</p>"))[PLANTED]
    assert addresses(contacts)[PLANTED] == round(shown * OPENED, 3)
    assert card_with(contacts, PLANTED).name == "Jane Roe"


def test_a_number_in_a_hidden_tab_is_less_sure_than_one_that_is_shown() -> None:
    contacts = read(f'<div style="display:none">{BRANCH}</div>')

    confidences = {phone.e164: phone.confidence for phone in contacts.phones}

    assert confidences["+15124721234"] < confidences["+12127365000"]


def test_a_large_block_of_white_on_white_is_not_a_tab() -> None:
    contacts = read(f'<div style="color:#fff;background:#fff">{BRANCH}</div>')

    assert [phone.e164 for phone in contacts.phones] == ["+12127365000"]


def test_an_icon_does_not_part_a_line_and_an_address_does() -> None:
    page = parse_page(
        '<p>Call <i aria-hidden="true">phone</i> us</p>'
        '<p>Mail <span aria-hidden="true">jo@fern.com</span> now</p>'
    )

    assert [(line.text, line.certainty) for line in page.lines] == [
        ("Call phone us", SEEN),
        ("Mail", SEEN),
        ("jo@fern.com", DOUBTED),
        ("now", SEEN),
    ]


def test_the_lines_of_a_hidden_tab_say_so() -> None:
    rows = "".join(f"<p>A line of the tab, number {n}</p>" for n in range(5))

    page = parse_page(f"<div hidden>{rows}</div>")

    assert {line.certainty for line in page.lines} == {FOLDED}
