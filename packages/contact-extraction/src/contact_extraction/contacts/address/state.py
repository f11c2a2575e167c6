"""States, provinces and counties, by name or by letters."""

from functools import lru_cache
from typing import Final

from contact_extraction import wordlist
from contact_extraction.html import words


@lru_cache(maxsize=4096)
def is_state(text: str) -> bool:
    """Say whether a text is a state, a province or a county."""
    short = text.replace(".", "").replace(" ", "")
    if short in US_STATES or short in CA_STATES or short in _AU_STATES:
        return text.isupper()
    folded = text.strip(" .()").casefold()
    if folded in wordlist.load("states"):
        return True
    return folded.startswith(("co. ", "co ", "county ")) and len(folded) < 25


US_STATES: Final = words(
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE "
    "NV NH NJ NM NY NC ND OH OK OR PA PR RI SC SD TN TX UT VT VA WA WV WI WY"
)
CA_STATES: Final = words("AB BC MB NB NL NS NT NU ON PE QC SK YT PQ")
_AU_STATES: Final = words("NSW VIC QLD WA SA TAS ACT NT")
