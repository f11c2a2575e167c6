"""Read the addresses of a page: find a street or a code, then what belongs to it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

from contact_extraction.contacts.address.box import BOX, is_box
from contact_extraction.contacts.address.free_form import FREE_FORM, FreeForm
from contact_extraction.contacts.address.locality import (
    BRACKETS,
    CITY,
    Locality,
    country_of,
    is_amount_of,
    read_locality,
    read_past_units,
    read_piece,
    read_place_before,
    without_contact,
)
from contact_extraction.contacts.address.piece import (
    MAX_PIECE,
    Piece,
    cut,
    pieces_after,
    without_preposition,
)
from contact_extraction.contacts.address.postcode import (
    EIRCODE,
    SHORT_CODES,
    postcode_pattern,
)
from contact_extraction.contacts.address.state import is_state
from contact_extraction.contacts.address.street import (
    AMOUNT,
    COPYRIGHT_BEFORE,
    CORNER,
    HOUSE_NUMBER,
    MAX_LINE,
    NUMBERLESS,
    ROAD_END,
    ROAD_HINT,
    ROAD_WORDS,
    STATE_AS_COURT,
    STRONG_END,
    YEAR,
    goes_on_as_prose,
    is_foreign_street,
    is_number_of_road,
    is_numberless,
    is_street,
    is_sure_street,
    street_match,
    street_pattern,
)
from contact_extraction.contacts.address.unit import (
    LEGAL_PREFIX,
    NOT_ADDRESS,
    PUBLIC_HOUSE,
    SURE_PART,
    UNIT,
    UNIT_HEAD,
    UNIT_WORD,
    is_part,
    is_unit,
)
from contact_extraction.contacts.model import AddressSighting, Method
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.place import country_names

MAX_FOUND: Final = 500
MIN_NUMBERLESS: Final = 6
MAX_BETWEEN: Final = 40
MAX_TOWN: Final = 30


class Reader:
    """Reads the addresses of one page."""

    def __init__(self, sheet: PageText, regions: tuple[str, ...]) -> None:
        self.sheet = sheet
        self.regions = regions or ("US",)
        self.postcode = postcode_pattern(self.regions)
        self.street = street_pattern(self.regions)
        self.free_form = (
            None
            if FREE_FORM.isdisjoint(self.regions)
            else FreeForm(sheet, self.regions, self.postcode)
        )
        self.taken = -1
        self.has_road = any(word in sheet.text for word in ROAD_WORDS)

    def addresses(self) -> Iterator[AddressSighting]:
        """Yield every address in reading order."""
        given = 0
        for number, line in enumerate(self.sheet.lines):
            text = line.text
            if number <= self.taken and len(text) < MAX_PIECE:
                continue
            if len(text) > 5 * MAX_LINE:
                continue
            if self.free_form and (read := self.free_form.read(number, text)):
                if found := self._found(*read, Method.STREET):
                    yield found
                continue
            if not _has_number(text):
                is_long = self.has_road and len(text) >= MIN_NUMBERLESS
                if is_long and (found := self._without_number(number, text)):
                    yield found
                continue
            for found in self._in_line(number, text):
                yield found
                given += 1
                if given >= MAX_FOUND:
                    return

    def _in_line(self, number: int, text: str) -> Iterator[AddressSighting]:
        last = 0
        matched = False
        for start, end in _streets_in(self.street, text):
            if start < last or not is_street(text[start:end]):
                continue
            if COPYRIGHT_BEFORE.search(text[max(0, start - 20) : start]):
                continue
            found = self._around_street(number, start, end, last)
            if found:
                matched = True
                last = found.end - self.sheet.starts[number]
                yield found
        if matched:
            return
        low = text[:MAX_LINE].lower()
        if "box" in low or "post" in low or "bp" in low:
            box = BOX.search(text[:MAX_LINE])
            if box and is_box(box[0]):
                found = self._around_street(number, box.start(), box.end())
                if found:
                    yield found
                    return
        if len(text) <= MAX_LINE:
            found = self._around_postcode(number, text)
            if found:
                yield found

    def _around_street(
        self, number: int, start: int, end: int, last: int = 0
    ) -> AddressSighting | None:
        base = self.sheet.starts[number]
        text = self.sheet.lines[number].text
        if state := STATE_AS_COURT.match(text[start:end]):
            end = start + state.end(1)
        firm = LEGAL_PREFIX.match(text[start:end])
        start += firm.end() if firm else 0
        if unit := _UNIT_BEFORE.search(text, max(0, start - 20), start):
            start = unit.start()
        street = [Piece(text[start:end].strip(" ,"), number, base + start, base + end)]
        start = self._grow_left(street, number, text, start)
        tail = pieces_after(self.sheet, number, end)
        if tail and tail[0].line == number:
            without_preposition(tail[0])
        self._grow_right(street, tail)
        tail = [piece for piece in tail if not BRACKETS.fullmatch(piece.text)]
        place = read_locality(tail, self.postcode)
        if place.city and is_amount_of(place.city):
            return None
        if not place.code and (past := read_past_units(tail, self.postcode)):
            place, units = past
            street += units
        # A code on another line may be that of the next address: "1052 Budapest, Váci utca 5".
        is_far = place.last_line > number and text[last:start].strip()
        if (is_far or not place.code) and (
            before := self._place_before(number, start, last)
        ):
            place = before
        street_text = " ".join(p.text for p in street)
        if (
            place.code
            and YEAR.fullmatch(place.code)
            and not is_sure_street(street_text)
        ):
            return None
        if not place.is_known and (
            not self._is_plain_street(street_text, text, end)
            or is_number_of_road(text, start, end)
        ):
            return None
        return self._found(street, place, Method.STREET)

    @staticmethod
    def _is_plain_street(street: str, line: str, end: int) -> bool:
        """Say whether a street is one even though nothing says where it is."""
        if not STRONG_END.search(street) and not is_foreign_street(street):
            return False
        return not goes_on_as_prose(line, end)

    def _place_before(self, number: int, start: int, last: int) -> Locality | None:
        """Read the code and city written before the street, or on the line above."""
        line = self.sheet.lines[number]
        base = self.sheet.starts[number]
        before = line.text[last:start].rstrip(" ,;|–-")
        if before:
            place = read_place_before(before, self.postcode)
            return self._placed(place, base + last)
        above = number - 1
        if above <= self.taken or self.sheet.lines[above].container != line.container:
            return None
        text = self.sheet.lines[above].text.rstrip(" ,")
        place = read_place_before(text, self.postcode)
        return self._placed(place, self.sheet.starts[above])

    @staticmethod
    def _placed(place: Locality | None, base: int) -> Locality | None:
        if place is not None:
            place.start += base
        return place

    def _grow_left(
        self, street: list[Piece], number: int, text: str, start: int
    ) -> int:
        """Take units and buildings written before the street."""
        base = self.sheet.starts[number]
        before = [
            match
            for match in _LEFT_PIECE.finditer(text[max(0, start - 120) : start])
            if match[0].strip()
        ][-4:]
        offset = max(0, start - 120)
        units = [
            place
            for place, match in enumerate(before)
            if is_unit(piece := match[0].strip()) and not BOX.match(piece)
        ]
        if units and not any(len(m[0]) > 50 for m in before[units[0] :]):
            for match in reversed(before[units[0] :]):
                piece = match[0].strip()
                at = base + offset + match.start()
                street.insert(0, Piece(piece, number, at, at + len(match[0])))
            start = offset + before[units[0]].start()
        if text[:start].strip(" ,"):
            return start
        for above in range(number - 1, max(-1, number - 4), -1):
            line = self.sheet.lines[above]
            piece = line.text.rstrip(" ,")
            if BOX.match(piece):
                break  # a box is another way to write to them
            # The first line of a block names who lives there, not where.
            is_own = line.container == self.sheet.lines[number].container
            if above <= self.taken or (line.heading and not is_own):
                break
            is_house = is_unit(piece) or is_part(piece)
            is_public = PUBLIC_HOUSE.search(piece) is not None
            is_between = is_own and self._is_below_unit(above)
            if not is_between and (is_public or not is_house):
                break
            if (
                not is_own
                and not UNIT.match(piece)
                and not SURE_PART.search(piece)
                and self._is_first_of_block(above)
            ):
                break
            at = self.sheet.starts[above]
            street.insert(
                0, Piece(line.text.rstrip(" ,"), above, at, at + len(line.text))
            )
        return start

    def _is_below_unit(self, number: int) -> bool:
        """Say whether a line stands between a suite or a floor and its street."""
        line, above = self.sheet.lines[number], self.sheet.lines[number - 1]
        unit = above.text.rstrip(" ,")
        return (
            number - 1 > self.taken
            and line.container == above.container
            and len(line.text) <= MAX_BETWEEN
            and not NOT_ADDRESS.search(line.text)
            and (bool(UNIT.match(unit)) or is_part(unit))
        )

    def _is_first_of_block(self, number: int) -> bool:
        if number == 0:
            return True
        lines = self.sheet.lines
        line, above = lines[number], lines[number - 1]
        if line.container == above.container:
            return bool(above.heading) or len(above.text) > MAX_PIECE
        parents = self.sheet.page.parents
        is_sibling = parents[line.container] == parents[above.container]
        return (
            not is_sibling
            or line.tag == "td"
            or bool(above.heading)
            or bool(NOT_ADDRESS.search(above.text))
        )

    def _grow_right(self, street: list[Piece], tail: list[Piece]) -> None:
        # "Unit 2, The Mews, Castle Street, Trim": the road comes after the building.
        is_in_building = UNIT.match(street[0].text.partition(",")[0]) is not None
        while tail and len(street) < 6:
            piece = tail[0]
            is_near = piece.line - street[-1].line <= 1
            if not is_near:
                break
            is_next_line = piece.line > street[-1].line
            is_road = (
                is_next_line
                or (is_in_building and len(tail) > 1 and ROAD_END.search(piece.text))
            ) and NUMBERLESS.match(piece.text)
            if (
                UNIT.match(piece.text)
                or is_road
                or (
                    (is_unit(piece.text) or (is_next_line and is_part(piece.text)))
                    and not self.postcode.search(piece.text)
                )
            ):
                street.append(tail.pop(0))
                continue
            head, dash, rest = piece.text.partition(" - ")
            if dash and is_unit(head):
                street.append(
                    Piece(head, piece.line, piece.start, piece.start + len(head))
                )
                piece.text, piece.start = rest, piece.end - len(rest)
                continue
            split = UNIT_HEAD.match(piece.text)
            if not split:
                break
            end = piece.start + split.end(1)
            street.append(Piece(split[1], piece.line, piece.start, end))
            piece.text, piece.start = split[2], piece.end - len(split[2])
            break

    def _without_number(self, number: int, text: str) -> AddressSighting | None:
        """Read `Mill House, Station Road, Cork, Co. Cork`: a street needs no number."""
        if len(text) > MAX_LINE or not ROAD_HINT.search(text):
            return None
        label = _LABEL.match(text)
        pieces = list(cut(self.sheet, number, label.end() if label else 0))
        for place, piece in enumerate(pieces):
            if not NUMBERLESS.match(piece.text):
                continue
            first = place
            while first and is_unit(pieces[first - 1].text):
                first -= 1
            street = pieces[first : place + 1]
            if not first:
                street = [*self._units_above(number), *street]
            tail = pieces[place + 1 :] or pieces_after(self.sheet, number, len(text))
            where = read_locality(tail, self.postcode)
            if where.code or (where.city and (where.country or where.state)):
                return self._found(street, where, Method.STREET)
        return None

    def _units_above(self, number: int) -> list[Piece]:
        """Take the house written on a line of its own above a street without number."""
        pieces: list[Piece] = []
        own = self.sheet.lines[number].container
        for above in range(number - 1, max(self.taken, number - 3), -1):
            line = self.sheet.lines[above]
            text = line.text.rstrip(" ,")
            if line.container != own or not is_unit(text):
                break
            at = self.sheet.starts[above]
            pieces.insert(0, Piece(text, above, at, at + len(line.text)))
        return pieces

    def _around_postcode(self, number: int, text: str) -> AddressSighting | None:
        code = _code_in(self.postcode, text)
        if code is None:
            return None
        start, end, region = code
        if NOT_ADDRESS.search(text[max(0, start - 40) : start]):
            return None
        if _SINCE.search(text[max(0, end - 30) : end]):
            return None
        pieces = list(cut(self.sheet, number, 0))
        at = next(
            (i for i, p in enumerate(pieces) if self.postcode.search(p.text)), None
        )
        if at is None:
            return None
        if parted := _parted(pieces[at], self.postcode):
            pieces[at : at + 1] = parted
            at += 1
        before = pieces[:at]
        above = self._lines_above(number) if at <= 2 else []
        candidates = [*above, *before]
        has_country = any(
            p.text.casefold() in country_names() for p in pieces[at + 1 :]
        )
        if region in SHORT_CODES and not candidates and not has_country:
            return None
        place = Locality()
        town = self._town_of_bare_code(pieces, at, candidates)
        read_piece(pieces[at], place, self.postcode, town)
        if not place.code:
            return None
        street = self._street_before(candidates, place)
        place.city = place.city or town or None
        street_text = " ".join(piece.text for piece in street)
        if place.city and is_amount_of(place.city):
            return None
        if YEAR.fullmatch(place.code) and not is_sure_street(street_text):
            return None
        for piece in pieces[at + 1 : at + 3]:
            if not read_piece(piece, place, self.postcode):
                break
        for piece in pieces_after(self.sheet, number, len(text))[:2]:
            folded = piece.text.casefold().strip(" .")
            if not place.country and folded in country_names():
                place.country = country_names()[folded]
        if not street:
            street = self._street_behind(pieces, at, place)
        if not street and not (has_country and place.city):
            return None  # a code and a town are where many are
        place.end = max(place.end, pieces[at].end)
        place.last_line = number
        street = street or [Piece("", number, pieces[at].start, pieces[at].start)]
        return self._found(street, place, Method.POSTAL)

    def _town_of_bare_code(
        self, pieces: list[Piece], at: int, candidates: list[Piece]
    ) -> str:
        """Return the town that stands before the street, or on the line below the code.

        `Železný Brod, Nádražní 412, PSČ 468 22`, and `602 00` above `Brno`; '' if none.
        """
        if not candidates or not HOUSE_NUMBER.match(candidates[-1].text):
            return ""
        if len(candidates) > 1 and candidates[-2].line == pieces[at].line:
            town = candidates[-2].text
        else:
            line = self.sheet.lines[pieces[at].line]
            below = pieces_after(self.sheet, pieces[at].line, len(line.text))
            town = below[0].text if below and len(pieces) == 1 else ""
        is_town = CITY.match(town) and len(town) <= MAX_TOWN
        return town if is_town and town.casefold() not in country_names() else ""

    def _street_behind(
        self, pieces: list[Piece], at: int, place: Locality
    ) -> list[Piece]:
        """Read the street of `30-552 Kraków, Wielicka 44c/8`, which has no word of streets."""
        code = place.code or ""
        if not place.city or pieces[at].text.rpartition(": ")[2][: len(code)] != code:
            return []
        behind = pieces[at + 1 :] or pieces_after(
            self.sheet, pieces[at].line, len(self.sheet.lines[pieces[at].line].text)
        )
        if not behind or self.postcode.search(behind[0].text):
            return []
        text = behind[0].text
        if street_match(text):
            return []  # read by its own word
        if not HOUSE_NUMBER.match(text) or AMOUNT.match(text) or _SINCE.search(text):
            return []
        if _ENDS_IN_YEAR.search(text) or text[:1].isdigit():
            return []
        # What follows may be the next address, whose code comes behind it.
        if len(behind) > 1 and self.postcode.search(behind[1].text):
            return []
        place.start = pieces[at].start
        return [behind[0]]

    def _lines_above(self, number: int) -> list[Piece]:
        pieces: list[Piece] = []
        for above in range(number - 1, max(-1, number - 5), -1):
            line = self.sheet.lines[above]
            if above <= self.taken or len(line.text) > MAX_PIECE or line.heading:
                break
            if NOT_ADDRESS.search(line.text):
                break
            pieces[:0] = cut(self.sheet, above, 0)
        return pieces

    def _street_before(self, candidates: list[Piece], place: Locality) -> list[Piece]:
        """Walk up from the code: city and county first, then the street's lines."""
        street: list[Piece] = []
        skipped = 0
        door: Piece | None = None
        town: str | None = None
        for piece in reversed(candidates):
            text = BRACKETS.sub("", piece.text).strip()
            is_street = (
                bool(NUMBERLESS.match(text))
                or is_numberless(text)
                or bool(HOUSE_NUMBER.match(text))
                or is_unit(text)
                or bool(street_match(text))
                or bool(CORNER.match(text))
            )
            # "Hochzeiten 2019" above a code is no house of that number.
            is_year = _ENDS_IN_YEAR.search(text) and not street_match(text)
            if is_year:
                break
            if is_street and not AMOUNT.match(text) and not _SINCE.search(text):
                street.insert(0, piece)
            elif street or skipped >= 2:
                break
            elif is_state(text) and not place.state:
                place.state = text
            elif CITY.match(text) and len(text) < 30:
                if skipped == 1 and _is_door_of(place, piece, candidates):
                    door, town = piece, place.city
                if place.city is None or skipped:
                    place.city = text
                skipped += 1
            else:
                break
        if street and street[0].text[:1].islower() and not is_unit(street[0].text):
            return []
        if not street and door is not None:
            place.city = town
            return [door]
        return street

    def _found(
        self, street: list[Piece], place: Locality, method: Method
    ) -> AddressSighting | None:
        text = ", ".join(p.text.strip(" ,") for p in street if p.text)
        start = street[0].start
        if 0 <= place.start < start:
            start = place.start
        end = max(street[-1].end, place.end)
        self.taken = max(self.taken, street[-1].line, place.last_line)
        whole = without_contact(" ".join(self.sheet.text[start:end].split()), place)
        if not whole:
            return None
        key = re.sub(r"\W+", " ", f"{text} {place.code or place.city or ''}").casefold()
        country = place.country or country_of(place, self.regions)
        return AddressSighting(
            key=key.strip(),
            value=whole[:300],
            method=method,
            line=self.sheet.line_at(start),
            start=start,
            end=end,
            snippet=self.sheet.snippet(start, end),
            street=text or None,
            city=place.city,
            state=place.state,
            postal_code=place.code,
            country=country,
        )


