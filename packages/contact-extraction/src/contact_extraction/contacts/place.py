"""Guess the countries a page speaks from, the likeliest first."""

import re
from collections import Counter, defaultdict
from functools import cache, lru_cache
from typing import Final
from urllib.parse import urlsplit

import phonenumbers

from contact_extraction import wordlist
from contact_extraction.contacts.model import Hints
from contact_extraction.contacts.page_text import PageText
from contact_extraction.html import text_language, words
from contact_extraction.text import strip_accents

MAX_REGIONS: Final = 8


def guess_regions(sheet: PageText, url: str, hints: Hints) -> tuple[str, ...]:
    """Weigh what the page and its address say about its country."""
    votes: Counter[str] = Counter()
    # A place source may say "UK" or "EU": what no number plan knows does not vote.
    if hints.country and (known := country_code(hints.country)):
        votes[known] += 10
    _vote_by_domain(url, votes)
    is_at_home = bool(votes)
    is_declared = _vote_by_language(sheet, hints, votes)
    _vote_by_numbers(sheet, votes)
    _vote_by_structured_data(sheet, votes)
    _vote_by_text(sheet, votes, is_declared=is_declared)
    if not (is_at_home or is_declared):
        _vote_by_forms(sheet, votes)
    _vote_by_mail(sheet, votes)
    ranked = [region for region, weight in votes.most_common() if weight > 0]
    return tuple(ranked[:MAX_REGIONS])


@cache
def country_names() -> dict[str, str]:
    """Map names of countries, folded, to ISO codes."""
    names = {}
    for line in wordlist.load_ordered("countries"):
        code, *forms = line.split("|")
        for form in (code, *forms) if code in _CODES_AS_NAMES else forms:
            names[form.casefold()] = code
            names.setdefault(strip_accents(form).casefold(), code)
    return names


def country_code(text: str) -> str | None:
    """Give the ISO code of a country's name or code as structured data writes it."""
    folded = text.strip(" .,").casefold()
    if len(folded) == 2 and folded.upper() in phonenumbers.SUPPORTED_REGIONS:
        return folded.upper()
    if len(folded) == 3 and folded.upper() in _ALPHA_3:
        return _ALPHA_3[folded.upper()]
    names = country_names()
    return names.get(folded) or names.get(text.strip().casefold())


