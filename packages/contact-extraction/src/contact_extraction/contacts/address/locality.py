"""Where a street is: city, state, postal code, country."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from contact_extraction.contacts.address.piece import Piece
from contact_extraction.contacts.address.postcode import (
    EIRCODE,
    POSTCODES,
    PREFIXES,
    SHORT_CODES,
)
from contact_extraction.contacts.address.state import (
    CA_STATES,
    US_STATES,
    is_state,
)
from contact_extraction.contacts.address.street import street_match
from contact_extraction.contacts.place import country_names


@dataclass(slots=True)
class Locality:
    """What is known of where a street is."""

    city: str | None = None
    state: str | None = None
    code: str | None = None
    country: str | None = None
    region: str = ""
    end: int = 0
    last_line: int = -1
    extra: list[str] = field(default_factory=list)
    start: int = -1
    """Where the place begins if it stands before the street."""

    @property
    def is_known(self) -> bool:
        """Say whether it is more than a word that may be a city."""
        return bool(self.code or self.state or self.country)

    @property
    def is_whole(self) -> bool:
        """Say whether it has a code and what the code is of."""
        return bool(self.code and (self.city or self.country))


def read_locality(tail: list[Piece], postcode: re.Pattern[str]) -> Locality:
    """Read city, state, code and country from the pieces after a street."""
    place = Locality()
    last_line = tail[0].line if tail else 0
    for count, piece in enumerate(tail):
        if count > 6 or piece.line - last_line > 1:
            break
        if place.country and not (not place.code and _DOORS_CODE.fullmatch(piece.text)):
            break
        if is_place_label(piece.text) or _ONLY_BOX.match(piece.text):
            last_line = piece.line
            continue
        after = (p.text for p in tail[count + 1 :] if not is_place_label(p.text))
        if not read_piece(piece, place, postcode, next(after, "")):
            break
        last_line = piece.line
        place.end = piece.end
        place.last_line = piece.line
    if not place.is_known:
        place.end = 0
    return place


def read_past_units(
    tail: list[Piece], postcode: re.Pattern[str]
) -> tuple[Locality, list[Piece]] | None:
    """Read the code and city that stand behind a floor or a door written as nobody knows.

    `bte 12, 1180 Uccle` and `3º Dcha. - 28013 Madrid`: few short words that begin no
    sentence, and then nothing but a code and its city.
    """
    spread = [part for piece in _outside_brackets(tail) for part in _spread(piece)]
    first = tail[0].line if tail else 0
    for place_of_code, piece in enumerate(spread[: MAX_UNITS + 1]):
        number = place_of_code
        if piece.line > first + MAX_UNIT_LINES:
            return None
        code = postcode.search(piece.text)
        if code is not None:
            start = _start_of_place(piece.text, code.start())
            cut = [replace(piece, text=piece.text[start:]), *spread[number + 1 :]]
            place = read_locality(cut, postcode)
            if not place.is_whole and number and not start:
                number -= 1  # the piece before was the city
                place = read_locality(spread[number:], postcode)
            if not place.is_whole or start > MAX_UNIT:
                return None
            head = replace(piece, text=piece.text[:start].strip(" ,.-–"))
            head.end = piece.start + start
            return place, [*spread[:number], *([head] if head.text else [])]
        if len(piece.text) > MAX_UNIT or _PROSE.search(piece.text):
            return None
        if street_match(piece.text):
            return None  # the next address
    return None


def _outside_brackets(tail: list[Piece]) -> Iterator[Piece]:
    """Leave out what stands in brackets: `(2nd floor, above the bakery)`."""
    is_open = False
    for piece in tail[:MAX_PIECES]:
        text = f"({piece.text}" if is_open else piece.text
        outside = BRACKETS.sub(" ", text)
        is_open = outside.rfind("(") > outside.rfind(")")
        if outside := outside.partition("(")[0].strip(" ,.-–/"):
            yield replace(piece, text=outside)


def _spread(piece: Piece) -> Iterator[Piece]:
    """Cut a piece at its dashes and slashes."""
    for part in _DASHES.split(piece.text):
        if text := part.strip(" ,.-–/"):
            yield replace(piece, text=text)


def _start_of_place(text: str, code: int) -> int:
    """Give where the place begins that a code belongs to: at its city, or at itself."""
    before = _CITY_BEFORE.search(text[:code])
    after = text[code:].lstrip("0123456789 -–")
    return code if after or before is None else before.start(1)


MAX_UNITS: Final = 4
MAX_UNIT: Final = 30
MAX_UNIT_LINES: Final = 2
MAX_PIECES: Final = 6
BRACKETS: Final = re.compile(r"\([^()]{0,80}\)")
_DASHES: Final = re.compile(r"\s[–—-]\s|\s?//\s?")
_PROSE: Final = re.compile(r"(?:(?<![\w.])[a-zà-ž]{2,}\s+){3}|[!?]|\d{5}")
# The last word before a code that only then has its city: `Singapore 079903`.
_CITY_BEFORE: Final = re.compile(r"(?:^|\s)([^\W\d_][\w'’.-]+)\s*$")


def read_place_before(text: str, postcode: re.Pattern[str]) -> Locality | None:
    """Read the code and city that end a text: `05-123 Nowa, ul. Polna 3`."""
    codes = list(postcode.finditer(text[-MAX_PLACE:]))
    if not codes:
        return None
    code = codes[-1]
    city = text[-MAX_PLACE:][code.end() :].strip(" ,.-–")
    if len(city) > MAX_CITY or not CITY.match(city):
        return None
    start = max(0, len(text) - MAX_PLACE) + code.start()
    return Locality(
        city=city, code=code[0].strip(), region=code.lastgroup or "", start=start
    )


MAX_PLACE: Final = 60
MAX_CITY: Final = 30


def read_piece(
    piece: Piece, place: Locality, postcode: re.Pattern[str], following: str = ""
) -> bool:
    """Add what a piece says of a place; False if it says nothing."""
    text = piece.text
    folded = text.casefold().strip(" .()")
    if folded in country_names() and (place.city or place.code or len(folded) > 3):
        place.country = country_names()[folded]
        return True
    us = _US_TAIL.match(text)
    if us and is_state(us["state"]):
        place.city = place.city or us["city"]
        place.state, place.code = us["state"], us["zip"]
        _read_rest(text[us.end() :], place)
        return True
    if not place.code and _read_code(text, place, postcode, following):
        return True
    if (district := _DUBLIN.match(place.code or "")) and EIRCODE.fullmatch(text):
        place.city, place.code = district[1], text  # D09 says more than Dublin 9
        return True
    if place.city and not place.code and _LOWER_CODE.fullmatch(text):
        place.code, place.region = text.upper(), "GB"
        return True
    if not place.code and (bracketed := _CODE_IN_BRACKETS.fullmatch(text)):
        place.city, place.code = bracketed[1], bracketed[2]
        return True
    if place.city and _OF_COUNTY.match(text) and not postcode.search(text):
        place.state = place.state or text
        return True
    if _PART_OF_TOWN.match(text) and not place.city and not place.code:
        place.extra.append(text)
        return True
    if is_state(text) and (place.city or place.code or _ZIP.match(following)):
        place.state = place.state or text
        return True
    if (province := _WITH_PROVINCE.match(text)) and not place.state:
        place.city, place.state = province[1], province[2]
        return True
    head, _, last = text.rpartition(" ")
    if head and is_state(last) and CITY.match(head) and not place.state:
        place.city, place.state = place.city or head, last
        return True
    if not place.city and len(text) < 40 and CITY.match(text):
        place.city = text
        return True
    if place.city and not place.state and not place.code and CITY.match(text):
        # A district before the city, as in Britain.
        place.extra.append(place.city)
        place.city = text
        return len(place.extra) < 3
    return False


def _read_code(
    text: str, place: Locality, postcode: re.Pattern[str], following: str
) -> bool:
    if box := _BOX_BEFORE.match(text):
        text = text[box.end() :]
    code = postcode.search(text)
    if not code:
        # `Austin, TX, 78701`: alone a code of five digits needs its state.
        if place.state and is_state(place.state) and _ZIP.match(text):
            place.code = text
            return True
        return False
    before = _CODE_LABEL.sub("", text[: code.start()]).strip(" ,-–")
    after = _IN_TOWN.sub("", text[code.end() :].strip(" ,-–"))
    # "Praha 6 - Břevnov": the number may stand before a part of the district.
    town, dash, part = after.partition(" - ")
    after = f"{_DISTRICT.sub('', town)}{dash}{part}"
    region = code.lastgroup or ""
    is_bare = not before and not after
    if before and not CITY.match(before) and not is_state(before):
        return False
    if after and not CITY.match(_FIRST_CITY.split(after, maxsplit=1)[0]):
        folded = after.casefold().strip(" .()")
        if folded in country_names():
            pass
        elif region in ("GB", "CA", "IE"):
            # These codes are so odd that what follows cannot make them wrong.
            after = ""
        else:
            return False
    # A code on a line of its own, or before a comma, may have its city after it.
    has_city = bool(place.city or place.state) or _is_city(following)
    if is_bare and region in SHORT_CODES and not has_city:
        return False
    place.code = code[0].strip().replace(" – ", "-")
    place.region = region
    if before:
        _read_before(before, place)
    if after:
        _read_rest(after, place)
    return True


def is_place_label(text: str) -> bool:
    """Say whether a text is the label of a field of an address: `PLZ`, `Ville:`."""
    return _PLACE_LABEL.fullmatch(text) is not None


_PLACE_LABEL: Final = re.compile(
    r"(?:PLZ|Postleitzahl|Ort|Stadt|Wohnort|PLZ\s?[/,&]\s?Ort|Code postal|Ville|Code postal et ville|"
    r"City|Town|Town ?/ ?City|State|County|Zip|Zip code|Post ?code|Postal code|Eircode|CAP|Citt[àa]|Comune|Provincia|"
    r"Ciudad|Poblaci[óo]n|Localidad|Localidade|Cidade|C[óo]digo postal|C\.?P\.?|Kod pocztowy|Miejscowość|Miasto|"
    r"PSČ|Město|Obec|Irányítószám|Város|Település|Postnummer|Postnr\.?|Postort|Stad|Sted|By|Poststed|"
    r"Postinumero|Postitoimipaikka|Kaupunki|Plaats|Woonplaats)\s?:?",
    re.IGNORECASE,
)
_BOX_WORDS: Final = (
    r"(?:Postfach|B\.?P\.?|CS|TSA|Case postale|Boîte postale|Casella postale|C\.?P\.?)"
)
_ONLY_BOX: Final = re.compile(rf"{_BOX_WORDS}(?:\s\d{{1,6}})?$", re.IGNORECASE)
_BOX_BEFORE: Final = re.compile(
    rf"{_BOX_WORDS}\s\d{{1,6}}(?:\s[-–—]|,)?\s(?=\S*\d)", re.IGNORECASE
)
# "sy8 1pe", as a hand writes it, behind its town.
_LOWER_CODE: Final = re.compile(r"[a-z]{1,2}\d[a-z\d]? ?\d[abd-hjlnp-uw-z]{2}")
_CODE_IN_BRACKETS: Final = re.compile(r"([A-ZÀ-Þ][\w'’. À-ž-]{2,30}) \((\d{4,5})\)")
# "jud. Mureș", "woj. mazowieckie": a county, between a town and its code.
_OF_COUNTY: Final = re.compile(
    r"(?:jud(?:\.|ețul)|okr(?:\.|es)|woj\.|pow(?:\.|iat)|gm\.|prov\.|provincia di|pref\.|obl\.|kraj|općina|distrito de|concelho de)\s\S{2}",
    re.IGNORECASE,
)
# "2861 XE te Bergambacht"
_IN_TOWN: Final = re.compile(r"^te (?=[A-Z])")
_COUNTY: Final = re.compile(r"(?:Co\.?|County)\s")
# "Toronto, Ontario, Canada" and then "M5V 1K4": no other number is written like these.
_DOORS_CODE: Final = re.compile(
    rf"{POSTCODES['CA']}|{POSTCODES['GB']}|{EIRCODE.pattern}"
)
_DUBLIN: Final = re.compile(r"(Dublin)\s\d{1,2}W?$")
# "OT Rehbach": a part of the town whose code follows.
_PART_OF_TOWN: Final = re.compile(
    r"(?:OT|Ortsteil|Stadtteil|Ortschaft|GT|Gemeindeteil)\s[A-ZÄÖÜ]"
)


def is_amount_of(city: str) -> bool:
    """Tell what is counted from where somebody is: `12000 Kunden`, `75000 Euros`."""
    return _COUNTED.match(city) is not None


_COUNTED: Final = re.compile(
    r"(?:customers?|clients?|visitors?|members?|guests?|people|friends|meals|season|miles|dollars?|pounds?|employees|"
    r"kunden|mitarbeiter\w*|besucher|gäste|mitglieder|personen|stunden|uhr|euros?|franken|gramm|meter|konzert|"
    r"klanten|bezoekers|leden|mensen|gasten|medewerkers|clientes?|visitas|visitantes|socios|personas|empleados|"
    r"pesos|reais|pessoas|clienti|visitatori|soci|persone|dipendenti|lire|progett[oi]|membres|visiteurs|personnes|"
    r"salariés|francs|kronor|kroner|kunder|besökare|gäster|medlemmar|personer|medlemmer|gæster|besøkende|koncert|"
    r"asiakasta|kävijää|jäsentä|henkilöä|klient\w+|osób|złotych|gości|zákazník\w*|korun|osob|členů|ügyfél|vendég|"
    r"forint|fő)\b",
    re.IGNORECASE,
)


def _is_city(text: str) -> bool:
    return bool(CITY.match(text)) and text.casefold() not in country_names()


def _read_before(before: str, place: Locality) -> None:
    head, _, last = before.rpartition(" ")
    if is_state(before) and (place.city or _COUNTY.match(before)):
        place.state = before
    elif before.casefold() in country_names():
        place.country = country_names()[before.casefold()]
    elif head and is_state(last):
        place.city, place.state = place.city or head.strip(" ,"), last
    else:
        if place.city:
            place.extra.append(place.city)
        place.city = before


def _read_rest(rest: str, place: Locality) -> None:
    rest = rest.strip(" ,.-–()")
    if not rest:
        return
    folded = rest.casefold()
    if folded in country_names():
        place.country = country_names()[folded]
    elif not place.city and (province := _INBRACKETS.match(rest)):
        place.city = province[1]
        # "(Industrieterrein Noord)" is a part of the town.
        place.state = None if " " in province[2] else province[2]
    elif (
        not place.city and (province := _IN_ITALY.match(rest)) and place.region == "IT"
    ):
        place.city, place.state = province[1], province[2]
    elif not place.city and CITY.match(first := _FIRST_CITY.split(rest, maxsplit=1)[0]):
        rest = first
        city, _, country = rest.rpartition(" ")
        if city and country.casefold() in country_names():
            place.city, place.country = city, country_names()[country.casefold()]
        else:
            place.city = rest


def country_of(place: Locality, regions: tuple[str, ...]) -> str | None:
    """Infer the country from what only one has, else take the page's likeliest."""
    state = (place.state or "").replace(".", "")
    code = place.code or ""
    if re.fullmatch(POSTCODES["GB"], code):
        return "GB"
    if re.fullmatch(POSTCODES["CA"], code) or (
        state in CA_STATES and not code.isdigit()
    ):
        return "CA"
    if state in US_STATES and re.fullmatch(POSTCODES["US"], code):
        return "US"
    if place.region == "prefixed":
        return PREFIXES.get(code.partition("-")[0])
    if place.region:
        return place.region
    return regions[0] if regions and place.is_known else None


