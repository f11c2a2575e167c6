"""The words by which sites in many languages name their pages.

The words are in `data/page_words.txt`. `likelihood` is how often such a page says how
to reach the business: estimates, ordered by what each kind of page must hold.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from contact_extraction.wordlist import load_ordered, load_words


class PageType(StrEnum):
    """What a page is for; the values of `pages.page_type`."""

    CONTACT_ROOT = "contact_root"
    ABOUT_ROOT = "about_root"
    TEAM_ROOT = "team_root"
    CAREER_CONTACT = "career_contact"
    SERVICES_ROOT = "services_root"
    MENU_ROOT = "menu_root"
    PRICING_ROOT = "pricing_root"
    LEGAL_ROOT = "legal_root"
    WP_PROSPECT = "wp_prospect"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class WordMeaning:
    """What a word says about its page."""

    type: PageType
    likelihood: float


CONTACT: Final = WordMeaning(PageType.CONTACT_ROOT, 0.98)
TEAM: Final = WordMeaning(PageType.TEAM_ROOT, 0.62)
PLACE: Final = WordMeaning(PageType.CONTACT_ROOT, 0.80)

# The order of the sections is the order of trust where a path holds several words.
_SECTIONS: Final = {
    "contact": CONTACT,
    "imprint": WordMeaning(PageType.LEGAL_ROOT, 0.90),
    "place": PLACE,
    "team": TEAM,
    "customer_service": WordMeaning(PageType.UNKNOWN, 0.58),
    "legal_notice": WordMeaning(PageType.LEGAL_ROOT, 0.55),
    "about": WordMeaning(PageType.ABOUT_ROOT, 0.52),
    "appointment": WordMeaning(PageType.UNKNOWN, 0.48),
    "privacy": WordMeaning(PageType.LEGAL_ROOT, 0.38),
    "career": WordMeaning(PageType.CAREER_CONTACT, 0.35),
    "support": WordMeaning(PageType.UNKNOWN, 0.34),
    "terms": WordMeaning(PageType.LEGAL_ROOT, 0.30),
    "services": WordMeaning(PageType.SERVICES_ROOT, 0.28),
    "pricing": WordMeaning(PageType.PRICING_ROOT, 0.26),
    "menu": WordMeaning(PageType.MENU_ROOT, 0.26),
}

NOISE: Final = load_words("page_parents")
STOPS: Final = load_words("page_stop_words")
OTHER_CONTACTS: Final = load_words("page_other_contacts")

OTHER_TEAMS: Final = load_words("page_other_teams")
"""Beside a word for people: it is about goods or services for them."""


def words() -> Iterator[tuple[str, WordMeaning]]:
    """Yield every known word with its meaning."""
    meaning = CONTACT
    for line in load_ordered("page_words"):
        if line.startswith("["):
            meaning = _SECTIONS[line.strip("[]")]
        else:
            for word in line.split():
                yield word, meaning
