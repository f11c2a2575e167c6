"""Find the lines in which customers speak: whoever is named there is not of the firm."""

import re
from typing import Final

from contact_extraction.contacts.sheet import Sheet

MIN_QUOTE: Final = 40
MAX_HEADING: Final = 80


def customer_lines(sheet: Sheet) -> frozenset[int]:
    """Give the lines under a heading about reviews, in a quotation, or that sign one."""
    found = set(_under_reviews(sheet))
    lines = sheet.lines
    for number, line in enumerate(lines):
        above = lines[number - 1] if number else None
        is_signed = line.text[0] in _OPENING and bool(_SIGNED.match(line.text[:400]))
        if line.tag == "blockquote" or is_signed or (above and _is_quote(above.text)):
            found.add(number)
    return frozenset(found)


def _under_reviews(sheet: Sheet) -> list[int]:
    """Give what follows a heading about reviews, up to the next one of its rank."""
    found: list[int] = []
    level = 0
    for number, line in enumerate(sheet.lines):
        if line.heading and (not level or line.heading <= level):
            is_short = len(line.text) <= MAX_HEADING
            is_review = is_short and bool(_ABOUT_REVIEWS.search(line.text))
            level = line.heading if is_review else 0
        if level:
            found.append(number)
    return found


def _is_quote(text: str) -> bool:
    return len(text) >= MIN_QUOTE and text[0] in _OPENING and text[-1] in _CLOSING


_OPENING: Final = "“\"„«»'‘"
_CLOSING: Final = "”\"“»«'’"
# A quotation of some words with a dash and who said it: "Great work!" - Ann Lee, Leeds
_SIGNED: Final = re.compile(r"[“\"„«»][^“\"„«»”]{8,380}[”\"“»«]\s?[-–—~]\s?[^\W\d_]")
_ABOUT_REVIEWS: Final = re.compile(
    r"testimonial|\breviews?\b|what (?:our |\w+ )?(?:clients?|customers?|patients?|people|parents) |"
    r"(?:client|customer|patient)s? (?:say|stories|feedback)|kundenstimmen|kundenmeinung|"
    r"bewertung|rezension|das sagen|erfahrungsberichte|\bavis\b|témoignage|opiniones|reseñas|"
    r"testimonios|recensioni|dicono di noi|opinie|ervaringen|recensies|omdömen|depoimentos",
    re.IGNORECASE,
)
