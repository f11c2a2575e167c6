"""Find the lines in which customers speak: whoever is named there is not of the firm."""

import re
from typing import Final

from contact_extraction.contacts.page_text import PageText
from contact_extraction.seniority import Seniority, seniority_of
from contact_extraction.text import small, small_pattern

MIN_QUOTE: Final = 40
MAX_HEADING: Final = 80
MAX_LINE: Final = 400


def customer_lines(sheet: PageText) -> frozenset[int]:
    """Give the lines under a heading about reviews, in a quotation, or that sign one."""
    found = set(_under_reviews(sheet))
    lines = sheet.lines
    may_name_one = any(sign in sheet.lower for sign in _SIGNS)
    for number, line in enumerate(lines):
        above = lines[number - 1] if number else None
        is_signed = line.text[0] in _OPENING and _is_by_customer(line.text[:MAX_LINE])
        if line.tag == "blockquote" or is_signed or (above and _is_quote(above.text)):
            found.add(number)
        elif may_name_one and (
            _STARS in line.text or _CUSTOMER.search(line.text[:MAX_HEADING])
        ):
            # The name stands before or after its stars, or what they bought.
            found |= {number - 1, number, number + 1}
    return frozenset(found)


def _under_reviews(sheet: PageText) -> list[int]:
    """Give what follows a heading about reviews, up to the next one of its rank."""
    found: list[int] = []
    level = 0
    for number, line in enumerate(sheet.lines):
        if line.heading and (not level or line.heading <= level):
            is_short = len(line.text) <= MAX_HEADING
            is_review = is_short and bool(_ABOUT_REVIEWS.search(small(line.text)))
            level = line.heading if is_review else 0
        if level:
            found.append(number)
    return found


def _is_quote(text: str) -> bool:
    return len(text) >= MIN_QUOTE and text[0] in _OPENING and text[-1] in _CLOSING


def _is_by_customer(text: str) -> bool:
    """Say whether a quotation is signed, and not with a role that needs no other firm."""
    match = _SIGNED.match(text)
    if match is None:
        return False
    role = text[match.end() - 1 :].partition(",")[2].strip()
    return not (role and "," not in role and seniority_of(role) in _OF_BUSINESS)


_OF_BUSINESS: Final = (Seniority.OWNER, Seniority.EXECUTIVE)
_STARS: Final = "★★★"
# One of these is in every page with a line that the pattern finds, or with stars.
_SIGNS: Final = (
    _STARS, "verified ", "google", "local guide", "kund", "customer", "client", "patient",
    "klant", "klient",
)  # fmt: skip
_CUSTOMER: Final = re.compile(
    r"(?i:\b(?:verified (?:buyer|customer|review)|google[ -](?:review|rezension|bewertung)|local guide)\b)|"
    r"[-\s](?:[Kk]unde|[Kk]undin|[Kk]und|[Cc]ustomer|[Cc]lient|[Cc]liente|[Pp]atient(?:in)?|[Kk]lant|[Kk]lient(?:ka)?)"
    r"(?=\s?(?:$|[·•|,(]| since| seit| sedan))"
)
_OPENING: Final = "“\"„«»'‘"
_CLOSING: Final = "”\"“»«'’"
# A quotation of some words with a dash and who said it: "Great work!" - Ann Lee, Leeds
_SIGNED: Final = re.compile(r"[“\"„«»][^“\"„«»”]{8,380}[”\"“»«]\s?[-–—~]\s?[^\W\d_]")
_ABOUT_REVIEWS: Final = small_pattern(
    r"testimonial|\breviews?\b|what (?:our |\w+ )?(?:clients?|customers?|patients?|people|parents) |"
    r"(?:client|customer|patient)s? (?:say|stories|feedback)|kundenstimmen|kundenmeinung|"
    r"bewertung|rezension|das sagen|erfahrungsberichte|\bavis\b|témoignage|opiniones|reseñas|"
    r"testimonios|recensioni|dicono di noi|opinie|ervaringen|recensies|omdömen|depoimentos"
)
