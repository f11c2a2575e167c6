"""Legal forms: what a registered name ends in, and the names in a text that do."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from contact_extraction.contacts.organisation.source import (
    MAX_FOUND,
    NameSource,
    Nomination,
    lines_with,
)
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person import has_role_word

MAX_LINE: Final = 4000
MIN_WORDS: Final = 3


# Names are asked about many times each, and pages of a site share most of theirs.
@lru_cache(4_096)
def is_legal_name(text: str) -> bool:
    """Say whether a text ends in a legal form: Acme Ltd."""
    return bool(_LEGAL_END.search(text))


@lru_cache(4_096)
def without_form(name: str) -> str:
    """Give a name without the legal form at its end."""
    return _LEGAL_END.sub("", name)


@lru_cache(4_096)
def legal_name_at_start(text: str) -> str | None:
    """Give the registered name a short text begins with, if it does."""
    match = _LEGAL_NAME.match(text)
    return match[0] if match else None


def legal_names(sheet: PageText) -> Iterator[Nomination]:
    """Nominate the names that end in a legal form, wherever they stand."""
    given = 0
    for number in sorted(lines_with(sheet, _signs(sheet))):
        text = sheet.lines[number].text
        if len(text) > MAX_LINE:
            continue
        for match in _LEGAL_NAME.finditer(text):
            if _NOT_A_FIRM.search(match[0]):
                continue
            # "Miss KG" and "Plan AS" are words as often as firms.
            short = _SHORT_FORM.search(match[0])
            if short and match[0][: short.start()].endswith(","):
                continue
            is_short = short is not None and len(match[0].split()) < MIN_WORDS
            is_weak = is_short or match[0].endswith("Company")
            name = _without_office(match[0])
            yield name, NameSource.WEAK_FORM if is_weak else NameSource.LEGAL_FORM
            given += 1
            if given > MAX_FOUND:
                return


def _without_office(name: str) -> str:
    """Give the firm in `Chief Executive Officer of Acme Inc`."""
    head, _, firm = name.rpartition(" of ")
    return firm if head and has_role_word(head) else name


def _signs(sheet: PageText) -> list[str]:
    return [sign for word, sign in _SIGNS if word in sheet.words]


_FORM: Final = (
    r"Inc(?:orporated)?|INC|Corp(?:oration)?|CORP|Co\.?,? ?(?:Ltd|LTD|Inc|KG|LLC|WLL|W\.L\.L)|Company|"
    r"(?:&|and) Co|L\.?L\.?C|L\.?L\.?P|P\.?L\.?L\.?C|W\.?L\.?L|FZE|FZCO|"
    r"Ltd|LTD|Limited|LIMITED|P\.?L\.?C|Pty(?:\.? Ltd)?|Pvt(?:\.? Ltd)?|PTE(?:\.? LTD)?|Pte(?:\.? Ltd)?|"
    r"P\.C|P\.A|N\.A|Sdn\.? Bhd|Bhd|"
    r"g?GmbH(?: & Co\.? KGa?A?)?|mbH|AG|KGaA|KG|OHG|UG(?: \(haftungsbeschränkt\))?|e\.?K|e\.?V|"
    r"GbR|S\.?A\.?R\.?L|S\.A\.S|SAS|SASU|EURL|S\.?A\.?|S\.?L\.?U?|S\.?R\.?L\.?S?|S\.?p\.?A|S\.?n\.?c|"
    r"S\.?a\.?s|B\.?V\.?B\.?A|B\.?V|N\.?V|V\.?O\.?F|C\.?V|A/S|ApS|AB|ASA|AS|Oyj?|HB|"
    r"K\.?K|Sp\.? ?z ?o\.? ?o|S\.?K\.?A|s\.? ?r\.? ?o|a\. ?s|d\.? ?o\.? ?o|Kft|Zrt|Nyrt|Bt|"
    r"Ltda|LTDA|Lda|EIRELI|MEI|A\.?Ş|Ltd\.? ?Şti|S\.?A\.? de C\.?V|OOO|ООО|ЗАО|ОАО|QSC|MMC|"
    r"株式会社|有限会社|inc|llc|ltd|plc"
)
_LEGAL_END: Final = re.compile(rf"[\s,]+(?:{_FORM})\.?\)?$")
_LEGAL_NAME: Final = re.compile(
    r"(?<![\w&/])(?:(?:[A-ZÀ-ÞÄÖÜŁŚŻČŠŽŘİŞ0-9][\w'’.&-]{0,24}|&|and|of|the|und|et|de|van|von|y|i|\([A-Z][\w -]{1,20}\)),?\s){1,7}?"
    rf"(?:{_FORM})(?![\w-])(?! (?:to|TO|Edition|edition|time|Time|Warranty|stock)\b)"
    r"\.?(?:,? (?:Ltd|LTD|Limited|LIMITED|Inc|LLC)\.?(?![\w-]))?"
)
_NOT_A_FIRM: Final = re.compile(
    r"\b(?:not|but|with|including|premier|is|are|our)\b|^\d+ \w+$|^S\.A|\bBox \d|^\(",
    re.IGNORECASE,
)
_SHORT_FORM: Final = re.compile(
    r"\s(?:AG|KG|AB|AS|SA|NV|BV|HB|Oy|KK|SL|CV|UG|Bt|S\.A|S\.L)\.?$"
)
_MARKS: Final = (
    "Inc", "INC", "Incorporated", "Corp", "CORP", "Corporation", "Company", "LLC", "L.L.C", "LLP", "L.L.P", "PLLC", "Ltd",
    "LTD", "Limited", "LIMITED", "PLC", "plc", "Pty", "Pvt", "PTE", "Pte", "GmbH", "gGmbH", "mbH", "AG", "KG", "KGaA",
    "UG", "SARL", "S.A.R.L", "SAS", "S.A.S", "EURL", "S.A", "SA", "S.L", "SL", "S.L.U", "SLU", "S.r.l", "SRL", "Srl", "S.R.L",
    "S.p.A", "SpA", "S.n.c", "S.a.s", "B.V", "BV", "BVBA", "B.V.B.A", "N.V", "NV", "VOF", "V.O.F", "A/S", "ApS", "AB", "ASA", "AS", "Oy", "K.K",
    "KK", "Sp. z", "Sp.z", "s.r.o", "s. r. o", "a.s", "d.o.o", "Kft", "Zrt", "Ltda", "LTDA",
    "Lda", "A.Ş", "Co.", "& Co", "and Co", "e.V", "e.K", "OHG", "GbR", "QSC", "MMC", "OOO",
    "ООО", "P.C", "P.A", "N.A", "WLL", "W.L.L", "FZE", "FZCO", "Bhd", "inc", "llc", "ltd",
)  # fmt: skip
_SIGNS: Final = tuple((mark.split()[0].rstrip("."), f" {mark}") for mark in _MARKS)
"""The first word of each, which a page has if it has the sign."""
