"""Recognise an error page that a server sends with the status of success."""

import re
from typing import Final

from contact_extraction.html import HtmlPage


def says_not_found(page: HtmlPage) -> str | None:
    """Return the words by which a page says that it does not exist, or None.

    Only titles and headings count, and only on short pages: an article may well be
    about such errors.
    """
    if page.word_count > _MANY_WORDS:
        return None
    heads = [page.title, *(line.text for line in page.lines if line.heading in (1, 2))]
    for head in heads[:_MAX_HEADS]:
        if found := _NOT_FOUND.search(head.lower()):
            return found[0]
    return None


_MANY_WORDS: Final = 600
_MAX_HEADS: Final = 10
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
