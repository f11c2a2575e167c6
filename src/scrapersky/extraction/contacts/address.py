"""Find postal addresses: street grammar of many languages, postal codes of countries.

A street or a postal code is the anchor. From it the neighbouring pieces (parts of the
line, or the short lines above and below) are read as unit, building, city, state,
postal code and country until one is none of these.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from scrapersky.extraction.contacts.model import Found, Method
from scrapersky.extraction.contacts.place import country_names
from scrapersky.extraction.contacts.sheet import Sheet
from scrapersky.extraction.html import words

MAX_FOUND: Final = 500
MAX_LINE: Final = 400
MAX_PIECE: Final = 90


def find_addresses(sheet: Sheet, regions: tuple[str, ...]) -> list[Found]:
    """Find every postal address of a page, in reading order."""
    reader = _Reader(sheet, regions)
    return list(reader.addresses())


def split_street(text: str) -> str | None:
    """Give the street part of a one-line address, or None if there is none."""
    match = _street_match(text)
    return match[0].strip(" ,") if match else None


# --- streets ---------------------------------------------------------------------

_STRONG: Final = (
    r"Street|Str\.?|St|Avenue|Ave|Boulevard|Blvd|Boul|Road|Rd|Drive|Dr|Lane|Ln|"
    r"Parkway|Pkwy|Pky|Highway|Hwy|Freeway|Fwy|Expressway|Expwy|Turnpike|Tpke|"
    r"Terrace|Terr|Crescent|Cres|Circle|Cir|Causeway|Cswy|Mews|Trail|Trl|Square|Sq|"
    r"Court|Ct|Place|Pl|Way|Broadway|Pike|Esplanade|Parade|Alley"
)
_WEAK: Final = (
    r"Close|Gardens|Gdns|Grove|Hill|Rise|View|Walk|Wharf|Quay|Green|Loop|Row|Plaza|"
    r"Plz|Crossing|Xing|Path|Bypass|Bend|Ridge|Park|Mall|Commons|Concourse|Promenade|"
    r"Heights|Hts|Cove|Point|Pt|Run|Pass|Crest|Vale|Gate|Yard|Centre|Center|Mile|End|"
    r"Estate|Bridge|Fields?|Market|Common|Drove|Embankment|Strand|Piccadilly"
)
_DIRECTION: Final = r"(?:North|South|East|West|[NSEW]|[NS]\.?[EW]|[NS]\.\s?[EW]\.?)"
_NUMBER: Final = (
    r"(?:(?:No|Nr|N[º°o])\.?:?\s{0,2})?\d{1,6}(?:[A-Za-z](?![A-Za-z])|½)?"
    r"(?:\s?[-–/&]\s?\d{1,6}[A-Za-z]?(?![A-Za-z]))?"
)
_NAME: Final = (
    r"(?:[A-ZÀ-ÞŁŚŻŹĆČŠŽŘĚŮİŞĞ][\w'’.&-]{0,24}|\d{1,4}(?:st|nd|rd|th|ST|ND|RD|TH)?|of|the|"
    r"de|la|le|les|du|des|del|della|da|do|dos|van|von|der|den|y|e|d'[A-Z]\w{1,20})"
)
_UNIT_WORD: Final = (
    r"Suites?|Ste|Units?|Apartment|Apt|Floor|Flr|Fl|Room|Rm|Bldg|Building|Block|Level|"
    r"Lot|Space|Office|Studio|Shop|Flat|Bay|Box|Dept|Door|Kiosk|Tower|Wing|Gate|Plot|"
    r"Sector|Section|Phase|Stop|Mailstop|MS|Attn"
)
_UNIT_TAIL: Final = (
    rf"(?:[ ,–-]{{1,3}}(?:(?:{_UNIT_WORD})\b\.?(?:\s?(?:No\.?|Number|#))?\s?#?\s?[\w-]{{1,8}}"
    rf"(?:\s(?:North|South|East|West)(?!\w))?"
    rf"|\#\s?[\w-]{{1,8}}"
    r"|\d{1,3}(?:st|nd|rd|th)\s(?:Floor|Fl\b\.?)"
    r"|(?:Ground|First|Second|Third|Lower|Upper|Top)\sFloor"
    r"|P\.?\s?O\.?\s?Box\s\d{1,6}))"
)
_ENGLISH: Final = (
    rf"{_NUMBER},?\s{{1,2}}(?:{_DIRECTION}\.?\s{{1,2}})?(?:{_NAME}\s{{1,2}}){{0,5}}"
    rf"(?:(?:(?i:US|U\.S\.|State|County|Old)\s)?(?i:Highway|Hwy|Route|Rte|FM|Road|Rd|SR|CR|"
    rf"County\sRoad)\s\#?\d{{1,4}}[A-Z]?"
    rf"|(?:(?<=[\w.]\s)(?=[A-Z])(?i:{_STRONG}|{_WEAK})|Broadway|BROADWAY)\b(?!['’])\.?)"
    rf"(?:\s{{1,2}}{_DIRECTION}\b\.?)?"
)
_SUFFIX_WORDS: Final = (
    r"stra(?:ß|ss)e|str\.?|gasse|gässli|platz|allee|weg|ring|damm|ufer|markt|graben|"
    r"steig|stieg|pfad|chaussee|promenade|zeile|kamp|hof|berg|brücke|tor|wall|garten|"
    r"straat|laan|plein|kade|gracht|dijk|singel|dreef|steeg|baan|hof|lei|markt|"
    r"weide|pad|burgwal|kanaal|dam|haven|oord|veld|park|boulevard|"
    r"gatan|gata|vägen|väg|gränd|torget|torg|stigen|allén|backen|plan|kajen|"
    r"gade|vej|allé|stræde|plads|torv|vænget|"
    r"gaten|veien|vegen|plassen|katu|tie|kuja|polku|tori|utca|út|tér|caddesi|sokağı|"
    r"sokak|bulvarı"
)
_SUFFIXED: Final = (
    rf"(?:(?:[A-ZÀ-ÞÄÖÜŁŚŠŽČ][\w'’.-]{{1,30}}[\s-]){{0,3}}?"
    rf"(?:[A-ZÀ-ÞÄÖÜ][\w'’.-]{{1,30}}?(?:{_SUFFIX_WORDS})|"
    rf"[A-ZÀ-ÞÄÖÜ][\w'’.-]{{1,30}}[\s-](?i:{_SUFFIX_WORDS}))\s{{0,2}}"
    r"|(?:Am|Im|An|Auf|Zum|Zur|In|Unter|Hinter|Beim?|Vor|Op|Het|Aan|De)\s(?:de[nmr]|der|het)?\s?"
    r"[A-ZÄÖÜ][\w-]{2,30}\s)"
    r",?\s?\d{1,4}(?:\s?[a-zA-Z](?!\w))?(?:\s?[-–/+]\s?\d{1,4}\s?[a-zA-Z]?(?!\w))?"
)
_ROMANCE_WORDS: Final = (
    r"rua|r\.|av\.?|avda\.?|avenida|alameda|al\.|travessa|tv\.|largo|praça|pça\.?|estrada|"
    r"rodovia|calle|c/|cl\.|carrera|cra\.?|paseo|pso\.?|plaza|pl\.|camino|carretera|ctra\.?|"
    r"ronda|rambla|carrer|passeig|plaça|glorieta|polígono|pol\.|via|v\.le|viale|piazza|"
    r"p\.za|piazzale|corso|c\.so|largo|vicolo|strada|lungomare|contrada|località|loc\.|"
    r"ul\.|ulica|aleja|aleje|al\.|plac|os\.|osiedle|rynek|ulice|náměstí|nám\.|tř\.|třída|"
    r"bul\.|ulitsa|str\.|strada|bd\.?|calea|șos\.|ул\.|улица|пр\.|проспект|пл\.|"
    r"rue|avenue|boulevard|boul\.|place|chemin|ch\.|impasse|allée|allées|quai|cours|"
    r"route|rte|square|passage|faubourg|chaussée|sentier|esplanade|rond-point"
)
_TYPE_FIRST: Final = (
    rf"(?i:(?<!\w)(?:{_ROMANCE_WORDS}))\s?(?:[\wÀ-ž'’.-]{{1,24}}\s{{1,2}}){{0,5}}?"
    r"[\wÀ-ž'’.-]{2,24}(?:,\s?|\s)(?:n(?:[º°.]|r\.?|o\.?)?\s?)?\d{1,5}(?:\s?[a-zA-Z](?!\w))?"
    r"(?:\s?[-–/]\s?\d{1,4}\s?[a-zA-Z]?(?!\w))?"
)
_FRENCH: Final = (
    r"\d{1,4}(?:\s?[-–/]\s?\d{1,4})?(?:\s?(?:bis|ter|quater|[A-D]))?,?\s"
    r"(?i:rue|avenue|av\.?|boulevard|bd\.?|boul\.?|place|pl\.|chemin|ch\.|impasse|allées?|"
    r"quai|cours|route|rte\.?|square|passage|faubourg|chaussée|sentier|esplanade)\s"
    r"(?:[\wÀ-ž'’.-]{1,24}[\s-]?){1,6}?(?=$|[,;\n(|•]|\s[-–]\s|\s\d{4,5}\b)"
)
_BOX: Final = (
    r"(?i:P\.?\s?O\.?\s?B(?:ox)?\.?|Post\s?(?:Office\s)?Box|GPO\sBox|Private\sBag|Postfach|Postbus|"
    r"Boîte\spostale|B\.?P\.|Apartado(?:\sde\scorreos)?|Casella\spostale|Caixa\sPostal|"
    r"Postboks|Box|Skrytka\spocztowa)[\s:]{0,2}\#?(?:No\.?:?\s?)?\d[\d\s]{0,8}\d?"
)
_BLOCK: Final = (
    r"\#?\d{1,4}-\d{1,3}(?:-\d{1,3})?,?\s(?:[A-Z][\w-]{2,20},?\s){0,2}"
    r"[A-Z][A-Za-z]{1,15}-(?i:ku|shi|cho|machi|dong|gu|ri|myeon|si|do)\b"
    r"(?:,?\s[A-Z][A-Za-z]{1,15}-(?i:ku|shi|gu|myeon|si)\b)?"
)
_GERMANIC: Final = words("DE AT CH LI LU NL BE SE DK NO FI HU TR IS ZA")
_ROMANCE: Final = words(
    "FR BE CH LU ES PT BR MX AR CL CO PE UY EC VE CR PA DO PR IT RO PL CZ SK BG RU UA RS HR "
    "SI BA MA TN DZ CA AD MC"
)


@lru_cache(maxsize=256)
def _street_pattern(regions: tuple[str, ...]) -> re.Pattern[str]:
    """Build the grammar of streets for the page's countries; English is always in."""
    own = frozenset(regions)
    parts = [
        rf"(?<![\w$£€.#:/-])(?=[\dN])(?:{_FRENCH}|{_ENGLISH}){_UNIT_TAIL}{{0,3}}",
        rf"(?<![\w$.-])(?=[\d#]){_BLOCK}",
    ]
    if own & _GERMANIC:
        parts.append(rf"(?<![\w-]){_SUFFIXED}")
    if own & _ROMANCE:
        parts.append(rf"(?<![\w-]){_TYPE_FIRST}")
    return re.compile("|".join(parts))


