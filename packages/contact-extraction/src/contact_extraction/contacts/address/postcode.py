"""Postal codes of countries."""

import re
from functools import lru_cache
from typing import Final

from contact_extraction.contacts.address.state import US_STATES
from contact_extraction.html import words


@lru_cache(maxsize=256)
def postcode_pattern(regions: tuple[str, ...]) -> re.Pattern[str]:
    """Build one pattern for the codes of the page's countries; GB and CA are safe."""
    parts = []
    for region in dict.fromkeys((*regions, "GB", "CA")):
        code = POSTCODES.get(region)
        if code is None or region == "US":
            continue
        ahead = (
            ""
            if region in _CODE_AFTER
            else r"(?=\s{0,3}(?:$|te\s[A-Z]|[,A-ZÀ-ÞÄÖÜŁŚŻŹČŠŽŘİŞĐĆĎŤŇΆ-ΏΑ-ΫЀ-Я('’]))"
        )
        before = r"(?<![\w+(.])(?<!\d-)" if region == "IN" else r"(?<![\w+(.-])"
        parts.append(rf"(?P<{region}>{before}(?:{code})(?![\w-]){ahead})")
    parts.append(
        r"(?P<prefixed>(?<![\w+(.-])(?:D|F|A|B|L|I|E|CH|DK|SE?|NO?|FIN?|H|SI|HR|LT|LV)-\d{4,5}(?![\w-]))"
    )
    if "US" in regions:
        states = "|".join(sorted(US_STATES))
        parts.append(
            rf"(?P<US>(?<=[A-Za-z.,–-] )(?<![$#] )\d{{5}}(?:-\d{{4}})?(?![\w-])|(?:{states}),?\s{{1,2}}\d{{5}}(?:-\d{{4}})?(?![\w-]))"
        )
    # Most letters of a text are small ones, at which no code begins.
    return re.compile(rf"(?=[\d〒A-Z])(?:{'|'.join(parts)})")


POSTCODES: Final = {
    "US": r"\d{5}(?:-\d{4})?",
    "CA": r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d",
    "GB": r"(?:GIR ?0AA|[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2})",
    "IE": r"(?:[AC-FHKNPRTV-Y]\d[\dW] ?[\dAC-FHKNPRTV-Y]{4}|Dublin \d{1,2}W?)",
    "DE": r"(?:D[ –-]{0,3})?\d{5}", "FR": r"(?:F[ –-]{0,3})?\d{5}", "ES": r"(?:E[ –-]{0,3})?\d{5}",
    "IT": r"(?:I[ –-]{0,3})?\d{5}", "FI": r"(?:FI[ –-]{0,3}|FIN[ –-]{0,3})?\d{5}",
    "TR": r"\d{5}", "MX": r"(?:C\.?P\.? ?)?\d{5}", "EE": r"\d{5}", "HR": r"(?:HR[ –-]{0,3})?\d{2} ?\d{3}",
    "RS": r"\d{5}", "UA": r"\d{5}", "TH": r"\d{5}", "MY": r"\d{5}", "ID": r"\d{5}",
    "AT": r"(?:A[ –-]{0,3})?\d{4}", "CH": r"(?:CH[ –-]{0,3})?\d{4}", "BE": r"(?:B[ –-]{0,3})?\d{4}",
    "LU": r"(?:L[ –-]{0,3})?\d{4}", "DK": r"(?:DK[ –-]{0,3})?\d{4}", "NO": r"(?:N[O]?[ –-]{0,3})?\d{4}",
    "AU": r"\d{4}", "NZ": r"\d{4}", "ZA": r"\d{4}", "HU": r"(?:H[ –-]{0,3})?\d{4}",
    "SI": r"(?:SI[ –-]{0,3})?\d{4}", "BG": r"\d{4}", "PH": r"\d{4}",
    "NL": r"\d{4} ?[A-Z]{2}", "SE": r"(?:SE?[ –-]{0,3})?\d{3} ?\d{2}", "CZ": r"\d{3} ?\d{2}|\d{2} \d{3}(?= [A-ZČŘŠŽ][a-zá-ž]{2})",
    "SK": r"\d{3} ?\d{2}", "GR": r"\d{3} ?\d{2}", "PL": r"\d{2}-\d{3}",
    "PT": r"\d{4}-\d{3}", "BR": r"\d{5}-?\d{3}", "JP": r"〒?\s?\d{3}-\d{4}",
    "IN": r"\d{3} ?\d{3}", "CN": r"\d{6}", "RU": r"\d{6}", "SG": r"\d{6}", "RO": r"\d{6}",
    "KR": r"\d{3}-\d{3}|\d{5}", "TW": r"\d{3}(?:\d{2})?", "AR": r"(?:[A-Z]\d{4}[A-Z]{3}|\d{4})",
    "AZ": r"(?:AZ ?)?\d{4}", "LV": r"LV-?\d{4}", "LT": r"LT-?\d{5}", "IL": r"\d{5,7}",
}  # fmt: skip
EIRCODE: Final = re.compile(r"[AC-FHKNPRTV-Y]\d[\dW] ?[\dAC-FHKNPRTV-Y]{4}")
"""The code of one door, as Ireland has them."""
_CODE_AFTER: Final = words("US CA GB IE AU NZ IN CN JP SG KR TW TH ZA PH RU BR")
SHORT_CODES: Final = words(
    "AT CH BE LU DK NO AU NZ ZA HU SI BG PH TW AR AZ DE FR ES IT "
    "FI TR MX EE HR RS UA TH MY ID KR IL CN RU SG RO SE CZ SK GR IN JP PL PT US NL BR"
)
PREFIXES: Final = {
    "D": "DE", "F": "FR", "A": "AT", "B": "BE", "L": "LU", "I": "IT", "E": "ES", "CH": "CH",
    "DK": "DK", "S": "SE", "SE": "SE", "N": "NO", "NO": "NO", "FI": "FI", "FIN": "FI",
    "H": "HU", "SI": "SI", "HR": "HR", "LT": "LT", "LV": "LV",
}  # fmt: skip
