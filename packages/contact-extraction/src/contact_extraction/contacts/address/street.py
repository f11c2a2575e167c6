"""Streets: the grammars of many languages, and what only looks like a street."""

import re
from functools import cache
from typing import Final

from contact_extraction.contacts.address.box import BOX
from contact_extraction.contacts.address.unit import UNIT_TAIL, UNIT_WORD
from contact_extraction.html import words

MAX_LINE: Final = 400


def street_pattern(regions: tuple[str, ...]) -> re.Pattern[str]:
    """Give the grammar of streets for the page's countries; English is always in."""
    return _grammar(
        is_germanic=not _GERMANIC.isdisjoint(regions),
        is_romance=not _ROMANCE.isdisjoint(regions),
    )


@cache
def _grammar(*, is_germanic: bool, is_romance: bool) -> re.Pattern[str]:
    parts = [
        rf"(?<![\w$£€.#:/-])(?=[\dN]|[SEW]\d)(?:{_FRENCH}|{_ENGLISH}){UNIT_TAIL}{{0,3}}",
        rf"(?<![\w$.-])(?=[\d#]){_BLOCK}",
    ]
    if is_germanic:
        parts.append(rf"(?<![\w-])(?!{_LABEL_OF_STREET}){_SUFFIXED}")
    if is_romance:
        parts.append(rf"(?<![\w-]){_TYPE_FIRST}")
    # Most places of a text are ruled out by one look at one letter.
    first = r"\d#NSEW" + r"A-ZÀ-ÞŁŚŠŽČ'’" * is_germanic + r"\w" * is_romance
    return re.compile(rf"(?=[{first}])(?:{'|'.join(parts)})")


def street_match(text: str) -> re.Match[str] | None:
    """Find a street of any grammar, or a box, in a short text."""
    return street_pattern(_ANY_REGION).search(text[:MAX_LINE]) or BOX.search(
        text[:MAX_LINE]
    )


def is_sure_street(text: str) -> bool:
    """Say whether a word of a street is that of streets, and no word of any other text."""
    return bool(
        _SURE_SUFFIX.search(text)
        or STRONG_END.search(text)
        or re.search(rf"(?i:(?<![\w.])(?:{_ROMANCE_WORDS})){_AFTER_TYPE}", text)
    )


def is_numberless(text: str) -> bool:
    """Say whether a text is a street without a number: `Rua Direita`, `Piazza del Popolo`."""
    return _NUMBERLESS_TYPE.match(text) is not None


def is_street(text: str) -> bool:
    """Say whether what the grammar accepted has a name and is not an amount."""
    if _COUNTS_OR_DATES.search(text):
        return False
    if not _HAS_NAME.search(text):
        return False
    if AMOUNT.match(text):
        return False
    return len(text) >= 6


def is_foreign_street(text: str) -> bool:
    """Say whether a street is spelled as no English text is."""
    if _BLOCK_PATTERN.search(text) or _FRENCH_START.match(text):
        return True
    return bool(_SURE_SUFFIX.search(text)) or bool(
        re.match(rf"(?i:{_ROMANCE_WORDS}){_AFTER_TYPE}", text)
    )


def goes_on_as_prose(text: str, end: int) -> bool:
    """Distinguish `our 5 Star Drive for ...` from an address: words go on in lower case."""
    after = text[end : end + 20].lstrip()
    return (
        len(text) > 160
        and after[:1].islower()
        and not after.startswith(("in ", "and "))
    )


def is_number_of_road(text: str, start: int, end: int) -> bool:
    """Distinguish `the Ringway 8, Elm St` from `Level 8, Elm St`."""
    if not _NUMBER_AND_COMMA.match(text[start:end]):
        return False
    before = _WORD_BEFORE.search(text[max(0, start - 30) : start])
    return before is not None and not _UNIT_BEFORE.match(before[0])


