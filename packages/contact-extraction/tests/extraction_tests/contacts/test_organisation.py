"""Names of organisations: where they stand, and what is none."""

import pytest

from contact_extraction import wordlist
from contact_extraction.contacts.address import find_addresses
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.contacts.model import NO_HINTS
from contact_extraction.contacts.organisation import OrganisationClues, describe_names
from contact_extraction.contacts.organisation.chance import WEIGHTS, chance
from contact_extraction.contacts.organisation.institution import trade_of
from contact_extraction.contacts.organisation.legal import is_legal_name
from contact_extraction.contacts.organisation.name import is_name, tidy_name
from contact_extraction.contacts.organisation.source import NameSource
from contact_extraction.contacts.page_text import page_text
from contact_extraction.contacts.place import guess_regions
from contact_extraction.html import parse_page

WEIGHTED = {line.split()[0] for line in wordlist.load_ordered(WEIGHTS)}
PAGE = """
<title>Contact | Kestrel Roofing</title><h1>Contact us</h1>
<p>Kestrel Roofing Ltd<br>12 Mill Lane<br>Leeds LS1 4AP</p>
<p>&copy; 2026 Kestrel Roofing Ltd. All rights reserved.</p>
"""


def test_every_trait_has_a_weight() -> None:
    sheet = page_text(parse_page(PAGE))

    described = list(
        describe_names(sheet, "https://kestrelroofing.co.uk/", OrganisationClues())
    )

    assert described
    assert {trait for _, traits in described for trait in traits} <= WEIGHTED
    assert {source.value for source in NameSource} <= WEIGHTED


def test_the_name_in_title_letterhead_and_copyright_line_is_the_surest() -> None:
    contacts = find_contacts(PAGE, "https://kestrelroofing.co.uk/contact")

    assert contacts.organisations[0].name in ("Kestrel Roofing", "Kestrel Roofing Ltd")
    assert contacts.organisations[0].confidence > 0.9


def test_a_name_that_nothing_speaks_for_is_not_likely() -> None:
    assert chance({}) < 0.2


@pytest.mark.parametrize(
    "name",
    [
        "Acme Ltd",
        "Auge Marketing y Servicios S.L.U.",
        "AVI Studio s.r.o.",
        "Gulf Valves Co WLL.",
        "Orchid Foods Sdn Bhd",
        "Brandt gGmbH",
        "Koppelen BVBA",
    ],
)
def test_a_legal_form_is_known_in_many_countries(name: str) -> None:
    assert is_legal_name(name)
    assert is_name(tidy_name(name))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("H A R T Gardens", "HART Gardens"),
        ("M Ü L L E R", "MÜLLER"),
        ("A B C Taxi", "A B C Taxi"),
        ("J. R. T. S. Hart", "J. R. T. S. Hart"),
    ],
)
def test_a_name_spaced_out_by_its_design_was_kept_as_single_letters(
    written: str, name: str
) -> None:
    assert tidy_name(written) == name


@pytest.mark.parametrize(
    "text",
    [
        "Certification as",
        "Contact Us",
        "Welcome",
        "Customer Service",
        "we are here to help you",
        "info@acme.com",
        "Designed by Pixel Pushers",
    ],
)
def test_menu_words_and_sentences_are_no_names(text: str) -> None:
    assert text not in [
        o.name for o in find_contacts(f"<p>{text}</p>", "").organisations
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Sayville High School", "house"),
        ("City of Saratoga", "house"),
        ("Hart & Vale Solicitors", "house"),
        ("Kitchen Design", "goods"),
        ("Upper East Side", None),
    ],
)
def test_the_last_word_says_a_house_from_goods(name: str, kind: str | None) -> None:
    assert trade_of(name) == kind


def test_a_firm_in_a_testimonial_is_named() -> None:
    page = "<blockquote>They never let us down.</blockquote><p>Ann Lee, CEO, Tidewater Labs</p>"

    contacts = find_contacts(page, "https://kestrelroofing.co.uk/")

    assert "Tidewater Labs" in [o.name for o in contacts.organisations]


def test_a_quarter_of_a_town_above_an_address_is_no_name() -> None:
    page = """<title>Larkin Realty</title><p>Larkin Realty</p><h3>Upper East Side</h3>
    <p>1450 Third Avenue<br>New York, NY 10028</p><p>&copy; 2026 Larkin Realty</p>"""

    contacts = find_contacts(page, "https://larkinrealty.com/")

    assert [o.name for o in contacts.organisations] == ["Larkin Realty"]


