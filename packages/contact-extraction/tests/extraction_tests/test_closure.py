import pytest

from contact_extraction.closure import says_closed_for_good
from contact_extraction.html import parse_page

NOTICES = [
    "We have permanently closed our doors on 31 March 2026.",
    "As of March 31 we are permanently closed.",
    "PERMANENTLY CLOSED",
    "Wir haben unser Geschäft zum 31. März dauerhaft geschlossen.",
    "Notre établissement est définitivement fermé depuis mars.",
    "Hemos cerrado definitivamente. Gracias por estos años.",
    "Abbiamo chiuso definitivamente il 31 marzo.",
    "Wij zijn per 31 maart definitief gesloten.",
    "Nasza działalność została zamknięta na stałe 31 marca.",
    "3月31日をもちまして閉店いたしました。",
]
NO_NOTICES = [
    "Sunday closed",
    "We are closed on public holidays.",
    "Comments are permanently closed.",
    "Wir haben vorübergehend geschlossen und öffnen im Mai wieder.",
    "We have permanently closed this shop and moved to 4 Hill Road.",
    "The old bridge was closed for good in 1931.",
    "We closed the deal for good measure.",
]


@pytest.mark.parametrize("line", NOTICES)
def test_a_notice_that_it_has_closed_for_good_is_read(line: str) -> None:
    assert says_closed_for_good(parse_page(f"<h1>Shop</h1><p>{line}</p>")) == line


@pytest.mark.parametrize("line", NO_NOTICES)
def test_what_closes_for_a_day_a_while_or_elsewhere_is_no_notice(line: str) -> None:
    assert says_closed_for_good(parse_page(f"<h1>Shop</h1><p>{line}</p>")) is None


def test_a_notice_that_nobody_sees_is_none() -> None:
    page = parse_page(f'<p style="display:none">{NOTICES[0]}</p><p>Welcome</p>')

    assert says_closed_for_good(page) is None
