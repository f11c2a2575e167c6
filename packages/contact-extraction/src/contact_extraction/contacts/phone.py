"""Find telephone and fax numbers and bring them into one form."""

import itertools
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

import phonenumbers

from contact_extraction.contacts.model import Method, PhoneKind, PhoneSighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.html import (
    HtmlLink,
    PhoneDetector,
    clean,
    find_phones,
    phone_detector,
)
from contact_extraction.text import small, small_pattern

MAX_FOUND: Final = 2_000
MAX_REGIONS: Final = 4
"""More plans would find more numbers in what are dates and prices."""


def find_numbers(sheet: PageText, regions: tuple[str, ...]) -> list[PhoneSighting]:
    """Find every number, and those of templates too, marked as such."""
    likely = regions[:MAX_REGIONS]
    # Whoever writes thousands of numbers is not a business; each costs time to judge.
    written = itertools.chain(_from_links(sheet, likely), _from_text(sheet, likely))
    found = list(itertools.islice(written, MAX_FOUND))
    taken = {one.start for one in found if one.line >= 0}
    found += itertools.islice(
        _from_labels(sheet, regions, taken), MAX_FOUND - len(found)
    )
    return found


@lru_cache(maxsize=4096)
def read_number(
    text: str, regions: tuple[str, ...]
) -> tuple[str, str | None, str | None] | None:
    """Read one written number: E.164, extension and region, or None if it is none."""
    for region in (None, *regions) if "+" in text[:6] else (*regions, None):
        try:
            number = phonenumbers.parse(text[:60], region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return (
                phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164),
                number.extension,
                phonenumbers.region_code_for_number(number),
            )
    return None


def is_placeholder(e164: str) -> bool:
    """Say whether a number counts up or ends in zeros, as those of templates do."""
    return bool(_COUNTS_UP.search(e164) or _ENDS_IN_ZEROS.search(e164))


_COUNTS_UP: Final = re.compile("012345678|12345678|23456789")
# Free numbers do end in zeros.
_ENDS_IN_ZEROS: Final = re.compile(r"^(?!.{1,4}[89]0\d?0)\+\d+0{6}$")


@lru_cache(maxsize=64)
def _detector(regions: tuple[str, ...]) -> PhoneDetector:
    return phone_detector(regions)


def _from_links(sheet: PageText, regions: tuple[str, ...]) -> Iterator[PhoneSighting]:
    for link in sheet.page.links:
        scheme, _, rest = link.href.partition(":")
        if scheme.lower() not in ("tel", "fax", "callto", "sms") or link.hidden:
            continue
        written = clean(unquote(rest[:80])).strip("/ ")
        number = read_number(_FIRST_OF_LINK.split(written, maxsplit=1)[0], regions)
        if number is None:
            continue
        e164, extension, region = number
        shown = link.text if sum(c.isdigit() for c in link.text) >= 7 else written
        yield PhoneSighting(
            key=_key(e164, extension),
            value=shown[:40],
            method=Method.TEL,
            line=link.line,
            snippet=f"{link.text} <{link.href}>"[:200],
            extension=extension,
            region=region,
            kind=PhoneKind.FAX if scheme.lower() == "fax" else None,
            is_placeholder=is_placeholder(e164) or _is_left_over(e164, link, regions),
            certainty=link.certainty,
        )


# "tel:030 28471022 / 0171 ..." calls the first; "?body=" is no part of a number.
_FIRST_OF_LINK: Final = re.compile(r"\?|\s[/|,]\s")


def _is_left_over(e164: str, link: HtmlLink, regions: tuple[str, ...]) -> bool:
    """Say whether a link shows another number: whoever filled in the template forgot it.

    One whose last digits are the same was only written in another way.
    """
    if sum(sign.isdigit() for sign in link.text) < MIN_DIGITS:
        return False
    shown = read_number(link.text, regions)
    return shown is not None and shown[0][-SAME_DIGITS:] != e164[-SAME_DIGITS:]


SAME_DIGITS: Final = 4


