"""Recognise a business that says on its own page that it has closed for good."""

import re
from typing import Final

from contact_extraction.html import HtmlPage


def says_closed_for_good(page: HtmlPage) -> str | None:
    """Return the line in which a business says that it has closed for good, or None.

    Only what visitors see counts, in a line short enough for a notice, and only of "us",
    of this place or of nobody by name: a page may well report that somebody else has closed.
    """
    if not any(sign in page.lower_text for sign in _SIGNS):
        return None
    for line in page.lines:
        text = line.text.strip()
        if line.hidden or len(text) > _LONGEST_NOTICE:
            continue
        low = text.lower()
        if not any(sign in low for sign in _SIGNS) or not _CLOSED.search(text):
            continue
        if _MAY_REOPEN.search(text) or _OF_OTHERS.search(text):
            continue
        return text
    return None


_LONGEST_NOTICE: Final = 240
# One of these is in every notice, and looked for much faster than the pattern.
_SIGNS: Final = (
    "permanently", "for good", "our doors", "dauerhaft", "endgültig", "für immer", "définitivement",
    "definitiv", "permanent", "para siempre", "per sempre", "definitief", "voorgoed", "na stałe",
    "閉店", "廃業",
)  # fmt: skip
_CLOSED: Final = re.compile(
    r"(?:we|our \w+) (?:have|has|are|is) (?:now )?(?:permanently closed|closed (?:permanently|"
    r"for good|our doors (?:for good|permanently|for the last time)))"
    r"|^(?:this \w+ |the \w+ )?(?:is |has )?permanently closed\b"
    r"|(?:wir|unser\w* \w+|das geschäft|die praxis)\b.{0,60}(?:dauerhaft|endgültig|für immer)"
    r" geschlossen|^(?:dauerhaft|endgültig) geschlossen"
    r"|(?:nous|notre|votre|l.établissement)\b.{0,60}(?:définitivement (?:fermé|cessé)"
    r"|fermée? définitivement)|^fermée? définitivement|^définitivement fermé"
    r"|(?:hemos cerrado|estamos cerrados|nuestr\w+ \w+ ha cerrado) (?:definitivamente|"
    r"permanentemente|para siempre)|^cerrado (?:definitivamente|permanentemente)"
    r"|(?:abbiamo chiuso|siamo chiusi|ha chiuso) (?:definitivamente|per sempre)"
    r"|^chiuso definitivamente"
    r"|(?:wij|we|ons|onze)\b.{0,60}(?:definitief|permanent|voorgoed) gesloten"
    r"|^(?:definitief|permanent) gesloten"
    r"|(?:nasz\w*|jesteśmy)\b.{0,60}(?:zamknięt\w+ na stałe|na stałe zamknięt\w+)"
    r"|^(?:zamknięte na stałe|na stałe zamknięte)"
    r"|閉店(?:いた|致)?しました|廃業(?:いた|致)?しました",
    re.IGNORECASE,
)
_MAY_REOPEN: Final = re.compile(
    r"re-?open|temporar|vorübergehend|wieder(?:er)?öffn|rouvr|réouv|reabr|temporalmente|"
    r"riapr|temporaneamente|heropen|tijdelijk|tymczasow|ponownie otw|再開|一時|"
    r"\b(?:moved|relocated|umgezogen|déménagé|mudado|trasferit|verhuisd|przenie)\w*|移転",
    re.IGNORECASE,
)
"""A notice that also says this is not about an end: the business goes on, or elsewhere."""
_OF_OTHERS: Final = re.compile(
    r"\b(?:comments?|road|street|bridge|entrance|kommentare|straße|brücke|eingang)\b"
    r".{0,20}(?:closed|geschlossen)",
    re.IGNORECASE,
)
