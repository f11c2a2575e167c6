"""Tell a page from an error page that a server sends with the status of success."""

import re
from dataclasses import dataclass
from typing import Final

from scrapersky.extraction.html import Page

ALIKE: Final = 0.85
"""The share of common words from which two pages are one."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How much a page is like the answer to an address that cannot exist."""

    share: float
    same_title: bool

    @property
    def is_soft_404(self) -> bool:
        """Say whether the two are the same page."""
        return self.share >= ALIKE and (self.same_title or self.share >= _NEARLY_ALL)


def compare_with_probe(page: Page, probe: Page) -> Likeness:
    """Compare a page with the answer to a random path of the same site.

    Numbers and long codes are left out: error pages show the time and the address.
    """
    mine, theirs = _phrases(page), _phrases(probe)
    if not mine and not theirs:
        return Likeness(1.0, same_title=True)
    share = len(mine & theirs) / max(1, len(mine | theirs))
    return Likeness(round(share, 3), same_title=page.title == probe.title)


def says_not_found(page: Page) -> str | None:
    """Return the words by which a page says that it does not exist, or None.

    Only titles and headings count, and only on short pages: an article may well be
    about such errors.
    """
    words = sum(line.text.count(" ") + 1 for line in page.lines if not line.hidden)
    if words > _MANY_WORDS:
        return None
    heads = [page.title, *(line.text for line in page.lines if line.heading in (1, 2))]
    for head in heads[:_MAX_HEADS]:
        if found := _NOT_FOUND.search(head.lower()):
            return found[0]
    return None


_NEARLY_ALL: Final = 0.97
_MANY_WORDS: Final = 600
_MAX_HEADS: Final = 10
_MAX_LINES: Final = 5_000
_CODE: Final = re.compile(r"\S*\d\S*|\S{25,}|https?://\S+|/\S+")
_NOT_FOUND: Final = re.compile(
    r"\b404\b|page (?:can ?not|could not|can.t|was not|not) (?:be )?found|not found"
    r"|page (?:does not|doesn.t|no longer) exist|nothing (?:was )?found"
    r"|page missing|oops[!.]? (?:that|this) page|seite (?:wurde )?nicht gefunden"
    r"|seite existiert nicht|nicht gefunden|page (?:introuvable|non trouvée)"
    r"|cette page n.existe pas|página no encontrada|no se ha encontrado"
    r"|la página no existe|pagina non trovata|pagina niet gevonden"
    r"|página não encontrada|nie znaleziono|strona nie istnieje|sidan (?:kunde )?"
    r"(?:inte )?hitta(?:de)?s(?: inte)?|siden blev ikke fundet|siden finnes ikke"
    r"|sivua ei löyt|stránka nenalezena|stránka neexistuje|sayfa bulunamad."
    r"|ページが見つかりません|見つかりませんでした|страница не найдена|сторінку не знайдено"
    r"|a keresett oldal nem|pagina nu a fost găsită|η σελίδα δεν βρέθηκε|找不到|페이지를 찾을 수"
)


def _phrases(page: Page) -> frozenset[str]:
    lines = [line.text for line in page.lines[:_MAX_LINES] if not line.hidden]
    return frozenset(
        word for line in lines for word in _CODE.sub(" ", line.casefold()).split()
    )
