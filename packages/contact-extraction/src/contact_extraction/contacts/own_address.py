"""Whether an address is where the business is, or one that a page only mentions.

A number is seldom written without its owner, an address often is: of a venue, of a building that
was restored, of a service that a privacy statement explains. One that stands with nothing of the
business has to be on a page where a business says where it is.
"""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from contact_extraction.contacts.model import AddressSighting, Sighting, ValueOwner
from contact_extraction.contacts.ownership import (
    MIN_NAME,
    PageContext,
    is_ours,
    owner_of,
)

REACH_LINES: Final = 5
"""How far a number or an address for e-mail of the business may be."""
MIN_PROSE: Final = 60
"""Characters before an address in its line that make it part of a sentence."""
MAX_BEFORE: Final = 160
NAMED_BESIDE: Final = frozenset(("firm_beside", "staff_beside"))
PLACED_BY: Final = frozenset(("site_wide", "contact_page"))
_ARTICLE: Final = re.compile(
    r"(?:^|[/_-])(?:blog|news|aktuell\w*|neuigkeiten|actualites?|noticias|notizie|nieuws|aktualnosci|nyheter|ajankohtaista|"
    r"evento?s?|veranstaltung\w*|termine|agenda|evenements?|eventi|evenementen|wydarzenia|kalender|calendar|"
    r"portfolio|projects?|projekte?|projets?|progetti|proyectos|projecten|realizacje|realisations?|realizzazioni|"
    r"referen\w+|case-stud\w+|gallery|galerie|works?|listings?|20[0-3]\d)(?:[/_.-]|$)",
    re.IGNORECASE,
)


def owner_of_address(
    setting: PageContext, seen: Sequence[AddressSighting], reached: AbstractSet[int]
) -> ValueOwner:
    """Say whose an address is; `reached` are the lines of the business's own contacts."""
    return owner_of(setting, seen, partial(_signs, setting, reached))


def _signs(
    setting: PageContext,
    reached: AbstractSet[int],
    found: Sighting,
    traits: Mapping[str, float],
) -> dict[str, float]:
    """Give what speaks against an address that nothing places with the business."""
    before = _before(setting, found)
    is_told = len(before) >= MIN_PROSE
    is_legal = setting.is_privacy and is_told
    is_named = len(before) >= MIN_NAME and is_ours(before, setting)
    if is_named or not NAMED_BESIDE.isdisjoint(traits):
        return {}
    if not is_legal and _is_placed(setting, reached, found, traits):
        return {}
    signs = {
        "alone": True,
        "in_prose": is_told,
        "legal_text": setting.is_privacy,
        "on_article": _ARTICLE.search(urlsplit(setting.url).path) is not None,
    }
    return {name: 1.0 for name, value in signs.items() if value}


def _is_placed(
    setting: PageContext,
    reached: AbstractSet[int],
    found: Sighting,
    traits: Mapping[str, float],
) -> bool:
    """Say whether the page, the region or a contact makes an address the business's own."""
    near = range(found.line - REACH_LINES, found.line + REACH_LINES + 1)
    return (
        not PLACED_BY.isdisjoint(traits)
        or setting.says_where_it_is
        or not reached.isdisjoint(near)
    )


def _before(setting: PageContext, found: Sighting) -> str:
    """Give what stands in the line of an address before it."""
    start = setting.sheet.starts[found.line]
    return setting.sheet.text[max(start, found.start - MAX_BEFORE) : found.start]
