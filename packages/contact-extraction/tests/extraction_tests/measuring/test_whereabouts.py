"""Whether the choice of pages or the readers lost what was missed."""

from pathlib import Path

import pytest

from contact_extraction.measuring.corpus import TrueSite
from contact_extraction.measuring.outcome import FoundPage, Outcome
from contact_extraction.measuring.site_score import score_site
from contact_extraction.measuring.whereabouts import (
    SiteTexts,
    UnreadBecause,
    Whereabouts,
    why_unread,
)

FILES = {
    "index.html": '<a href="team.html">Team</a> <a href="/sale">Sale</a>',
    "team.html": "Jo <b>Marsh</b>, 01584 / 872-100 <a href='archive/old.html'>old</a>",
    "archive/old.html": "Sam Field, sam@alder.example, 12&nbsp;Mill Lane",
    "orphan.html": "Kim Oak",
    "sale.html": "50 %",
}


@pytest.fixture
def site(tmp_path: Path) -> TrueSite:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return TrueSite(
        "alder.example",
        tmp_path,
        None,
        emails=({"address": "sam@alder.example"},),
        phones=({"e164": "+441584872100"}, {"e164": "+441584000000"}),
        people=({"name": "Jo Marsh", "page": "team.html"}, {"name": "Sam Field"}),
        addresses=({"street": "12 Mill Lane", "postal_code": "SY8 1PE"},),
    )


def page(path: str, likelihood: float = 0.5, status: str | None = None) -> FoundPage:
    url = f"https://alder.example/{path}"
    return FoundPage(url, likelihood, status, is_read=status == "Complete")


@pytest.fixture
def found() -> Outcome:
    pages = [page("", status="Complete"), page("team", status="Complete")]
    return Outcome("alder.example", pages=[*pages, page("sale", 0.1)])


def test_whether_a_missed_value_stands_on_a_page_that_was_read_was_not_known(
    site: TrueSite, found: Outcome
) -> None:
    losses = score_site(site, found).losses

    assert losses["person not known", Whereabouts.READ] == 1
    assert losses["person not known", Whereabouts.UNREAD] == 1
    assert losses["phone missed", Whereabouts.READ] == 1
    assert losses["phone missed", Whereabouts.NOWHERE] == 1
    assert losses["e-mail missed", Whereabouts.UNREAD] == 1
    assert losses["address missed", Whereabouts.UNREAD] == 1


def test_a_hidden_address_is_where_the_truth_says(
    site: TrueSite, found: Outcome
) -> None:
    texts = SiteTexts(site, found)
    email = {"address": "jo@alder.example"}

    assert texts.of_email(email) is Whereabouts.NOWHERE
    assert texts.of_email({**email, "pages": ["team.html"]}) is Whereabouts.READ
    assert texts.of_email({**email, "pages": ["orphan.html"]}) is Whereabouts.UNREAD


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("sale.html", UnreadBecause.RATED_LOW),
        ("orphan.html", UnreadBecause.UNLINKED),
        ("archive/old.html", UnreadBecause.OVERLOOKED),
    ],
)
def test_why_a_page_was_not_read(
    site: TrueSite, found: Outcome, file: str, why: UnreadBecause
) -> None:
    assert why_unread(site, found, file) is why


def test_why_a_listed_page_was_not_read(site: TrueSite) -> None:
    pages = [page("team", 0.6), page("sale", 0.6, "Error")]
    found = Outcome("alder.example", pages=pages)

    assert why_unread(site, found, "team.html") is UnreadBecause.NOT_CHOSEN
    assert why_unread(site, found, "sale.html") is UnreadBecause.FAILED
    linked = why_unread(site, found, "archive/old.html")
    assert linked is UnreadBecause.LINKED_ELSEWHERE