def _from_text(sheet: PageText, regions: tuple[str, ...]) -> Iterator[PhoneSighting]:
    text = sheet.text
    if "0xx" in text or "0XX" in text:
        # Brazil writes 0xx for "0 and the code of your carrier".
        text = _CARRIER.sub(
            lambda m: m[0].replace("0", " ").replace("x", " ").replace("X", " "), text
        )
    local = find_phones(_detector(regions), text)
    spans = {span.start: span for span in itertools.islice(local, MAX_FOUND)}
    if "+" in text:
        # Written with its country code a number needs no region and no trunk prefix.
        for span in itertools.islice(find_phones(_detector(()), text), MAX_FOUND):
            spans.setdefault(span.start, span)
    for span in spans.values():
        if span.e164 is None:
            continue
        label = _label_before(text, span.start)
        if _is_something_else(text, span.start, span.end, label):
            continue
        kind = _kind(label)
        # Digits without any sign between are ids as often as numbers to call.
        is_bare = kind is None and span.text.isdigit()
        if is_bare and not _is_announced(text, span.start):
            continue
        line = sheet.line_at(span.start)
        if kind is None and (
            _is_figure_of_table(sheet, line, span.text) or _is_headed_as_id(sheet, line)
        ):
            continue
        yield PhoneSighting(
            key=_key(span.e164, span.extension),
            value=span.text,
            method=Method.LABELLED if kind else Method.TEXT,
            line=line,
            start=span.start,
            end=span.end,
            snippet=sheet.snippet(span.start, span.end),
            extension=span.extension,
            region=span.region,
            kind=kind,
            is_placeholder=is_placeholder(span.e164),
        )


def _key(e164: str, extension: str | None) -> str:
    """Tell two desks behind one number apart."""
    return f"{e164};ext={extension}" if extension else e164


def _from_labels(
    sheet: PageText, regions: tuple[str, ...], taken: set[int]
) -> Iterator[PhoneSighting]:
    """Read numbers that only their label makes plain: `Tel: 27 117069122`."""
    text = sheet.text
    for count, match in enumerate(_DIGITS.finditer(text)):
        if count > MAX_TRIES:
            return
        start, end = match.span()
        if text[start - 1 : start] in _INSIDE_NUMBER and start:
            continue
        label = _LABEL.search(small(text[max(0, start - NEAR_LABEL) : start]))
        if label is None or any(
            place in taken for place in range(start - 2, start + 4)
        ):
            continue
        written = match[0].strip(" -./")
        digits = "".join(c for c in written if c.isdigit())
        if not MIN_DIGITS <= len(digits) <= MAX_DIGITS or _is_date(written):
            continue
        number = read_number(written, regions) or read_number(f"+{digits}", ())
        if number is None:
            continue
        is_fax = label[1].startswith(_FAX_WORDS)
        yield PhoneSighting(
            key=_key(number[0], number[1]),
            value=written,
            method=Method.LABELLED,
            line=sheet.line_at(start),
            start=start,
            end=end,
            snippet=sheet.snippet(start, end),
            extension=number[1],
            region=number[2],
            kind=PhoneKind.FAX if is_fax else PhoneKind.PHONE,
            is_placeholder=is_placeholder(number[0]),
        )


def _is_figure_of_table(sheet: PageText, number: int, written: str) -> bool:
    """Tell a figure beside other figures in a table from a number under "Phone"."""
    lines = sheet.lines
    if lines[number].tag != "td" or "+" in written or lines[number].text != written:
        return False
    beside = (lines[n] for n in (number - 1, number + 1) if 0 <= n < len(lines))
    if not any(one.tag == "td" and _FIGURE.fullmatch(one.text) for one in beside):
        return False
    for above in range(number - 1, max(-1, number - MAX_CELLS), -1):
        if lines[above].tag not in ("td", "th"):
            break
        if _CONTACT_NEAR.search(lines[above].text):
            return False
    return True


def _is_headed_as_id(sheet: PageText, number: int) -> bool:
    """Say whether a cell's column is one of identifiers: `Org.nr.`, `Part No.`."""
    lines, parents = sheet.lines, sheet.page.parents
    if lines[number].tag != "td":
        return False
    row = parents[lines[number].container]
    first = number
    while first and parents[lines[first - 1].container] == row:
        first -= 1
    column = number - first
    for above in range(first - 1, max(-1, first - MAX_CELLS), -1):
        if lines[above].tag == "th":
            head = parents[lines[above].container]
            cells = [
                line.text
                for line in lines[max(0, above - MAX_COLUMNS) : above + 1]
                if line.tag == "th" and parents[line.container] == head
            ]
            return column < len(cells) and _has_id_label(
                cells[column], len(cells[column])
            )
        if lines[above].tag != "td":
            return False
    return False