def without_contact(whole: str, place: Locality) -> str:
    """Cut what follows the code of an address and is none of it: a number, an identifier."""
    at = whole.rfind(place.code) + len(place.code) if place.code else 0
    if at <= 0:
        return whole
    found = _CONTACT_AFTER.search(whole, at)
    return whole[: found.start()] if found else whole


_CONTACT_AFTER: Final = re.compile(
    r"[\s,;|·•–-]+(?:(?:tel|phone|ph|fax|mob\w*|p\.? ?iva|c\.? ?f\.|nip|regon|i[čc]o?|siret|siren|kvk|ust|vat)\b|"
    r"\+?\(?\d[\d\s().\-/]{6,}\d).*$",
    re.IGNORECASE,
)
_CITY_WORDS: Final = r"[A-ZÀ-ÞÄÖÜŁŚŻŹČŠŽŘİŞĐĆĎŤŇΆ-ΏΑ-ΫЀ-Я](?:[\w'’.-]{1,24}|(?= [A-Z]\w))(?:[ /-](?:[A-ZÀ-ÞÄÖÜŁŚŻŹČŠŽŘĐĆĎŤŇΆ-ΏΑ-ΫЀ-Яa-zà-žά-ώа-џ(][\w'’.)-]{0,24})){0,4}"
# What stands before a code: CEP 01310-100, C.P. 03940.
_CODE_LABEL: Final = re.compile(
    r"(?:^|\s)(?:CEP|C\.?P\.?|CAP|PLZ|PSČ|PIN|ZIP(?:\scode)?|post(?:al)?\s?code|"
    r"cod(?:ul)?\spo[sșş]tal|code\spostal|código\spostal|codice\spostale|kod\spocztowy|Eircode)\s?:?\s?$|^[^\W\d_]{3,20}:\s?$",
    re.IGNORECASE,
)
_FIRST_CITY: Final = re.compile(r",| - |\s?/\s?")
CITY: Final = re.compile(rf"^{_CITY_WORDS}$")
# "Curitiba - PR", as Brazil and Italy write it.
_WITH_PROVINCE: Final = re.compile(rf"^({_CITY_WORDS})\s?[-–/]\s?([A-Z]{{2}})$")
_INBRACKETS: Final = re.compile(
    rf"^({_CITY_WORDS}?)\s\(([A-Z]{{2}}|[A-ZÀ-Þ][\w'’ -]{{2,30}})$"
)
_IN_ITALY: Final = re.compile(rf"^({_CITY_WORDS}?)\s([A-Z]{{2}})$")
# The number of a district: "120 00 Praha 2", "75008 Paris 8e".
_DISTRICT: Final = re.compile(
    r"(?<=[^\W\d_]{3})\s(?:\d{1,2}(?:e|er|ème)?|[IVX]{2,5}\.?|(?i:cedex)(?:\s\d{1,2})?)$"
)
_ZIP: Final = re.compile(r"^\d{5}(?:-\d{4})?$")
_US_TAIL: Final = re.compile(
    rf"^(?P<city>{_CITY_WORDS})?,?\s{{0,2}}(?P<state>[A-Z]{{2}}|[A-Z]\.\s?[A-Z]\.|[A-Z][a-z]+\.?(?: [A-Z][a-z]+)?)"
    r",?\s{1,3}(?P<zip>\d{5}(?:\s?-\s?\d{4})?)\b"
)