def test_a_branch_is_named_after_its_firm_and_not_its_town() -> None:
    cards = "".join(
        f"<p><b>Marlow Glazing - {town}</b><br>{n} Mill Lane<br>Leeds LS1 4AP</p>"
        for n, town in ((12, "Headingley"), (80, "Armley"))
    )

    contacts = find_contacts(f"<title>Branches</title>{cards}", "https://a.test/")

    assert [o.name for o in contacts.organisations] == ["Marlow Glazing"]


def test_a_branch_in_structured_data_is_named_after_its_firm_too() -> None:
    page = """<div class="vcard"><span class="fn org">Marlow Glazing - Armley</span>
    <span class="tel">0113 496 0000</span></div>"""

    contacts = find_contacts(page, "https://a.test/")

    assert [o.name for o in contacts.organisations] == ["Marlow Glazing"]


def test_menu_words_after_a_name_in_the_title_are_no_part_of_it() -> None:
    page = "<title>Harlow Bay Miracle Contact Us</title><p>Write to us.</p>"

    described = describe(page, "https://harlowbay.com/")

    assert "Harlow Bay Miracle" in described


def test_an_office_before_a_registered_name_is_no_part_of_it() -> None:
    page = (
        "<p>Ann Lee was Chief Executive Officer of Plexon Systems, Inc. for years.</p>"
    )

    described = describe(page, "https://kestrelroofing.co.uk/")

    assert "Plexon Systems, Inc" in described
    assert not any("Officer" in name for name in described)


def test_bold_right_above_an_address_heads_a_card() -> None:
    bold, plain = (
        chance(describe(page, "https://a.test/")["Tarn Vesper"])
        for page in (
            "<p><b>Tarn Vesper</b><br>12 Mill Lane<br>Leeds LS1 4AP</p>",
            "<p>Tarn Vesper<br>12 Mill Lane<br>Leeds LS1 4AP</p>",
        )
    )

    assert bold > plain


@pytest.mark.parametrize(
    "between",
    [
        "<h2>Tarn Vesper Armley</h2></div><div><div>",
        "<p>Tarn Vesper Armley</p></td><td><p>Address:</p>",
        "<p>Tarn Vesper Armley</p></td><td><p>First Floor Building 5</p>",
    ],
)
def test_the_line_right_above_an_address_names_it_from_another_block(
    between: str,
) -> None:
    page = f"<div><div>{between}<p>12 Mill Lane<br>Leeds LS1 4AP</p></div></div>"

    described = describe(page, "https://a.test/")

    assert described["Tarn Vesper Armley"][NameSource.ABOVE_ADDRESS]
    assert "First Floor Building 5" not in described


@pytest.mark.parametrize(
    ("text", "url", "name"),
    [
        ("At zelvik we build stairs, and zelvik fits them.", "zelvik.com", "zelvik"),
        (
            "Order from north-url_filter.com today.",
            "north-url_filter.com",
            "north-url_filter.com",
        ),
    ],
)
def test_a_firm_may_write_itself_as_its_domain_is_written(
    text: str, url: str, name: str
) -> None:
    assert name in describe(f"<p>{text}</p>", f"https://{url}/")


def test_a_small_word_of_the_domain_is_no_name_beside_the_capital_one() -> None:
    page = "<p>Larch makes doors. Every larch is felled by hand.</p>"

    assert "larch" not in describe(page, "https://larch.com/")


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("<p>&copy; 2026 Tarn Vesper Design by: Pixel Pushers</p>", "Tarn Vesper"),
        (
            "<p>Vesper Cables Arabia Company Limited</p>",
            "Vesper Cables Arabia Company Limited",
        ),
    ],
)
def test_a_name_ends_where_the_firm_does(page: str, name: str) -> None:
    assert name in describe(page, "https://a.test/")


def test_a_house_that_bears_the_name_of_the_firm_is_a_part_of_it() -> None:
    page = """<title>Tarn Vesper</title><p>Tarn Vesper Learning Center</p>
    <p>Orchid Learning Center</p><p>Friends of Tarn Vesper Club</p>
    <p>&copy; 2026 Tarn Vesper</p>"""

    described = describe(page, "https://tarnvesper.com/")

    assert described["Tarn Vesper Learning Center"]["annex"]
    assert not described["Orchid Learning Center"]["annex"]
    assert not described["Friends of Tarn Vesper Club"]["annex"]


def test_a_legal_form_is_no_word_of_a_menu() -> None:
    described = describe("<p>Orchid Valve Company</p>", "https://a.test/")

    assert not described["Orchid Valve Company"]["last_generic"]


def describe(page: str, url: str) -> dict[str, dict[str, float]]:
    sheet = page_text(parse_page(page))
    streets = find_addresses(sheet, guess_regions(sheet, url, NO_HINTS))
    named = describe_names(sheet, url, OrganisationClues(streets=streets))
    return {candidate.name: traits for candidate, traits in named}