_CODES_AS_NAMES: Final = words("US UK")
_ALPHA_3: Final = {
    "USA": "US", "CAN": "CA", "GBR": "GB", "IRL": "IE", "AUS": "AU", "NZL": "NZ",
    "DEU": "DE", "AUT": "AT", "CHE": "CH", "FRA": "FR", "BEL": "BE", "NLD": "NL",
    "ESP": "ES", "PRT": "PT", "ITA": "IT", "DNK": "DK", "SWE": "SE", "NOR": "NO",
    "FIN": "FI", "POL": "PL", "CZE": "CZ", "IND": "IN", "JPN": "JP", "BRA": "BR",
    "MEX": "MX", "TUR": "TR", "ZAF": "ZA", "SGP": "SG",
}  # fmt: skip
# Country endings that businesses everywhere use for their sound.
_GENERIC_ENDINGS: Final = words(
    "co io me tv ai ly to fm cc ws eu la gg sh so st vc am im is nu tk ml ga cf gq bz"
)
_LANGUAGE_CODES: Final = {
    "eng": "en", "deu": "de", "fra": "fr", "spa": "es", "ita": "it", "nld": "nl",
    "por": "pt", "pol": "pl", "swe": "sv", "dan": "da", "nob": "nb", "fin": "fi",
    "ces": "cs", "slk": "sk", "hun": "hu", "ron": "ro", "bul": "bg", "hrv": "hr",
    "slv": "sl", "srp": "sr", "ell": "el", "tur": "tr", "rus": "ru", "ukr": "uk",
    "heb": "he", "jpn": "ja", "kor": "ko", "cmn": "zh", "tha": "th", "vie": "vi",
    "ind": "id", "est": "et", "lav": "lv", "lit": "lt", "aze": "az", "kat": "ka",
    "hye": "hy", "hin": "hi", "cat": "ca",
}  # fmt: skip
_LANGUAGE_HOME: Final = {
    "de": ("DE", "AT", "CH"), "fr": ("FR", "BE", "CH"), "nl": ("NL", "BE"),
    "it": ("IT", "CH"), "es": ("ES", "MX", "AR"), "pt": ("PT", "BR"), "pl": ("PL",),
    "sv": ("SE", "FI"), "da": ("DK",), "nb": ("NO",), "no": ("NO",), "nn": ("NO",),
    "fi": ("FI",), "cs": ("CZ",), "sk": ("SK",), "hu": ("HU",), "ro": ("RO",),
    "bg": ("BG",), "hr": ("HR",), "sl": ("SI",), "sr": ("RS",), "el": ("GR",),
    "tr": ("TR",), "ru": ("RU",), "uk": ("UA",), "he": ("IL",), "iw": ("IL",),
    "ja": ("JP",), "ko": ("KR",), "zh": ("CN",), "th": ("TH",), "vi": ("VN",),
    "id": ("ID",), "ms": ("MY",), "et": ("EE",), "lv": ("LV",), "lt": ("LT",),
    "az": ("AZ",), "ka": ("GE",), "hy": ("AM",), "hi": ("IN",), "ar": (),
    "en": ("US", "GB"), "ca": ("ES",), "eu": ("ES",), "gl": ("ES",), "is": ("IS",),
}  # fmt: skip


def _vote_by_domain(url: str, votes: Counter[str]) -> None:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return
    ending = host.rpartition(".")[2].upper()
    if ending == "UK":
        ending = "GB"
    if ending.lower() not in _GENERIC_ENDINGS and (
        ending in phonenumbers.SUPPORTED_REGIONS
    ):
        votes[ending] += 6


def _vote_by_language(sheet: PageText, hints: Hints, votes: Counter[str]) -> bool:
    """Let the language vote; say whether the page names it itself.

    One that is only detected in a menu and a few names is often wrong.
    """
    page = sheet.page
    code = page.language or hints.language or page.meta("content-language")
    code = code or page.meta("og:locale")
    is_declared = bool(code)
    # Templates claim English for pages in any language.
    if not code or (code[:2].lower() == "en" and _FOREIGN.search(sheet.text)):
        code = _LANGUAGE_CODES.get(text_language(sheet.text) or "", code)
    parts = re.split(r"[-_,; ]", code)
    language = parts[0].lower()
    if len(parts) > 1 and parts[1].upper() in phonenumbers.SUPPORTED_REGIONS:
        # en-US is what site builders write everywhere, so it says little.
        votes[parts[1].upper()] += 1 if parts[1].upper() == "US" else 3
    for place, region in enumerate(_LANGUAGE_HOME.get(language, ())):
        weight = 1 if language == "en" else 3
        votes[region] += weight if place == 0 else 1
    if not language or not is_declared:
        votes["US"] += 1
        votes["GB"] += 1
    return is_declared


# A letter that English does not have: curly quotes and dashes stand on any page.
_FOREIGN: Final = re.compile(r"[\u00c0-\u1fff\u2c00-\ud7ff\uf900-\ufaff]")


def _vote_by_forms(sheet: PageText, votes: Counter[str]) -> None:
    """Let numbers vote that are written as nobody else writes them: (512) 555-0188."""
    seen = _AMERICAN.findall(sheet.numbered[:MAX_FORMS])
    votes["US"] += min(8, 4 * len(seen))


MAX_FORMS: Final = 100_000
_AMERICAN: Final = re.compile(
    r"(?<![\w.+-])(?:1[-. ])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[-.])[2-9]\d\d[-. ]\d{4}(?![\w-])"
)


