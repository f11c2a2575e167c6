"""What counts as found, missed and false."""

from pathlib import Path

from contact_extraction.measuring.corpus import TrueSite
from contact_extraction.measuring.likeness import (
    is_same_address,
    is_same_organisation,
    is_same_person,
)
from contact_extraction.measuring.outcome import FoundContact, FoundPage, Outcome
from contact_extraction.measuring.site_score import StoredValue, score_site

SITE = TrueSite(
    name="alder.example",
    root=Path("no-such-folder"),
    organisation="Alder Joinery Ltd",
    emails=(
        {"address": "Office@alder.example", "person_ok": ["Jo Marsh"]},
        {"address": "you@template.example", "placeholder": True},
        {"address": "old@alder.example", "optional": True},
    ),
    phones=(
        {"e164": "+441584872100", "written": "01584 872100", "person": "Jo Marsh"},
    ),
    people=(
        {"name": "Jo Marsh", "phone": "+441584872100", "page": "team.html"},
        {"name": "Sam Field", "page": "team.html"},
    ),
    addresses=({"street": "12 Mill Lane", "postal_code": "SY8 1PE", "city": "Ludlow"},),
    contact_pages=("contact.html", "team.html"),
    decision_maker="Jo Marsh",
    third_party=frozenset(("chamber@guild.example",)),
)


def contact(
    email: str | None = None, name: str | None = None, phone: str | None = None
) -> FoundContact:
    """Make a contact."""
    return FoundContact(email, name, frozenset([phone] if phone else []), None)


def test_nothing_found_is_recall_zero_and_no_precision() -> None:
    """What was never said cannot be false."""
    score = score_site(SITE, Outcome("alder.example"))
    assert score.share("email_recall") == 0
    assert score.share("email_precision") is None
    assert score.share("organisation") == 0
    assert score.share("decision_maker") == 0


def test_a_placeholder_and_a_third_party_are_false_and_an_optional_value_is_neither() -> (
    None
):
    """Only what is asked for counts for recall; only what is told for precision."""
    reported = ["office@alder.example", "you@template.example", "old@alder.example",
            "chamber@guild.example"]  # fmt: skip
    found = Outcome("alder.example", contacts=[contact(email) for email in reported])
    score = score_site(SITE, found)
    assert (score.right["email_recall"], score.total["email_recall"]) == (1, 1)
    assert (score.right["email_precision"], score.total["email_precision"]) == (1, 3)
    assert "e-mail false: placeholder" in score.misses
    assert "e-mail false: somebody else's" in score.misses


def test_a_name_counts_for_the_person_and_for_whose_value_it_is() -> None:
    """A true name on somebody else's number is a person known and a link wrong."""
    found = Outcome(
        "alder.example",
        contacts=[
            contact("office@alder.example", "Ms Jo Marsh"),
            contact(phone="+441584872100", name="Sam Field"),
            contact(phone="+441584000000", name="Oak Flooring"),
        ],
    )
    score = score_site(SITE, found)
    assert score.share("people_known") == 1
    assert (score.right["people_precision"], score.total["people_precision"]) == (2, 3)
    assert score.share("email_person") == 1
    assert score.share("phone_person") == 0
    assert score.share("own_contact_named") == 1
    assert score.share("decision_maker") == 1


def test_a_page_counts_as_read_however_the_server_names_it() -> None:
    """/contact, /contact.html and /contact/ are one file."""
    pages = [
        FoundPage("https://alder.example/contact", 0.9, "Complete", is_read=True),
        FoundPage("https://alder.example/team.html", 0.2, None, is_read=False),
    ]
    score = score_site(SITE, Outcome("alder.example", pages=pages))
    assert (score.right["contact_pages_read"], score.total["contact_pages_read"]) == (
        1,
        2,
    )
    assert "not chosen" in score.misses["contact page not read"][0]


def test_names_are_compared_without_titles_accents_and_legal_forms() -> None:
    """What people write differently is the same."""
    assert is_same_person("Dr. med. Jörg Müller", "Jorg Muller")
    assert is_same_person("Anna Maria Kowalska", "Anna Kowalska")
    assert not is_same_person("Anna", "Anna Kowalska")
    assert not is_same_person("Jo Marsh", "Jo Field")
    assert is_same_organisation("Alder Joinery Ltd.", "ALDER JOINERY")
    assert not is_same_organisation("Alder", "Birch")
    assert not is_same_organisation("Alder", "Alder Joinery")


def test_a_street_in_full_and_in_short_counted_as_two_places() -> None:
    true = {"street": "1005 Northwest Freeway, Suite 200", "postal_code": "77092"}
    short = {"street": "1005 Northwest Fwy #200", "postal_code": "77092"}

    assert is_same_address(short, true)
    assert not is_same_address({**short, "street": "1006 Northwest Fwy #200"}, true)


def test_an_address_needs_its_street_and_its_postal_code() -> None:
    """The same street in another town is another address."""
    true = {"street": "Hauptstraße 5", "postal_code": "99084", "city": "Erfurt"}
    reported = {"text": "Hauptstr. 5, 99084 Erfurt", "street": "Hauptstr. 5"}
    assert is_same_address({**reported, "postal_code": "99084"}, true)
    assert not is_same_address(
        {"text": "Hauptstr. 5, 10115 Berlin", "postal_code": "10115"}, true
    )
    assert not is_same_address(
        {"text": "Ringweg 1, 99084 Erfurt", "postal_code": "99084"}, true
    )


def test_how_sure_of_a_value_the_pipeline_was_stands_beside_whether_it_is_right() -> (
    None
):
    """However the value was spelt when it was stored; others claim nothing."""
    found = Outcome(
        "alder.example",
        contacts=[contact("office@alder.example"), contact("you@template.example")],
        people=["Jo Marsh"],
        sureness={
            ("email", "office@alder.example"): 0.97,
            ("email", "you@template.example"): 0.6,
            ("person", "jo marsh"): 0.9,
        },
    )
    assert score_site(SITE, found).claims == [
        StoredValue("email", 0.97, is_right=True),
        StoredValue("email", 0.6, is_right=False),
        StoredValue("person", 0.9, is_right=True),
    ]