def _is_door_of(place: Locality, piece: Piece, candidates: list[Piece]) -> bool:
    """Say whether a piece is where somebody lives by the code of a few doors alone.

    In a line of places by commas: `Tŷ Gwyn, Heol y Bont, Llanrwst, Conwy LL26 0ET`.
    """
    if not CITY.match(piece.text) or " in " in piece.text:
        return False
    if EIRCODE.fullmatch(place.code or ""):
        return True
    in_line = [one for one in candidates if one.line == piece.line]
    return place.region == "GB" and len(in_line) > 1 and in_line[0] is not piece


def _parted(piece: Piece, postcode: re.Pattern[str]) -> list[Piece]:
    """Cut `Hameau des Prés - 24220 Vézac` at the dash before its code, if it has one."""
    code = postcode.search(piece.text)
    dash = _DASH_AT_END.search(piece.text[: code.start()]) if code else None
    if dash is None or not (
        is_unit(head := piece.text[: dash.start()]) or is_numberless(head)
    ):
        return []
    end = piece.start + dash.start()
    rest = replace(piece, text=piece.text[dash.end() :], start=piece.start + dash.end())
    return [replace(piece, text=head, end=end), rest]


_DASH_AT_END: Final = re.compile(r"\s[-–—]\s$")


# "Unit 4, Riverside Estate": the number is the unit's.
_ENDS_IN_YEAR: Final = re.compile(r"[^\W\d_]\s(?:19|20)\d\d$")
_UNIT_BEFORE: Final = re.compile(rf"(?<!\w)(?:{UNIT_WORD}) $", re.IGNORECASE)
_SINCE: Final = re.compile(
    r"(?:\b(?:since|seit|depuis|dal|desde|sinds|siden|sedan|vuodesta|est\.?|established|founded|gegründet|fondée?|"
    r"opgericht|anno|założon\w*|copyright)|©|\(c\))[^\d,;]{0,12}(?:1[89]|20)\d\d\b",
    re.IGNORECASE,
)
_DIGIT: Final = re.compile(r"\d|(?i:\bs\.?/\s?n\b|\bsnc\b)")


# Every page of a site has the numbers of its header and footer.
@lru_cache(4_096)
def _streets_in(pattern: re.Pattern[str], text: str) -> tuple[tuple[int, int], ...]:
    """Give where what is written as streets are begins and ends."""
    return tuple(match.span() for match in pattern.finditer(text))


@lru_cache(4_096)
def _code_in(pattern: re.Pattern[str], text: str) -> tuple[int, int, str] | None:
    """Give where the first postal code begins and ends, and of which country it is."""
    match = pattern.search(text)
    return (*match.span(), match.lastgroup or "") if match else None


def _has_number(text: str) -> bool:
    """Say whether a line has a digit; those of an e-mail address number no house."""
    if "@" not in text:
        return _DIGIT.search(text) is not None
    return any("@" not in word and _DIGIT.search(word) for word in text.split())


_LABEL: Final = re.compile(r"[^\W\d_][\w ]{2,20}: ")
# A full stop ends a piece as well, if a word stands before it: not "St. James House".
_LEFT_PIECE: Final = re.compile(r"(?:[^,;|•·:–.]|(?<![a-z]{3})\.|\.(?=\S)){1,80}")