_ANY_REGION: Final = ("DE", "FR")
_STRONG_END: Final = re.compile(
    rf"(?:{_STRONG}|Highway|Hwy|Route|FM)\b\.?(?:\s\#?\d{{1,4}}[A-Z]?)?"
    rf"(?:\s{{1,2}}{_DIRECTION}\b\.?)?(?:{_UNIT_TAIL}){{0,3}}$",
    re.IGNORECASE,
)
# Endings no English word has; "Spring 12" and "Market 5" need a place to follow.
_SURE_SUFFIX: Final = re.compile(
    r"(?:stra(?:ß|ss)e|str\.|gasse|platz|allee|weg|straat|laan|plein|gracht|kade|dijk|gatan|"
    r"vägen|gade|vej|stræde|gaten|veien|katu|utca|caddesi|sokağı|sokak|bulvarı)\s?,?\s?\d"
)
_BLOCK_PATTERN: Final = re.compile(_BLOCK)
_FRENCH_START: Final = re.compile(
    r"\d{1,4}[\w\s/-]{0,10},?\s(?i:rue|avenue|boulevard|place|chemin|impasse|allée|quai)\s"
)
_BOX_PATTERN: Final = re.compile(rf"(?<!\w)(?:{_BOX})(?!\w)")
_NUMBERLESS: Final = re.compile(
    r"^(?:The\s)?(?:[A-Z][\w'’.-]{1,24}\s){1,4}(?:Street|St|Road|Rd|Lane|Ln|Avenue|Ave|"
    r"Drive|Way|Terrace|Crescent|Square|Place|Row|Hill|Parade|Quay|Walk|Gate|Parkway|"
    r"Boulevard|Close|Mews|Gardens|Grove)\.?$"
)