# A set comes first, so that the matcher runs to the next sign of it.
_PLUS: Final = re.compile(r"[+0](?:(?<=\+)|(?<!\w0)0)(\d[\d ()./-]{5,20})")


def _vote_by_numbers(sheet: PageText, votes: Counter[str]) -> None:
    texts = [link.href for link in sheet.page.links if link.href[:4].lower() == "tel:"]
    if "+" in sheet.text:
        texts.append(sheet.text)
    seen: Counter[str] = Counter()
    for text in texts[:200]:
        for count, match in enumerate(_PLUS.finditer(text)):
            if count > 50:
                break
            digits = "".join(c for c in match[1] if c.isdigit())
            for length in (1, 2, 3):
                regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(
                    int(digits[:length] or 0)
                )
                if regions and regions[0] != "001":
                    seen[regions[0]] += 1
                    break
    for region, count in seen.items():
        votes[region] += min(6, 2 + 2 * count)


def _vote_by_mail(sheet: PageText, votes: Counter[str]) -> None:
    """Let the country endings of mail addresses vote: info@firma.sk is Slovak."""
    seen = set()
    texts = [link.href for link in sheet.page.links if link.href[:7] == "mailto:"]
    if "@" in sheet.text:
        texts.append(sheet.text)
    for text in texts[:200]:
        for count, match in enumerate(_MAIL_ENDING.finditer(text)):
            if count > 50:
                break
            seen.add("GB" if match[1].lower() == "uk" else match[1].upper())
    for ending in seen:
        if ending.lower() not in _GENERIC_ENDINGS and (
            ending in phonenumbers.SUPPORTED_REGIONS
        ):
            votes[ending] += 3


_MAIL_ENDING: Final = re.compile(r"@[\w.-]{2,60}\.([a-zA-Z]{2})\b")


def _vote_by_structured_data(sheet: PageText, votes: Counter[str]) -> None:
    for thing in sheet.page.json_ld[:200]:
        address = thing.get("address")
        for part in address if isinstance(address, list) else [address]:
            country = part.get("addressCountry") if isinstance(part, dict) else None
            if isinstance(country, dict):
                country = country.get("name")
            if isinstance(country, str) and (code := country_code(country)):
                votes[code] += 6


_STATE_BEFORE: Final = re.compile(
    r"\b(?:A[LKZR]|C[AOT]|D[EC]|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|"
    r"O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY])\.?,?\s{1,3}$"
)
_OUTWARD_BEFORE: Final = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]?\s{1,2}$")
_CA_BEFORE: Final = re.compile(r"\b[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?$")
_AU_BEFORE: Final = re.compile(r"\b(?:NSW|VIC|QLD|TAS|ACT|NT|SA|WA),?\s{1,3}$")
# The end of a telephone number looks like a code too.
_WORD_BEFORE: Final = re.compile(r"(?:^|[\n,;]|[^\W\d_])[ \t]{0,2}(?:[-–] )?$")
_CITY_BESIDE: Final = re.compile(r" {1,2}[A-ZÀ-Ž]")
_CITY_AFTER: Final = re.compile(r"\s+[A-Z]")
# Each starts with a digit, so that the matcher only stops where one is; what stands
# before it is looked at next.
_CODES: Final = (
    ("US", re.compile(r"\d(?<=\s\d)\d{4}(?:-\d{4})?\b"), _STATE_BEFORE, None, 5),
    ("GB", re.compile(r"\d(?<=\s\d)[ABD-HJLNP-UW-Z]{2}\b"), _OUTWARD_BEFORE, None, 5),
    ("CA", re.compile(r"\d[ABCEGHJ-NPRSTV-Z]\d\b"), _CA_BEFORE, None, 5),
    (
        "NL",
        re.compile(r"[1-9]\d{3}\s?(?!SS|SA|SD)[A-Z]{2}\b"),
        None,
        _CITY_AFTER,
        3,
    ),
    ("AU", re.compile(r"\d(?<=\s\d)\d{3}\b"), _AU_BEFORE, None, 5),
    ("PL", re.compile(r"\d{2}-\d{3}\b(?!-)"), _WORD_BEFORE, _CITY_BESIDE, 3),
    ("PT", re.compile(r"\d{4}-\d{3}\b(?!-)"), _WORD_BEFORE, _CITY_BESIDE, 3),
)
MAX_CODES: Final = 300


