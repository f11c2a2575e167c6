"""Addresses of countries where streets have no grammar: the Gulf, India, much of Asia."""

import re
from typing import Final

from contact_extraction.contacts.address.locality import Locality
from contact_extraction.contacts.address.piece import MAX_PIECE, Piece, cut
from contact_extraction.contacts.address.unit import NOT_ADDRESS
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.place import country_names
from contact_extraction.html import words

MAX_FREE: Final = 200
MAX_FREE_PIECE: Final = 60
MAX_COUNTRY: Final = 40
Read = tuple[list[Piece], Locality]


FREE_FORM: Final = words(
    "AE SA QA KW BH OM JO LB IQ EG YE SY IR IN PK BD LK NP MM MY ID SG PH TH VN KH CN HK MO "
    "TW KR JP KE NG GH TZ UG ZM ZW ET RW MU SN CI CM AO MZ KZ UZ AZ GE AM AF MN"
)


class FreeForm:
    """Reads addresses of countries where streets have no grammar.

    The street is what stands between the name of the firm and the city, over several
    lines or between commas.
    """

    def __init__(
        self, sheet: PageText, regions: tuple[str, ...], postcode: re.Pattern[str]
    ) -> None:
        self.sheet = sheet
        self.regions = regions
        self.postcode = postcode
        self.blocks = self._blocks()

    def read(self, number: int, text: str) -> Read | None:
        """Read the address that begins on a line, if one does."""
        if last := self.blocks.get(number):
            return self._free_block(number, last)
        if text.count(",") >= 2 and len(text) <= MAX_FREE:
            return self._free_line(number)
        return None

    def _blocks(self) -> dict[int, int]:
        """Map the first to the last line of blocks that end in a country or a code."""
        blocks = {}
        for number, line in enumerate(self.sheet.lines):
            if number == 0 or len(line.text) > MAX_COUNTRY:
                continue
            end = self._end_of_block(line.text)
            if end is None:
                continue
            first = self._start_of_block(number, is_rowed=end.code is not None)
            if number - first >= (1 if end.city else 2):
                blocks[first] = number
        return blocks

    def _end_of_block(self, text: str) -> Locality | None:
        """Read a line that ends an address: `Bahrain`, `Pune 411 001`, `Doha, Qatar`."""
        names = country_names()
        country = names.get(_country_text(text))
        if country:
            return Locality(country=country) if country in FREE_FORM else None
        if "IN" in self.regions and (match := _INDIAN_END.fullmatch(text)):
            return Locality(city=match[1], code=match[2], country="IN")
        match = _CITY_COUNTRY.fullmatch(text)
        # "Sultanate of Oman" is not a city in Oman.
        is_place = match is not None and not match[1].endswith((" of", " the"))
        if match and is_place and names.get(match[3].casefold()) in FREE_FORM:
            return Locality(
                city=match[1].strip(" ,-"),
                code=match[2],
                country=names[match[3].casefold()],
            )
        return None

    def _start_of_block(self, number: int, *, is_rowed: bool) -> int:
        lines = self.sheet.lines
        last = lines[number]
        first = number
        while first > max(0, number - 8):
            above = lines[first - 1]
            is_same = above.container == last.container or (
                is_rowed and above.tag == last.tag == "td"
            )
            if (
                not is_same
                or len(above.text) > MAX_PIECE
                or above.heading
                or NOT_ADDRESS.search(above.text)
                or self._end_of_block(above.text)
            ):
                break
            first -= 1
        while first < number and _is_firm(lines[first].text):
            first += 1
        return first

    def _free_block(self, first: int, last: int) -> Read | None:
        lines = self.sheet.lines
        place = self._end_of_block(lines[last].text)
        if place is None:
            return None
        city = last
        if place.city is None:
            city = last - 1
            if city - first > 1 and _ONLY_CODE.fullmatch(lines[city].text):
                place.code = _ONLY_CODE.sub(r"\1", lines[city].text)
                city -= 1
            tail = _CODE_AT_END.search(lines[city].text)
            if tail and not place.code:
                place.code = tail[1]
            place.city = _CODE_AT_END.sub("", lines[city].text).strip(" ,-") or None
        while city - first > 2 and not _is_place_part(lines[first].text):
            first += 1
        street = [
            Piece(
                line.text.strip(" ,"),
                n,
                at := self.sheet.starts[n],
                at + len(line.text),
            )
            for n, line in enumerate(lines[first:city], first)
        ]
        if not _is_free_street(street, place):
            return None
        place.last_line = last
        place.end = self.sheet.starts[last] + len(lines[last].text)
        return street, place

    def _free_line(self, number: int) -> Read | None:
        pieces = list(cut(self.sheet, number, 0))
        end, place = self._free_end(pieces)
        if end < 1 or any(len(piece.text) > MAX_FREE_PIECE for piece in pieces):
            return None
        street = pieces[:end]
        label = street[0].text.rpartition(":")[2].strip()
        street[0].start = street[0].end - len(label)
        street[0].text = label
        while len(street) > 1 and _is_firm(street[0].text):
            del street[0]
        if not _is_free_street(street, place):
            return None
        return street, place

    def _free_end(self, pieces: list[Piece]) -> tuple[int, Locality]:
        """Find where the street ends: before the city with the code, or the country."""
        place = Locality()
        for at, piece in enumerate(pieces):
            code = self.postcode.search(piece.text)
            country = country_names().get(_country_text(piece.text))
            if code and code.lastgroup in FREE_FORM:
                place.code, place.region = code[0].strip(), code.lastgroup or ""
                place.city = piece.text[: code.start()].strip(" ,-") or None
            elif country not in FREE_FORM or at < 2:
                continue
            else:
                place.country = country
            place.end, place.last_line = piece.end, piece.line
            if place.city:
                return at, place
            place.city = pieces[at - 1].text if at else None
            return at - 1, place
        return 0, place