def _street_match(text: str) -> re.Match[str] | None:
    return _street_pattern(_ANY_REGION).search(text[:MAX_LINE]) or _BOX_PATTERN.search(
        text[:MAX_LINE]
    )


# --- pieces of an address ----------------------------------------------------------

_UNIT_PIECE: Final = re.compile(
    rf"^(?:(?:{_UNIT_WORD})\b\.?:?\s?(?:No\.?\s?)?\#?\s?[\w&-]{{1,8}}(?:\s?[-&]\s?\w{{1,4}})?(?:,?\s[A-Z]\w{{2,20}}){{0,3}}"
    r"|\#\s?[\w-]{1,8}|\d{1,3}(?:st|nd|rd|th)\s(?:Floor|Fl\b\.?).{0,20}|\d{1,2}/F\b.{0,30}"
    r"|(?:Ground|First|Second|Third|Lower|Upper|Top)\sFloor.{0,20}|No\.?\s?\d{1,5}\w?)$",
    re.IGNORECASE,
)
_BUILDING_PIECE: Final = re.compile(
    r"^(?:[\w'’.&-]{1,24}\s){0,5}(?:House|Building|Bldg\.?|Buildings|Centre|Center|Tower|"
    r"Towers|Plaza|Park|Mall|Court|Works|Estate|Chambers|Mansions?|Complex|Hall|Mill|"
    r"Campus|Wing|Arcade|Gardens|Barn|Farm|Studios?|Wharf|Yard|Crossing|City|Industrial\s"
    r"\w{3,12}|Business\s\w{3,10}|Trading\s\w{3,8}|Village|Haus|Hof|Zentrum|Gebäude)\.?"
    r"(?:\s(?:\d{1,4}[A-Z]?|[A-Z]))?$"
)
_US_STATES: Final = words(
    "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE "
    "NV NH NJ NM NY NC ND OH OK OR PA PR RI SC SD TN TX UT VT VA WA WV WI WY"
)
_CA_STATES: Final = words("AB BC MB NB NL NS NT NU ON PE QC SK YT PQ")
_AU_STATES: Final = words("NSW VIC QLD WA SA TAS ACT NT")
_STATE_NAMES: Final = frozenset(
    name.casefold()
    for name in [
        "Alabama",
        "Alaska",
        "Arizona",
        "Arkansas",
        "California",
        "Colorado",
        "Connecticut",
        "Delaware",
        "District of Columbia",
        "Florida",
        "Georgia",
        "Hawaii",
        "Idaho",
        "Illinois",
        "Indiana",
        "Iowa",
        "Kansas",
        "Kentucky",
        "Louisiana",
        "Maine",
        "Maryland",
        "Massachusetts",
        "Michigan",
        "Minnesota",
        "Mississippi",
        "Missouri",
        "Montana",
        "Nebraska",
        "Nevada",
        "New Hampshire",
        "New Jersey",
        "New Mexico",
        "New York",
        "North Carolina",
        "North Dakota",
        "Ohio",
        "Oklahoma",
        "Oregon",
        "Pennsylvania",
        "Rhode Island",
        "South Carolina",
        "South Dakota",
        "Tennessee",
        "Texas",
        "Utah",
        "Vermont",
        "Virginia",
        "Washington",
        "West Virginia",
        "Wisconsin",
        "Wyoming",
        "Puerto Rico",
        "Ontario",
        "Quebec",
        "Québec",
        "Alberta",
        "British Columbia",
        "Manitoba",
        "Saskatchewan",
        "Nova Scotia",
        "New Brunswick",
        "Newfoundland",
        "Prince Edward Island",
        "New South Wales",
        "Victoria",
        "Queensland",
        "South Australia",
        "Western Australia",
        "Tasmania",
        "Kent",
        "Essex",
        "Surrey",
        "Sussex",
        "West Sussex",
        "East Sussex",
        "Hampshire",
        "Berkshire",
        "Oxfordshire",
        "Buckinghamshire",
        "Hertfordshire",
        "Bedfordshire",
        "Cambridgeshire",
        "Norfolk",
        "Suffolk",
        "Lincolnshire",
        "Leicestershire",
        "Derbyshire",
        "Nottinghamshire",
        "Staffordshire",
        "Warwickshire",
        "Worcestershire",
        "Gloucestershire",
        "Wiltshire",
        "Somerset",
        "Dorset",
        "Devon",
        "Cornwall",
        "Shropshire",
        "Herefordshire",
        "Cheshire",
        "Lancashire",
        "Yorkshire",
        "West Yorkshire",
        "South Yorkshire",
        "North Yorkshire",
        "East Yorkshire",
        "Merseyside",
        "Greater Manchester",
        "West Midlands",
        "Middlesex",
        "Cumbria",
        "Northumberland",
        "Tyne and Wear",
        "Tyne & Wear",
        "County Durham",
        "Co. Durham",
        "Northamptonshire",
        "Rutland",
        "Isle of Wight",
        "Avon",
        "Cleveland",
        "Humberside",
        "Renfrewshire",
        "Lanarkshire",
        "Ayrshire",
        "Fife",
        "Aberdeenshire",
        "Co. Dublin",
        "Co. Cork",
        "Co. Galway",
    ]
)
_POSTCODES: Final = {
    "US": r"\d{5}(?:-\d{4})?",
    "CA": r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d",
    "GB": r"(?:GIR ?0AA|[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2})",
    "IE": r"(?:[AC-FHKNPRTV-Y]\d[\dW] ?[\dAC-FHKNPRTV-Y]{4}|Dublin \d{1,2}W?)",
    "DE": r"(?:D[ -]{0,3})?\d{5}", "FR": r"(?:F[ -]{0,3})?\d{5}", "ES": r"(?:E[ -]{0,3})?\d{5}",
    "IT": r"(?:I[ -]{0,3})?\d{5}", "FI": r"(?:FI[ -]{0,3}|FIN[ -]{0,3})?\d{5}",
    "TR": r"\d{5}", "MX": r"(?:C\.?P\.? ?)?\d{5}", "EE": r"\d{5}", "HR": r"(?:HR[ -]{0,3})?\d{5}",
    "RS": r"\d{5}", "UA": r"\d{5}", "TH": r"\d{5}", "MY": r"\d{5}", "ID": r"\d{5}",
    "AT": r"(?:A[ -]{0,3})?\d{4}", "CH": r"(?:CH[ -]{0,3})?\d{4}", "BE": r"(?:B[ -]{0,3})?\d{4}",
    "LU": r"(?:L[ -]{0,3})?\d{4}", "DK": r"(?:DK[ -]{0,3})?\d{4}", "NO": r"(?:N[O]?[ -]{0,3})?\d{4}",
    "AU": r"\d{4}", "NZ": r"\d{4}", "ZA": r"\d{4}", "HU": r"(?:H[ -]{0,3})?\d{4}",
    "SI": r"(?:SI[ -]{0,3})?\d{4}", "BG": r"\d{4}", "PH": r"\d{4}",
    "NL": r"\d{4} ?[A-Z]{2}", "SE": r"(?:SE?[ -]{0,3})?\d{3} ?\d{2}", "CZ": r"\d{3} ?\d{2}",
    "SK": r"\d{3} ?\d{2}", "GR": r"\d{3} ?\d{2}", "PL": r"\d{2}-\d{3}",
    "PT": r"\d{4}-\d{3}", "BR": r"\d{5}-?\d{3}", "JP": r"〒?\s?\d{3}-\d{4}",
    "IN": r"\d{3} ?\d{3}", "CN": r"\d{6}", "RU": r"\d{6}", "SG": r"\d{6}", "RO": r"\d{6}",
    "KR": r"\d{3}-\d{3}|\d{5}", "TW": r"\d{3}(?:\d{2})?", "AR": r"(?:[A-Z]\d{4}[A-Z]{3}|\d{4})",
    "AZ": r"(?:AZ ?)?\d{4}", "LV": r"LV-?\d{4}", "LT": r"LT-?\d{5}", "IL": r"\d{5,7}",
}  # fmt: skip
_CODE_AFTER: Final = words("US CA GB IE AU NZ IN CN JP SG KR TW TH ZA PH RU BR")
_CITY: Final = r"[A-ZÀ-ÞÄÖÜŁŚŻŹČŠŽŘİŞ][\w'’.-]{1,24}(?:[ /-](?:[A-ZÀ-ÞÄÖÜŁŚŻŹČŠŽŘa-zà-ž(][\w'’.)-]{0,24})){0,4}"
_CITY_PIECE: Final = re.compile(rf"^{_CITY}$")
_US_TAIL: Final = re.compile(
    rf"^(?P<city>{_CITY})?,?\s{{0,2}}(?P<state>[A-Z]{{2}}|[A-Z]\.\s?[A-Z]\.|[A-Z][a-z]+\.?(?: [A-Z][a-z]+)?)"
    r",?\s{1,3}(?P<zip>\d{5}(?:\s?-\s?\d{4})?)\b"
)
_NOT_ADDRESS: Final = re.compile(
    r"(?:tel|fax|phone|e-?mail|www\.|https?:|@|©|copyright|\bopen|hours|click|map|"
    r"directions|monday|\bmon\b|call)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Piece:
    text: str
    line: int
    start: int
    end: int
    kind: str = ""


class _Reader:
    """Reads the addresses of one page."""

    def __init__(self, sheet: Sheet, regions: tuple[str, ...]) -> None:
        self.sheet = sheet
        self.regions = regions or ("US",)
        self.postcode = _postcode_pattern(self.regions)
        self.street = _street_pattern(self.regions)
        self.has_free_form = not _FREE_FORM.isdisjoint(self.regions)
        self.blocks = self._blocks()
        self.taken = -1

    def addresses(self) -> Iterator[Found]:
        given = 0
        for number, line in enumerate(self.sheet.lines):
            text = line.text
            if number <= self.taken and len(text) < MAX_PIECE:
                continue
            if len(text) > 5 * MAX_LINE:
                continue
            if self.has_free_form and (found := self._free_form(number, text)):
                yield found
                continue
            if not _DIGIT.search(text):
                is_long = len(text) >= MIN_NUMBERLESS
                if is_long and (found := self._without_number(number, text)):
                    yield found
                continue
            for found in self._in_line(number, text):
                yield found
                given += 1
                if given >= MAX_FOUND:
                    return

    def _in_line(self, number: int, text: str) -> Iterator[Found]:
        last = 0
        matched = False
        for match in self.street.finditer(text):
            if match.start() < last or not _is_street(match[0]):
                continue
            found = self._around_street(number, match.start(), match.end())
            if found:
                matched = True
                last = found.end - self.sheet.starts[number]
                yield found
        if matched:
            return
        low = text[:MAX_LINE].lower()
        if "box" in low or "post" in low or "bp" in low:
            box = _BOX_PATTERN.search(text[:MAX_LINE])
            if box and _is_box(box[0]):
                found = self._around_street(number, box.start(), box.end())
                if found:
                    yield found
                    return
        if len(text) <= MAX_LINE:
            found = self._around_postcode(number, text)
            if found:
                yield found

    # An address of a country where streets have no grammar: what stands between the
    # name of the firm and the city, over several lines or between commas.
    def _free_form(self, number: int, text: str) -> Found | None:
        if last := self.blocks.get(number):
            return self._free_block(number, last)
        if text.count(",") >= 2 and len(text) <= MAX_FREE:
            return self._free_line(number)
        return None

    def _blocks(self) -> dict[int, int]:
        """Map the first to the last line of blocks that end in a country or a code."""
        if not self.has_free_form:
            return {}
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

    def _end_of_block(self, text: str) -> "_Place | None":
        """Read a line that ends an address: `Bahrain`, `Pune 411 001`, `Doha, Qatar`."""
        names = country_names()
        country = names.get(_country_text(text))
        if country:
            return _Place(country=country) if country in _FREE_FORM else None
        if "IN" in self.regions and (match := _INDIAN_END.fullmatch(text)):
            return _Place(city=match[1], code=match[2], country="IN")
        match = _CITY_COUNTRY.fullmatch(text)
        # "Sultanate of Oman" is no city in Oman.
        is_place = match is not None and not match[1].endswith((" of", " the"))
        if match and is_place and names.get(match[3].casefold()) in _FREE_FORM:
            return _Place(
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
                or _NOT_ADDRESS.search(above.text)
                or self._end_of_block(above.text)
            ):
                break
            first -= 1
        while first < number and _is_firm(lines[first].text):
            first += 1
        return first

    def _free_block(self, first: int, last: int) -> Found | None:
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
            _Piece(
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
        return self._found(street, place, Method.STREET)

    def _free_line(self, number: int) -> Found | None:
        pieces = list(self._cut(number, 0))
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
        return self._found(street, place, Method.STREET)

    def _free_end(self, pieces: list[_Piece]) -> tuple[int, "_Place"]:
        """Find where the street ends: before the city with the code, or the country."""
        place = _Place()
        for at, piece in enumerate(pieces):
            code = self.postcode.search(piece.text)
            country = country_names().get(_country_text(piece.text))
            if code and code.lastgroup in _FREE_FORM:
                place.code, place.region = code[0].strip(), code.lastgroup or ""
                place.city = piece.text[: code.start()].strip(" ,-") or None
            elif country not in _FREE_FORM or at < 2:
                continue
            else:
                place.country = country
            place.end, place.last_line = piece.end, piece.line
            if place.city:
                return at, place
            place.city = pieces[at - 1].text if at else None
            return at - 1, place
        return 0, place

    # An address whose street follows a known grammar.
    def _around_street(self, number: int, start: int, end: int) -> Found | None:
        base = self.sheet.starts[number]
        text = self.sheet.lines[number].text
        if state := _STATE_AS_COURT.match(text[start:end]):
            end = start + state.end(1)
        firm = _LEGAL_PREFIX.match(text[start:end])
        start += firm.end() if firm else 0
        street = [_Piece(text[start:end].strip(" ,"), number, base + start, base + end)]
        start = self._grow_left(street, number, text, start)
        tail = self._pieces_after(number, end)
        self._grow_right(street, tail)
        place = self._locality(tail)
        strong = bool(
            _STRONG_END.search(street_text := " ".join(p.text for p in street))
        )
        if not place.is_known and not strong and not _is_foreign_street(street_text):
            return None
        if not place.is_known and _is_prose(text, end):
            return None
        return self._found(street, place, Method.STREET)

    def _grow_left(
        self, street: list[_Piece], number: int, text: str, start: int
    ) -> int:
        """Take units and buildings written before the street."""
        base = self.sheet.starts[number]
        before = [
            match
            for match in _LEFT_PIECE.finditer(text[max(0, start - 120) : start])
            if match[0].strip()
        ][-4:]
        offset = max(0, start - 120)
        units = [i for i, match in enumerate(before) if _is_unit(match[0].strip())]
        if units and not any(len(m[0]) > 50 for m in before[units[0] :]):
            for match in reversed(before[units[0] :]):
                piece = match[0].strip()
                at = base + offset + match.start()
                street.insert(0, _Piece(piece, number, at, at + len(match[0])))
            start = offset + before[units[0]].start()
        if text[:start].strip(" ,"):
            return start
        for above in range(number - 1, max(-1, number - 4), -1):
            line = self.sheet.lines[above]
            piece = line.text.rstrip(" ,")
            if above <= self.taken or line.heading:
                break
            if _PUBLIC_HOUSE.search(piece) or (
                not _is_unit(piece) and not _is_part(piece)
            ):
                break
            # The first line of a block names who lives there, not where.
            is_own = line.container == self.sheet.lines[number].container
            if (
                not is_own
                and not _UNIT_PIECE.match(piece)
                and not _SURE_PART.search(piece)
                and self._is_first_of_block(above)
            ):
                break
            at = self.sheet.starts[above]
            street.insert(
                0, _Piece(line.text.rstrip(" ,"), above, at, at + len(line.text))
            )
        return start

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
            or bool(_NOT_ADDRESS.search(above.text))
        )

    def _pieces_after(self, number: int, offset: int) -> list[_Piece]:
        """Cut what follows a place into pieces: this line, then up to five short ones."""
        pieces = list(self._cut(number, offset))
        for below in range(number + 1, min(number + 6, len(self.sheet.lines))):
            line = self.sheet.lines[below]
            if (
                len(line.text) > MAX_PIECE
                or line.heading
                or _NOT_ADDRESS.search(line.text)
            ):
                break
            pieces.extend(self._cut(below, 0))
        return pieces[:10]

    def _cut(self, number: int, offset: int) -> Iterator[_Piece]:
        base = self.sheet.starts[number]
        text = self.sheet.lines[number].text
        for match in _PIECE.finditer(text, offset, min(len(text), offset + 300)):
            piece = match[0].strip(" .–-")
            if piece:
                at = base + match.start() + match[0].index(piece[0])
                yield _Piece(piece, number, at, at + len(piece))

    def _grow_right(self, street: list[_Piece], tail: list[_Piece]) -> None:
        while tail and len(street) < 6:
            piece = tail[0]
            is_near = piece.line - street[-1].line <= 1
            if not is_near:
                break
            is_next_line = piece.line > street[-1].line
            if _UNIT_PIECE.match(piece.text) or (
                (_is_unit(piece.text) or (is_next_line and _is_part(piece.text)))
                and not self.postcode.search(piece.text)
            ):
                street.append(tail.pop(0))
                continue
            split = _UNIT_HEAD.match(piece.text)
            if not split:
                break
            end = piece.start + split.end(1)
            street.append(_Piece(split[1], piece.line, piece.start, end))
            piece.text, piece.start = split[2], piece.end - len(split[2])
            break

    def _locality(self, tail: list[_Piece]) -> "_Place":
        place = _Place()
        last_line = tail[0].line if tail else 0
        for count, piece in enumerate(tail):
            if count > 6 or piece.line - last_line > 1 or place.country:
                break
            if not self._read_locality(piece, place):
                break
            last_line = piece.line
            place.end = piece.end
            place.last_line = piece.line
        if not place.is_known:
            place.end = 0
        return place

    def _read_locality(self, piece: _Piece, place: "_Place") -> bool:
        text = piece.text
        folded = text.casefold().strip(" .()")
        if folded in country_names() and (place.city or place.code or len(folded) > 3):
            place.country = country_names()[folded]
            return True
        us = _US_TAIL.match(text)
        if us and _is_state(us["state"]):
            place.city = place.city or us["city"]
            place.state, place.code = us["state"], us["zip"]
            self._rest(text[us.end() :], place)
            return True
        if not place.code and self._read_code(text, place):
            return True
        if _is_state(text) and (place.city or place.code):
            place.state = place.state or text
            return True
        head, _, last = text.rpartition(" ")
        if head and _is_state(last) and _CITY_PIECE.match(head) and not place.state:
            place.city, place.state = place.city or head, last
            return True
        if not place.city and len(text) < 40 and _CITY_PIECE.match(text):
            place.city = text
            return True
        if (
            place.city
            and not place.state
            and not place.code
            and _CITY_PIECE.match(text)
        ):
            # A district before the city, as in Britain.
            place.extra.append(place.city)
            place.city = text
            return len(place.extra) < 3
        return False

    def _read_code(self, text: str, place: "_Place") -> bool:
        code = self.postcode.search(text)
        if not code:
            return False
        before = text[: code.start()].strip(" ,-–")
        after = text[code.end() :].strip(" ,-–")
        region = code.lastgroup or ""
        is_bare = not before and not after
        if before and not _CITY_PIECE.match(before) and not _is_state(before):
            return False
        if after and not _CITY_PIECE.match(after.split(",")[0].split(" - ")[0]):
            folded = after.casefold().strip(" .()")
            if folded in country_names():
                pass
            elif region in ("GB", "CA", "IE"):
                # These codes are so odd that what follows cannot make them wrong.
                after = ""
            else:
                return False
        if is_bare and region in _SHORT_CODES and not (place.city or place.state):
            return False
        place.code = code[0].strip()
        place.region = region
        if before:
            self._read_before(before, place)
        if after:
            self._rest(after, place)
        return True

    @staticmethod
    def _read_before(before: str, place: "_Place") -> None:
        head, _, last = before.rpartition(" ")
        if _is_state(before) and place.city:
            place.state = before
        elif head and _is_state(last):
            place.city, place.state = place.city or head.strip(" ,"), last
        else:
            if place.city:
                place.extra.append(place.city)
            place.city = before

    @staticmethod
    def _rest(rest: str, place: "_Place") -> None:
        rest = rest.strip(" ,.-–()")
        if not rest:
            return
        folded = rest.casefold()
        if folded in country_names():
            place.country = country_names()[folded]
        elif not place.city and _CITY_PIECE.match(rest):
            city, _, country = rest.rpartition(" ")
            if city and country.casefold() in country_names():
                place.city, place.country = city, country_names()[country.casefold()]
            else:
                place.city = rest

    def _without_number(self, number: int, text: str) -> Found | None:
        """Read `Mill House, Station Road, Cork, Co. Cork`: a street needs no number."""
        if len(text) > MAX_LINE or not _ROAD_HINT.search(text):
            return None
        pieces = list(self._cut(number, 0))
        for place, piece in enumerate(pieces):
            if not _NUMBERLESS.match(piece.text):
                continue
            first = place
            while first and _is_unit(pieces[first - 1].text):
                first -= 1
            street = pieces[first : place + 1]
            tail = pieces[place + 1 :] or self._pieces_after(number, len(text))
            where = self._locality(tail)
            if where.code or (where.city and (where.country or where.state)):
                return self._found(street, where, Method.STREET)
        return None

    # An address known by its postal code; the street is what stands before it.
    def _around_postcode(self, number: int, text: str) -> Found | None:
        code = self.postcode.search(text)
        if not code or _NOT_ADDRESS.search(text[: code.start()][-40:]):
            return None
        pieces = list(self._cut(number, 0))
        at = next(
            (i for i, p in enumerate(pieces) if self.postcode.search(p.text)), None
        )
        if at is None:
            return None
        region = code.lastgroup or ""
        before = pieces[:at]
        above = self._lines_above(number) if at <= 2 else []
        candidates = [*above, *before]
        if region in _SHORT_CODES and not candidates:
            return None
        place = _Place()
        self._read_locality(pieces[at], place)
        if not place.code:
            return None
        street = self._street_before(candidates, place)
        for piece in pieces[at + 1 : at + 3]:
            if not self._read_locality(piece, place):
                break
        for piece in self._pieces_after(number, len(text))[:2]:
            folded = piece.text.casefold().strip(" .")
            if not place.country and folded in country_names():
                place.country = country_names()[folded]
        if not street and region in _SHORT_CODES:
            return None
        if not street and not place.city:
            return None
        place.end = pieces[at].end
        place.last_line = number
        street = street or [_Piece("", number, pieces[at].start, pieces[at].start)]
        return self._found(street, place, Method.POSTAL)

    def _lines_above(self, number: int) -> list[_Piece]:
        pieces: list[_Piece] = []
        for above in range(number - 1, max(-1, number - 5), -1):
            line = self.sheet.lines[above]
            if above <= self.taken or len(line.text) > MAX_PIECE or line.heading:
                break
            if _NOT_ADDRESS.search(line.text):
                break
            pieces[:0] = self._cut(above, 0)
        return pieces

    def _street_before(self, candidates: list[_Piece], place: "_Place") -> list[_Piece]:
        """Walk up from the code: city and county first, then the street's lines."""
        street: list[_Piece] = []
        skipped = 0
        for piece in reversed(candidates):
            text = piece.text
            is_street = (
                bool(_NUMBERLESS.match(text))
                or bool(_HOUSE_NUMBER.match(text))
                or _is_unit(text)
                or bool(_street_match(text))
            )
            if is_street and not _AMOUNT.match(text):
                street.insert(0, piece)
            elif street or skipped >= 2:
                break
            elif _is_state(text) and not place.state:
                place.state = text
            elif _CITY_PIECE.match(text) and len(text) < 30:
                if place.city is None or skipped:
                    place.city = text
                skipped += 1
            else:
                break
        if street and street[0].text[:1].islower():
            return []
        return street

    def _found(
        self, street: list[_Piece], place: "_Place", method: Method
    ) -> Found | None:
        text = ", ".join(p.text.strip(" ,") for p in street if p.text)
        start = street[0].start
        end = max(street[-1].end, place.end)
        self.taken = max(self.taken, street[-1].line, place.last_line)
        whole = " ".join(self.sheet.text[start:end].split())
        if not whole:
            return None
        key = re.sub(r"\W+", " ", f"{text} {place.code or place.city or ''}").casefold()
        country = place.country or _country_of(place, self.regions)
        return Found(
            key=key.strip(),
            value=whole[:300],
            method=method,
            line=self.sheet.line_at(start),
            start=start,
            end=end,
            snippet=self.sheet.snippet(start, end),
            details={
                "street": text or None,
                "city": place.city,
                "state": place.state,
                "postal_code": place.code,
                "country": country,
            },
        )


@dataclass(slots=True)
class _Place:
    city: str | None = None
    state: str | None = None
    code: str | None = None
    country: str | None = None
    region: str = ""
    end: int = 0
    last_line: int = -1
    extra: list[str] = field(default_factory=list)

    @property
    def is_known(self) -> bool:
        return bool(self.code or self.state or self.country)


MIN_NUMBERLESS: Final = 6
MAX_FREE: Final = 200
MAX_FREE_PIECE: Final = 60
MAX_COUNTRY: Final = 40
_FREE_FORM: Final = words(
    "AE SA QA KW BH OM JO LB IQ EG YE SY IR IN PK BD LK NP MM MY ID SG PH TH VN KH CN HK MO "
    "TW KR JP KE NG GH TZ UG ZM ZW ET RW MU SN CI CM AO MZ KZ UZ AZ GE AM AF MN"
)
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


def _country_text(text: str) -> str:
    bare = _CODE_AT_END.sub("", text).strip(" .,-()").casefold()
    return _STYLE_OF_STATE.sub("", bare)


_STYLE_OF_STATE: Final = re.compile(
    r"^(?:(?:sultanate|kingdom|state|(?:islamic |people['’]s )?republic) of |p\.?\s?r\.?\s?(?=china))"
)


def _is_firm(text: str) -> bool:
    return bool(_FIRM.search(text.rstrip(" ,")))


def _is_place_part(text: str) -> bool:
    return bool(_DIGIT.search(text)) or bool(_PLACE_PART.search(text))


def _is_free_street(street: list[_Piece], place: _Place) -> bool:
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
_LEGAL_PREFIX: Final = re.compile(
    r"^.{0,40}\b(?:B\.?V\.?|N\.?V\.?|GmbH|AG|KG|OHG|UG|A/S|ApS|AB|AS|Oy|S\.?A\.?|"
    r"S\.?L\.?|S\.?r\.?l\.?|SARL|Ltd|Inc|LLC|s\.r\.o)\b\.?\s"
)
_STATE_AS_COURT: Final = re.compile(
    r"^(.{5,60}?\b(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Blvd|Parkway|Way)\b\.?)"
    r".{0,40}\sCT$"
)
_LEFT_PIECE: Final = re.compile(r"[^,;|•·:–]{1,80}")
_ROAD_HINT: Final = re.compile(r"[a-z] (?:Road|Street|Lane|Avenue|Rd|St|Drive)\b")
_UNIT_HEAD: Final = re.compile(
    rf"^((?:(?:{_UNIT_WORD})\b\.?\s?\#?[\w-]{{0,5}}\d[\w-]{{0,5}}|\#\s?[\w-]{{1,8}}))[\s,]{{1,2}}(\D.{{2,60}})$"
)
_PIECE: Final = re.compile(r"[^,;|•·\n]{1,200}")
_SHORT_CODES: Final = words(
    "AT CH BE LU DK NO AU NZ ZA HU SI BG PH TW AR AZ DE FR ES IT "
    "FI TR MX EE HR RS UA TH MY ID KR IL CN RU SG RO SE CZ SK GR IN JP PL PT US NL BR"
)
_HOUSE_NUMBER: Final = re.compile(
    r"^(?:\d{1,5}[A-Za-z]?(?:[-–/]\d{1,5}){0,2},?\s[A-Z][\w'’. -]{2,40}"
    r"|[A-ZÀ-ÞÄÖÜ][\w'’.À-ž-]{2,30}(?:\s[\w'’.À-ž-]{2,20}){0,3}\s\d{1,4}\s?[a-zA-Z]?)$"
)


def _is_box(text: str) -> bool:
    return text[:3].lower() != "box" or len(text) > 5


_HAS_NAME: Final = re.compile(
    r"(?i:[a-zà-ž]{2,}|\b\d{1,3}(?:st|nd|rd|th)|\b[a-z])[\s.].{0,60}[a-zà-ž]|[a-zà-ž]{5,}\s?\d|Broadway|Box|BP"
    r"|Hwy|Highway|Route|Rte|FM",
    re.IGNORECASE,
)


_AMOUNT: Final = re.compile(
    r"\d{1,6}\s(?:Years?|Days?|Hours?|Minutes?|Stars?|Percent|USD|EUR|GBP|AED|CHF|[Ss]q(?:uare)?)\b"
)


def _is_street(text: str) -> bool:
    if not _HAS_NAME.search(text):
        return False
    if _AMOUNT.match(text):
        return False
    return len(text) >= 6


def _is_foreign_street(text: str) -> bool:
    if _BLOCK_PATTERN.search(text) or _FRENCH_START.match(text):
        return True
    return bool(_SURE_SUFFIX.search(text)) or bool(
        re.match(rf"(?i:{_ROMANCE_WORDS})\s", text)
    )


def _is_prose(text: str, end: int) -> bool:
    """Tell `our 5 Star Drive for ...` from an address: words go on in lower case."""
    after = text[end : end + 20].lstrip()
    return (
        len(text) > 160
        and after[:1].islower()
        and not after.startswith(("in ", "and "))
    )


_SURE_PART: Final = re.compile(r"\b(?:Floor|Building|Bldg|Tower|Complex|Plot)\b")
# Houses that are known as who is in them, not as where they stand.
_PUBLIC_HOUSE: Final = re.compile(
    r"\b(?:(?:City|Town) Hall|(?:Community|Medical|Health|Sciences|Visitors?|Civic|Senior|Arts|"
    r"Recreation|Convention|Welcome) Cent(?:er|re)|University|College|School)\b"
)
_PART: Final = re.compile(
    r"\b(?:Floor|Building|Bldg|Tower|Complex|Block|Zone|Villa|Plot|Sector|Flat|"
    r"P\.?\s?O\.?\s?Box|Post Box|Industrial Area|Business Park|Estate)\b"
)


def _is_part(text: str) -> bool:
    """Say whether a line is one of those between a firm's name and its city."""
    if not 5 < len(text) <= 60 or (not text[:1].isupper() and not text[:1].isdigit()):
        return False
    if (
        not _PART.search(text)
        or _NOT_ADDRESS.search(text)
        or _LEGAL_PREFIX.match(f"{text} ")
    ):
        return False
    return any(c.isdigit() for c in text) or bool(_BUILDING_PIECE.match(text))


def _is_unit(text: str) -> bool:
    if not 1 < len(text) <= 60:
        return False
    return bool(
        _UNIT_PIECE.match(text)
        or _BUILDING_PIECE.match(text)
        or _BOX_PATTERN.fullmatch(text.rstrip(" ,."))
    )


@lru_cache(maxsize=4096)
def _is_state(text: str) -> bool:
    short = text.replace(".", "").replace(" ", "")
    if short in _US_STATES or short in _CA_STATES or short in _AU_STATES:
        return text.isupper()
    folded = text.strip(" .()").casefold()
    if folded in _STATE_NAMES:
        return True
    return folded.startswith(("co. ", "county ")) and len(folded) < 25


_PREFIXES: Final = {
    "D": "DE", "F": "FR", "A": "AT", "B": "BE", "L": "LU", "I": "IT", "E": "ES", "CH": "CH",
    "DK": "DK", "S": "SE", "SE": "SE", "N": "NO", "NO": "NO", "FI": "FI", "FIN": "FI",
    "H": "HU", "SI": "SI", "HR": "HR", "LT": "LT", "LV": "LV",
}  # fmt: skip


def _country_of(place: _Place, regions: tuple[str, ...]) -> str | None:
    state = (place.state or "").replace(".", "")
    code = place.code or ""
    if re.fullmatch(_POSTCODES["GB"], code):
        return "GB"
    if re.fullmatch(_POSTCODES["CA"], code) or (
        state in _CA_STATES and not code.isdigit()
    ):
        return "CA"
    if state in _US_STATES and re.fullmatch(_POSTCODES["US"], code):
        return "US"
    if place.region == "prefixed":
        return _PREFIXES.get(code.partition("-")[0])
    if place.region:
        return place.region
    return regions[0] if regions and place.is_known else None


@lru_cache(maxsize=256)
def _postcode_pattern(regions: tuple[str, ...]) -> re.Pattern[str]:
    """Build one pattern for the codes of the page's countries; GB and CA are safe."""
    parts = []
    for region in dict.fromkeys((*regions, "GB", "CA")):
        code = _POSTCODES.get(region)
        if code is None or region == "US":
            continue
        ahead = (
            "" if region in _CODE_AFTER else r"(?=\s{0,3}(?:$|[,A-ZÀ-ÞÄÖÜŁŚŻŹČŠŽŘİŞ(]))"
        )
        before = r"(?<![\w+(.])(?<!\d-)" if region == "IN" else r"(?<![\w+(.-])"
        parts.append(rf"(?P<{region}>{before}(?:{code})(?![\w-]){ahead})")
    parts.append(
        r"(?P<prefixed>(?<![\w+(.-])(?:D|F|A|B|L|I|E|CH|DK|SE?|NO?|FIN?|H|SI|HR|LT|LV)-\d{4,5}(?![\w-]))"
    )
    if "US" in regions:
        states = "|".join(sorted(_US_STATES))
        parts.append(
            rf"(?P<US>(?<=[A-Za-z.,] )(?<![$#] )\d{{5}}(?:-\d{{4}})?(?![\w-])|(?:{states}),?\s{{1,2}}\d{{5}}(?:-\d{{4}})?(?![\w-]))"
        )
    return re.compile("|".join(parts))