_NUMBER_AND_COMMA: Final = re.compile(r"\d{1,6}[A-Za-z]?,")
_WORD_BEFORE: Final = re.compile(r"[^\W\d_]{1,24}[\s-]$")
_UNIT_BEFORE: Final = re.compile(rf"(?:{UNIT_WORD}|No)\b", re.IGNORECASE)
_STRONG: Final = (
    r"Street|Str\.?|St|Avenue|Ave|Boulevard|Blvd|Boul|Road|Rd|Drive|Dr|Lane|Ln|"
    r"Parkway|Pkwy|Pky|Highway|Hwy|Freeway|Fwy|Expressway|Expwy|Turnpike|Tpke|"
    r"Terrace|Terr|Crescent|Cres|Circle|Cir|Causeway|Cswy|Mews|Trail|Trl|Square|Sq|"
    r"Court|Ct|Place|Pl|Way|Broadway|Pike|Esplanade|Parade|Pde|Tce|Circuit|Cct|Alley"
)
_WEAK: Final = (
    r"Close|Gardens|Gdns|Grove|Hill|Rise|View|Walk|Wharf|Quay|Green|Loop|Row|Plaza|"
    r"Plz|Crossing|Xing|Path|Bypass|Bend|Ridge|Park|Mall|Commons|Concourse|Promenade|"
    r"Heights|Hts|Cove|Point|Pt|Run|Pass|Crest|Vale|Gate|Yard|Centre|Center|Mile|End|"
    r"Estate|Bridge|Fields?|Market|Common|Drove|Embankment|Strand|Piccadilly"
)
_DIRECTION: Final = r"(?:North|South|East|West|[NSEW]|[NS]\.?[EW]|[NS]\.\s?[EW]\.?)"
_NUMBER: Final = (
    r"(?:(?:(?:No|Nr|N[º°o])\.?:?\s{0,2})?\d{1,6}(?:[A-Za-z](?![A-Za-z])|½)?"
    r"(?:\s?[-–/&]\s?\d{1,6}[A-Za-z]?(?![A-Za-z]))?"
    # By their place in a grid, as in Wisconsin and Illinois: "N6141", "W172N9300", "26W148".
    r"|(?:[NSEW]\d{2,5}(?:\s?[NSEW]\d{2,5})?|\d{1,2}[NSEW]\d{2,4})(?!\w))"
)
_NAME: Final = (
    r"(?:[A-ZÀ-ÞŁŚŻŹĆČŠŽŘĚŮİŞĞ][\w'’.&-]{0,24}|\d{1,4}(?:st|nd|rd|th|ST|ND|RD|TH)?|of|the|"
    r"de|la|le|les|du|des|del|della|da|do|dos|van|von|der|den|y|e|d'[A-Z]\w{1,20})"
)
_ENGLISH: Final = (
    rf"{_NUMBER},?\s{{1,2}}(?:{_DIRECTION}\.?\s{{1,2}})?(?:{_NAME}\s{{1,2}}){{0,5}}"
    rf"(?:(?:(?i:US|U\.S\.|State|County|Old)\s)?(?i:Highway|Hwy|Route|Rte|FM|Road|Rd|SR|CR|"
    rf"County\sRoad)\s\#?\d{{1,4}}[A-Z]?"
    rf"|(?:County|Co\.?)\s(?:Highway|Hwy|Road|Rd|Trunk)\.?\s[A-Z]{{1,3}}\b"
    rf"|(?:(?<=[\w.]\s)(?=[A-Z])(?i:{_STRONG}|{_WEAK})|Broadway|BROADWAY)\b(?!['’])\.?)"
    rf"(?:\s{{1,2}}{_DIRECTION}\b\.?)?"
)
_SUFFIX_WORDS: Final = (
    r"stra(?:ß|ss)e|str\.?|gasse|gässli|platz|allee|weg|ring|damm|ufer|markt|graben|"
    r"steig|stieg|pfad|chaussee|promenade|zeile|kamp|hof|berg|brücke|tor|wall|garten|"
    r"straat|laan|plein|kade|gracht|dijk|singel|dreef|steeg|baan|hof|lei|markt|"
    r"weide|pad|burgwal|kanaal|dam|haven|oord|veld|park|boulevard|"
    r"gatan|gata|vägen|väg|gränd|torget|torg|stigen|allén|backen|plan|kajen|"
    r"gade|vej|allé|alleen|stræde|plads|torv|torvet|vænget|boulevarden|gården|parken|bakken|kajen|bryggen|havnen|"
    r"gaten|veien|vegen|plassen|katu|tie|kuja|polku|tori|utca|út|tér|caddesi|sokağı|"
    r"sokak|bulvarı|cad\.?|sok\.?|blv\.?"
)
# "Adresse Lindenweg 4": what is said before a street is no part of its name.
_LABEL_OF_STREET: Final = (
    r"(?i:adresse|anschrift|adres|adress|address|standort|sitz|kontakt|osoite|cím)\s"
)
_SUFFIXED: Final = (
    rf"(?:(?:[A-ZÀ-ÞÄÖÜŁŚŠŽČ][\w'’.-]{{1,30}}[\s-]){{0,3}}?"
    rf"(?:[A-ZÀ-ÞÄÖÜ][\w'’.-]{{0,30}}?(?:{_SUFFIX_WORDS})|"
    rf"[A-ZÀ-ÞÄÖÜ][\w'’.-]{{1,30}}[\s-](?i:{_SUFFIX_WORDS}|u\.|krt\.?|körút|sétány|köz|sor|dűlő|fasor|rakpart))\s{{0,2}}"
    r"|['’][ts]\s[A-ZÄÖÜ][\w-]{2,30}\s"
    r"|(?:Am|Im|An|Auf|Zum|Zur|In|Unter|Hinter|Hinterm|Beim?|Vor|Op|Het|Aan|De|Ved|Bag|Vid)\s(?:de[nmr]|der|het)?\s?"
    r"[A-ZÄÖÜ][\w-]{2,30}\s)"
    r",?\s?(?:No\s?[:.]?\s?)?\d{1,4}(?!\.\s?(?:OG|UG|DG|Stock|Etage|Obergesch))(?:\s?[a-zA-Z](?!\w))?"
    r"(?:\s?[-–/+]\s?(?:\d{1,4}\s?[a-zA-Z]?|hs|huis|bis|zwart|rood|I{1,3}|[A-H])(?!\w)){0,3}"
    # The door behind a stair, as Finland writes them: "12 A 7".
    r"(?:(?<=\d [A-Z]) \d{1,3}(?![\w-])(?! ?\w))?"
)
_ROMANCE_WORDS: Final = (
    r"praceta|pct\.?|calçada|fraz\.|frazione|vocabolo|voc\.|salita|travesía|pasaje|ruelle|venelle|montée|"
    r"rua|r\.|av\.?|avda\.?|avenida|alameda|al\.|travessa|tv\.|largo|praça|pça\.?|estrada|"
    r"rodovia|calle|c/|cl\.|carrera|cra\.?|paseo|pso\.?|plaza|pl\.|camino|carretera|ctra\.?|"
    r"ronda|rambla|carrer|passeig|plaça|glorieta|polígono|pol\.|via|v\.le|viale|piazza|"
    r"p\.z{1,2}a|p\.le|l\.go|piazzale|corso|c\.so|largo|vicolo|v\.lo|strada|lungomare|contrada|c\.da|località|loc\.|"
    r"ul\.|ulica|aleja|aleje|al\.|plac|os\.|osiedle|rynek|ulice|náměstí|nám\.|tř\.|třída|námestie|trg|bulevar|"
    r"бул\.|ж\.к\.|площад|bul\.|ulitsa|str\.|strada|bd\.?|calea|șos\.|ул\.|улица|пр\.|проспект|пл\.|"
    r"rue|avenue|boulevard|boul\.|place|chemin|ch\.|impasse|allée|allées|quai|cours|"
    r"route|rte|square|passage|faubourg|chaussée|sentier|esplanade|rond-point"
)
# "Viaggi" is not a via.
_AFTER_TYPE: Final = r"(?:(?<=[./])\s?|\s)"
_TYPE_FIRST: Final = (
    rf"(?i:(?<![\w.])(?:{_ROMANCE_WORDS})){_AFTER_TYPE}(?:[\wÀ-ž'’.-]{{1,24}}\s{{1,2}}){{0,5}}?"
    r"(?:[\wÀ-ž'’.-]{2,24}|[IVX])(?:,\s?|\s)(?:s\.?/\s?n\.?(?!\w)|s\.?n\.?c\.?(?!\w)|b\.?b\.?(?!\w)|"
    r"(?:km\.?\s?|n\.?(?:[º°]|r\.?|o\.?)?\s?|n[úu]m(?:ero)?\.?\s?|д\.\s?|дом\s)?\d{1,5}(?:\s?[a-zA-Z](?!\w))?"
    r"(?:\s?[-–/]\s?(?:\d{1,4}\s?[a-zA-Z]?|[a-zA-Z])(?![\wº°ª]|\.[º°ª]))?)"
)
_FRENCH: Final = (
    r"\d{1,4}(?:\s?[-–/]\s?\d{1,4})?(?:\s?(?:bis|ter|quater|[A-D]))?,?\s"
    r"(?i:rue|avenue|av\.?|boulevard|bd\.?|boul\.?|place|pl\.|chemin|ch\.|impasse|allées?|"
    r"quai|cours|route|rte\.?|square|passage|faubourg|chaussée|sentier|esplanade)\s"
    r"[\wÀ-ž'’.-]{1,24}(?:[\s-][\wÀ-ž'’.-]{1,24}){0,5}?(?=$|[,;\n(|•]|\s[-–]\s|\s(?:[A-Z]{1,2}-)?\d{4,5}\b)"
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
_ANY_REGION: Final = ("DE", "FR")
STRONG_END: Final = re.compile(
    rf"(?:{_STRONG}|Highway|Hwy|Route|FM)\b\.?(?:\s\#?\d{{1,4}}[A-Z]?)?"
    rf"(?:\s{{1,2}}{_DIRECTION}\b\.?)?(?:{UNIT_TAIL}){{0,3}}$",
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
NUMBERLESS: Final = re.compile(
    r"^(?:The\s)?(?:[A-Z][\w'’.-]{1,24}\s){1,4}(?:Street|St|Road|Rd|Lane|Ln|Avenue|Ave|"
    r"Drive|Way|Terrace|Crescent|Square|Place|Row|Hill|Parade|Quay|Walk|Gate|Parkway|"
    r"Boulevard|Close|Mews|Gardens|Grove)\.?$"
)
ROAD_END: Final = re.compile(r"(?:Street|Road|Rd|Lane|Avenue|Drive)\.?$")
_NUMBERLESS_TYPE: Final = re.compile(
    rf"^(?i:{_ROMANCE_WORDS}){_AFTER_TYPE}(?:(?:de|del|della|delle|degli|dei|da|do|dos|das|du|des|la|las|los|le|les|el|"
    r"e|y|et|i|d['’]|dell['’]|l['’])\s?){0,3}[A-ZÀ-ÞŁŚŻŹĆČŠŽŘĚŮ][\w'’.-]{1,24}(?:\s[\w'’.-]{1,24}){0,4}$"
)
YEAR: Final = re.compile(r"(?:19|20[0-3])\d\d?")
# "via libera a 12", "Am Montag 12": a count or a date.
_COUNTS_OR_DATES: Final = re.compile(
    r"(?<!\w)(?:a|à|aux?|con|avec|mit|met|med|with|for|für|per|por|pour|om|ca|tot|bis|mon\w*tag|dienstag|mittwoch|"
    r"donnerstag|freitag|samstag|sonntag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag|søndag|måndag|tisdag|lördag|söndag|"
    r"maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag|januar|februar|märz|april|juni|juli|august|september|"
    r"oktober|november|dezember|december)\s\d{1,4}$",
    re.IGNORECASE,
)
HOUSE_NUMBER: Final = re.compile(
    r"^(?:\d{1,5}[A-Za-z]?(?:[-–/]\d{1,5}){0,2},?\s[A-Z][\w'’. -]{2,40}"
    r"|(?:[A-Z]\s[A-ZÀ-Ž]|[A-ZÀ-ÞÄÖÜΆ-ΏΑ-ΫЀ-Я])[\w'’.À-ž-]{1,30}(?:\s[\w'’.À-ž-]{1,20}){0,3}\s\d{1,4}\s?[a-zA-Z]?"
    r"(?:\s?[/–-]\s?\w{1,4})?"
    r"|[A-ZÀ-ÞÄÖÜ][\w'’. À-ž-]{2,30}\s(?:Nr|No|nr|č|čp|br|št|hsz)\.?\s?\d{1,4}\s?[a-zA-Z]?)$"
)
CORNER: Final = re.compile(
    r"^(?:(?:[Oo]n\s|[Aa]t\s)?(?:[Tt]he\s)?(?:[Cc]orner(?:\sof)?|[Cc]nr\.?|[Ii]ntersection\sof)\s[A-Z0-9].{4,50}"
    r"|[A-Z][\w.' -]{1,28}\s(?:&|and|at)\s[A-Z][\w.' -]{1,28}"
    r"\b(?:Roads?|Rd|Streets?|St|Avenues?|Ave|Highways?|Hwy|Lanes?|Route)\.?(?:\s\d{1,4}[A-Z]?)?)$"
)
"""Where two roads meet: all there is for an address in many a village."""
COPYRIGHT_BEFORE: Final = re.compile(
    r"(?:©|&copy;|\(c\)|copyright)[\s\d–-]{0,12}$", re.IGNORECASE
)
ROAD_WORDS: Final = (" Road", " St", " Lane", " Avenue", " Rd", " Drive")
"""One of these is in every page with a line that the hint finds, looked for much faster."""
ROAD_HINT: Final = re.compile(r"[a-z] (?:Road|Street|Lane|Avenue|Rd|St|Drive)\b")
STATE_AS_COURT: Final = re.compile(
    r"^(.{5,60}?\b(?:Street|St|Avenue|Ave|Road|Rd|Drive|Dr|Lane|Ln|Blvd|Parkway|Way)\b\.?)"
    r".{0,40}\sCT$"
)
_HAS_NAME: Final = re.compile(
    r"(?i:[^\W\d_]{2,}|\b\d{1,3}(?:st|nd|rd|th)|\b[a-z])[\s.].{0,60}[^\W\d_]|[^\W\d_]{5,}[.,]?\s?\d|^c/\s?[a-zà-ž]{2}|Broadway|Box|BP"
    r"|Hwy|Highway|Route|Rte|FM",
    re.IGNORECASE,
)
AMOUNT: Final = re.compile(
    r"\d{1,6}\s(?:Years?|Days?|Hours?|Minutes?|Stars?|Percent|USD|EUR|GBP|AED|CHF|[Ss]q(?:uare)?)\b"
)