MAX_COLUMNS: Final = 20
MAX_CELLS: Final = 200
_FIGURE: Final = re.compile(r"[\d .,/()-]{4,30}")
NEAR_CHARACTERS: Final = 80
_CONTACT_NEAR: Final = re.compile(
    r"phone|\btel\b|\bcall\b|contact|mobil|\bcell\b|fax|whatsapp|t[eé]l[eé](?:f|ph)on|handy|rufn|"
    r"booking|[☎✆📞]",
    re.IGNORECASE,
)
MIN_DIGITS: Final = 7
MAX_DIGITS: Final = 15
_FAX_WORDS: Final = ("fax", "faks", "telefax", "факс")
MAX_TRIES: Final = 5_000
_INSIDE_NUMBER: Final = ".,"
NEAR_LABEL: Final = 26
# Digits are found first: a page has few of them, and words that begin like "tel" many.
# A set as the first thing lets the matcher skip; the sign before is checked after.
_DIGITS: Final = re.compile(r"[+(\d][\d ()./-]{5,25}\d")
_LABEL: Final = small_pattern(
    r"(?<!\w)(tele?fax|fax|faks|факс|tel(?:ephone|efon|efono|efone|éfono)?|tél(?:éphone)?|phone|"
    r"ph|fon|mobile?|mob|cell|gsm|tlf|puh|тел|電話)(?!\w)[.:\s()#-]{0,4}(?:no\.?|nr\.?|number)?"
    r"[.:\s-]{0,4}$"
)
_CARRIER: Final = re.compile(r"\b0[xX]{2}(?=\s?-?\d\d\b)")


def _is_announced(text: str, start: int) -> bool:
    """Say whether the line, or a bare label above it, speaks of calling someone."""
    line = text.rfind("\n", 0, start) + 1
    if _CONTACT_NEAR.search(text, max(line, start - NEAR_CHARACTERS), start):
        return True
    above = text[text.rfind("\n", 0, max(0, line - 1)) + 1 : max(0, line - 1)]
    is_label = len(above) < NEAR_CHARACTERS and not any(c.isdigit() for c in above)
    return is_label and bool(_CONTACT_NEAR.search(above))


def _label_before(text: str, start: int) -> str:
    return text[max(0, start - 30) : start].lower()


_FAX: Final = re.compile(
    r"(?:fax|faks|telefax|факс|\bf|\bfx)[\s.:()\-–/=]{0,6}(?:no\.?|nr\.?|number)?[\s.:()\-–]{0,4}$"
)
_PHONE: Final = re.compile(
    r"(?:phone|telefon|téléphone|teléfono|telefono|telefone|handy|móvil|тел|電話|電話番号|tel/fax|"
    # Short words end others: the "cel" of "Parcel" is not a label.
    r"(?<![^\W\d_])(?:tel|tél|puh|tlf|call|fon|gsm|mobile?|cell?|office|toll.?free|t|p|m|d))"
    r"[\s.:()\-–/=]{0,6}(?:no\.?|nr\.?|number|us|at)?[\s.:()\-–]{0,4}$"
)


def _kind(label: str) -> PhoneKind | None:
    if _FAX.search(label) and not re.search(
        r"(?:tel|phone|fon)[\w.]{0,6}\s?(?:/|&|and|und|\+)\s?fax", label
    ):
        return PhoneKind.FAX
    return PhoneKind.PHONE if _PHONE.search(label) else None


_ID_LABEL: Final = re.compile(
    r"\b(?:order|invoice|(?:isbn|issn|ean|gtin)(?:[- ]?\d{1,2})?|sku|vat|tax|ust|uid|kvk|bsn|siret|"
    r"siren|rcs|orias|adeli|finess|rpps|matricule|reg|registration|licen[cs]e|lic|account|item|ref|reference|(?<!, )id|part|model|serial|"
    r"d-?u-?n-?s®?|upc(?:-a)?|asin|isin|imei|s/n|sort[- ]?code|routing|naics|patent|cage|barcode|nmls|frn|"
    # These are a label only with another word: "in that case 030 ...".
    r"(?:case|lot|batch|permit|policy|docket|tracking|confirmation|catalogue?|parcel|room)\s?(?:no\b\.?|nr\b\.?|number|id|code|#)|"
    r"sous (?:le )?n(?:[°º]|um[ée]ro)|registered (?:in [a-z &]{2,25} )?(?:under |with )?(?:the )?(?:company )?(?:no\b\.?|number)|"
    r"colegiad[oa]|registro|r\.e\.a\.?(?:\s[a-z]{2})?|rea\s[a-z]{2}|a/c\s?(?=n)|(?<![.\w])org\.?\s?(?=nr)|a\.b\.n\.?|"
    r"a\.c\.n\.?|agb|bankgiro|plusgiro|č\.?\s?účtu|population|habitants|einwohner|inwoners|abitanti|habitantes|"
    r"ein|npi|abn|acn|gstin|nip|regon|krs|pesel|cvr|cnpj|cpf|nif|cif|rea|c\.?\s?f|p\.?\s?iva|"
    r"partita iva|codice fiscale|y-tunnus|iban|bic|blz|bankleitzahl|kto|konto|hrb|hra|btw|ičo?|"
    r"dič|oib|pib|st\.?-?nr|company|charity|copyright|©)"
    # VAT numbers begin with their country: BTW BE 0456.789.012.
    r"[\s.:#-]{0,3}(?:(?:at|be|ch|cz|de|dk|ee|el|es|eu|fi|fr|gb|hr|hu|ie|it|lt|lu|lv|nl|no|pl|pt|ro|"
    r"se|si|sk)\b\s?|che-?)?(?:no\.?|nr\.?|n[°º]\.?|num[ée]ro|number|id|code|#)?[\s.:#()\-–]{0,4}$"
    # Goods have long numbers in groups, of which a number plan may take the last ones.
    r"|\b(?:isbn|ean|gtin|upc)(?:-\w{1,2})?(?:\s?(?:code|no\.?|number))?[\s.:#]{0,3}[\d -]{1,16}$"
    # The register of a town: RCS Paris B 512 345 678.
    r"|\b(?:rcs|r\.c\.s\.?)[\s:]{1,3}(?:de )?(?:[\w'’.-]{2,20}\s){1,3}(?:[ab]\s)?(?:n[°º]\.?\s?|:\s)?$"
    # Any other kind of number: Kundennummer, Art.-Nr., organisationsnummer.
    r"|\b(?!\w{0,20}(?:tele|fon|phone|fax|handy|mobil|ruf|line|gsm))"
    r"\w{3,30}[.]?-?(?:nummer|nr|numer|číslo)\b[\s.:#()\-–]{0,4}$"
)
# What stands before the digits a number plan took from the middle of a longer number.
_DIGITS_BEFORE: Final = re.compile(r"[\d./-]{1,20}\Z")