def _country_text(text: str) -> str:
    bare = _CODE_AT_END.sub("", text).strip(" .,-()").casefold()
    return _STYLE_OF_STATE.sub("", bare)


def _is_firm(text: str) -> bool:
    return bool(_FIRM.search(text.rstrip(" ,")))


def _is_place_part(text: str) -> bool:
    return bool(_DIGIT.search(text)) or bool(_PLACE_PART.search(text))


def _is_free_street(street: list[Piece], place: Locality) -> bool:
    """Say whether lines look like a way to a door: words of places, and a number."""
    text = " ".join(piece.text for piece in street)
    if not all(_is_spelled_as_name(piece.text) for piece in street):
        return False
    signs = bool(_DIGIT.search(text)) + bool(_PLACE_PART.search(text))
    return signs == 2 or (signs == 1 and place.code is not None)


def _is_spelled_as_name(text: str) -> bool:
    if text[:1].islower() and not text.startswith(_LOWER_STARTS):
        return False
    return sum(word.islower() for word in text.split()) <= 2


_DIGIT: Final = re.compile(r"\d")
_CODE_AT_END: Final = re.compile(r"[\s,–-]{0,3}\(?(\d{3}[ -]?\d{3,4}|\d{4,6})\)?$")
_INDIAN_END: Final = re.compile(
    r"([A-Z][A-Za-z .]{2,25}?)[\s,–-]{1,3}(\d{3} ?\d{3})(?: ?\([A-Z]{2,3}\))?\.?"
)
_CITY_COUNTRY: Final = re.compile(
    r"([A-Z][A-Za-z .'’-]{2,25}?)(?:[\s,–-]{1,3}\(?(\d{4,6})\)?)?[\s,–-]{1,3}"
    r"([A-Z][A-Za-z]{3,12}(?: [A-Z][A-Za-z]{2,12}){0,2})\.?"
)
_ONLY_CODE: Final = re.compile(
    r"(?:(?:P\.?\s?C\.?|Pin(?:\scode)?|Post(?:al\s)?code|Zip)[\s:.-]{0,3})?(\d{4,6})",
    re.IGNORECASE,
)
_PLACE_PART: Final = re.compile(
    r"\b(?:Floors?|Fl|Building|Bldg|Towers?|Complex|Block|Zone|Villa|Plot|Sector|Flat|Box|"
    r"Road|Rd|Street|St|Avenue|Ave|Lane|Marg|Nagar|Jalan|Jln|Jl|Lot|Unit|Suite|Room|Office|Shop|"
    r"Area|Estate|House|Plaza|Cent(?:re|er)|Mansion|Chambers|Arcade|Colony|Opp|Near|Behind|"
    r"Circle|Cross|Main|Highway|Gate|Park|Corniche|Soi|Moo|Phase|Wing|Campus|Square)\b",
    re.IGNORECASE,
)
_FIRM: Final = re.compile(
    r"\b(?:Ltd|Limited|LLC|L\.L\.C|Inc|Pvt|Pte|FZE|FZCO|FZ-LLC|WLL|W\.L\.L|Co|Company|Corp|"
    r"Corporation|Sdn|Bhd|Group|GmbH|PT|Tbk|QSC)\b\.?\)?$"
)
_LOWER_STARTS: Final = (
    "off",
    "opp",
    "near",
    "behind",
    "next to",
    "plot",
    "no",
    "sector",
)
_STYLE_OF_STATE: Final = re.compile(
    r"^(?:(?:sultanate|kingdom|state|(?:islamic |people['’]s )?republic) of |p\.?\s?r\.?\s?(?=china))"
)