def _has_code(
    text: str,
    code: re.Pattern[str],
    before: re.Pattern[str] | None,
    after: re.Pattern[str] | None,
) -> bool:
    for count, match in enumerate(code.finditer(text)):
        if count > MAX_CODES:
            return False
        left = text[max(0, match.start() - 12) : match.start()]
        if before is not None and not before.search(left):
            continue
        if after is not None and not after.match(text, match.end()):
            continue
        return True
    return False


_PROVINCES: Final = (
    "Ontario",
    "Alberta",
    "British Columbia",
    "Quebec",
    "Québec",
    "Manitoba",
    "Saskatchewan",
    "Nova Scotia",
)


def _vote_by_text(sheet: PageText, votes: Counter[str], *, is_declared: bool) -> None:
    text = sheet.text[:400_000]
    numbered = sheet.numbered[:400_000]
    # On a page in another language an English postal code is somebody else's.
    is_english = bool(votes["US"] or votes["GB"]) or not is_declared
    for region, code, before, after, weight in _CODES:
        if _has_code(numbered, code, before, after):
            is_foreign = region in ("US", "GB") and not is_english
            votes[region] += 1 if is_foreign else weight
    if any(name in text for name in _PROVINCES):
        votes["CA"] += 2
    if "£" in text:
        votes["GB"] += 2
    if "0xx" in text:
        votes["BR"] += 5
    # First words are looked up before the text is searched for the whole name.
    named = _spelled_countries()
    found = {
        place
        for first in named.keys() & sheet.words
        for place, form in named[first]
        if form in text
    }
    for _, region in sorted(found):
        votes[region] += 1
    for region, count in _countries_of_addresses(sheet).items():
        votes[region] = min(20, votes[region] + 2 * count)


def _countries_of_addresses(sheet: PageText) -> Counter[str]:
    """Count the lines that end an address with its country.

    A bare name needs an address above it, or to be one of a list of offices: on a menu
    "Turkey" is not a country.
    """
    seen: Counter[str] = Counter()
    bare: Counter[str] = Counter()
    above = ""
    for line in sheet.lines:
        text = line.text
        if len(text) < MAX_COUNTRY_LINE and (region := _country_at_end(text)):
            is_below = any(c.isdigit() for c in above[-MAX_COUNTRY_LINE:])
            (seen if "," in text or is_below else bare)[region] += 1
        above = text
    return seen + bare if len(bare) >= MANY_COUNTRIES else seen


# Pages of a site share the lines of their menu and footer.
@lru_cache(4_096)
def _country_at_end(text: str) -> str | None:
    tail = text.rpartition(",")[2]
    if len(tail) >= MAX_COUNTRY:
        return None
    return country_names().get(tail.strip(" .").casefold())


MANY_COUNTRIES: Final = 3
MAX_COUNTRY_LINE: Final = 120
MAX_COUNTRY: Final = 60
"""Characters of a country's name, more than the longest has."""


@cache
def _spelled_countries() -> dict[str, list[tuple[tuple[int, str], str]]]:
    """Give the names long enough to be looked for anywhere in a text, by first word.

    Each with its country and the place of that in the list.
    """
    countries: defaultdict[str, list[tuple[tuple[int, str], str]]] = defaultdict(list)
    for number, line in enumerate(wordlist.load_ordered("countries")):
        code, *forms = line.split("|")
        for form in forms:
            if len(form) > 3:
                countries[form.split()[0]].append(((number, code), form))
    return dict(countries)