def _has_id_label(text: str, start: int) -> bool:
    before = text[max(0, start - NEAR_ID) : start].lower()
    return bool(_ID_LABEL.search(_DIGITS_BEFORE.sub("", before)))


NEAR_ID: Final = 50


def _is_counting(written: str) -> bool:
    """Distinguish page numbers (1 2 3 4 5 6 7), sizes and years from a number in groups."""
    found = _GROUP.findall(written)
    groups = [int(group) for group in found]
    if len(groups) > 1 and all(1900 <= group <= 2100 for group in groups):
        return True
    steps = {after - before for before, after in itertools.pairwise(groups)}
    is_list = len(groups) > 4 or ("/" in written and len(groups) > 3)
    return is_list and len(steps) == 1 and steps <= {1, 2}


_GROUP: Final = re.compile(r"\d+")
_MONEY_BEFORE: Final = re.compile(
    r"(?:[$€£¥₹]|\b(?:eur|usd|chf|gbp|inr|rs\.?))\s?[\d.,]{0,12}$"
)
_UNIT_AFTER: Final = re.compile(
    r"(?:[.,]\d\d)?\s?(?:[€$£¥₹%]|(?:eur|usd|chf|kč|zł|pln|kr|ft|lei|kg|km|mm|cm|m²|m2|ml|kwh|sqft)(?!\w))",
    re.IGNORECASE,
)
_REGISTER_AFTER: Final = re.compile(r",?\s{0,2}(?:RCS|R\.C\.S)\b")
_CNPJ: Final = re.compile(r"\d{3}\.\d{3}/\d{4}-\d\d$")


# Films, templates and forms call 555; other plans must not lend it a country.
_FICTIONAL: Final = re.compile(
    r"(?:\+?1[ .-]?)?(?:\(?555\)?[ .-]?\d{3}[ .-]?\d{4}|\(?\d{3}\)?[ .-]?555[ .-]?01\d\d)"
)
_DECIMAL: Final = re.compile(r"-?\d{1,3}[.,]\d{4,}")
_DATE: Final = re.compile(
    r"(?<!\d)(?:(?:0?[1-9]|[12]\d|3[01])([-./ ])(?:0?[1-9]|[12]\d|3[01])\1(?:19|20)\d\d"
    r"|(?:19|20)\d\d([-./ ])(?:0?[1-9]|1[0-2])\2(?:0?[1-9]|[12]\d|3[01]))(?!\d)"
)


def _is_date(written: str) -> bool:
    """Say whether digits hold a date; with a country code they are a number."""
    return "+" not in written and bool(_DATE.search(written))


def _is_something_else(text: str, start: int, end: int, label: str) -> bool:
    written = text[start:end]
    if _FICTIONAL.fullmatch(written) and _kind(label) is None:
        return True
    if _DECIMAL.fullmatch(written) and not _PHONE.search(label):
        return True
    if _is_date(written) or _is_counting(written) or _CNPJ.search(written):
        return True
    if _has_id_label(text, start) or _MONEY_BEFORE.search(label):
        return True
    if _UNIT_AFTER.match(text, end) and _kind(label) is None:
        return True
    if _REGISTER_AFTER.match(text, end):
        return True
    before = text[start - 1 : start]
    after = text[end : end + 2]
    return before in "_=/@" and before != "" and after[:1] in "_/&.html"
