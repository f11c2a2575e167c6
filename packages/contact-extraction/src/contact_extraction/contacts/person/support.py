"""What makes a run of capitalised words a person, and what rules it out."""

import re
from dataclasses import dataclass, field
from typing import Final

from contact_extraction import wordlist
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person.role import MAX_SHORT, is_calling
from contact_extraction.contacts.person.word import (
    AMBIGUOUS,
    NOT_NAMES,
    RARELY,
    given_names,
    is_turned,
)
from contact_extraction.contacts.place import country_names
from contact_extraction.html import words


@dataclass(frozen=True)
class PageWords:
    """What is known of the page around a name."""

    sheet: PageText
    organisations: frozenset[str]
    reachable: frozenset[int]
    _plain: dict[str, bool] = field(default_factory=dict)

    def is_plain(self, name: str) -> bool:
        """Say whether a word of a name is an ordinary word of this page."""
        # The "ter" of "Roos ter Horst" is part of the name, not a word of the page.
        words = name.replace("-", " ").split()
        parts = [p.casefold() for p in words if not p[:1].islower()]
        return any(len(p) > 2 and self._is_word(p.strip(".,")) for p in parts)

    def _is_word(self, word: str) -> bool:
        # Each name is asked about several times, and each look reads the whole page.
        if word not in self._plain:
            self._plain[word] = _is_word_of(word, self.sheet.text)
        return self._plain[word]


_BEFORE_WORD: Final = frozenset("_@./'’-")
# The "grace" of grace.lockhart@acme.com is a name, not a word.
_AFTER_WORD: Final = re.compile(r"[\w@]|\.\w")
MAX_LOOKS: Final = 20


def _is_word_of(word: str, text: str) -> bool:
    """Say whether a text writes a word in lower case, standing by itself."""
    place = text.find(word) if word else -1
    for _ in range(MAX_LOOKS):
        if place < 0:
            return False
        before = text[place - 1 : place] if place else ""
        end = place + len(word)
        is_inner = before.isalnum() or before in _BEFORE_WORD
        if not is_inner and not _AFTER_WORD.match(text, end):
            return True
        place = text.find(word, end)
    return False


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a name."""

    role: str | None
    is_alone: bool
    has_given: bool
    has_title: bool
    goes_on: bool
    """The sentence goes on in small letters after the name."""


def is_supported(page: PageWords, number: int, name: str, context: Context) -> bool:
    """Say whether what stands around a name makes it that of a person."""
    parts = name.split()
    first = parts[0].casefold().strip(".")
    surname = parts[-1] if not parts[-1].endswith(".") else parts[1]
    if context.has_title:
        # "Services Dr. Vanelli Offers": a surname alone takes the next word along.
        is_whole = context.has_given or context.is_alone or context.goes_on
        # "studio aboud" writes the name of Dr. Mostafa Aboud as a word.
        is_sure = context.has_given and first not in AMBIGUOUS
        return is_whole and (is_sure or not page.is_plain(surname))
    is_shouted = name.isupper()
    if context.has_given and first not in AMBIGUOUS:
        if is_shouted:
            return context.is_alone and not page.is_plain(name)
        return context.role is not None or not page.is_plain(surname)
    if not context.is_alone or is_shouted or page.is_plain(name):
        return False
    if sum(not p[:1].islower() for p in parts) > 3 or any(
        p.casefold().strip(",.") in NOT_NAMES for p in parts
    ):
        return False
    if context.has_given:
        return (
            is_calling(context.role)
            or first in RARELY
            or _goes_on(page, number, parts[0])
            or bool({number + 1, number + 2, number + 3} & page.reachable)
        )
    if _is_provider(page, number, name):
        return True
    is_other_way = len(parts) == TURNED_WORDS and is_turned(parts)
    if is_other_way and _is_hungarian(page):
        return True
    if len(first) == 1:
        return len(page.sheet.lines[number].text) < MAX_SHORT
    if is_calling(context.role) or _goes_on(page, number, parts[0]):
        return True
    near = {number + 1, number + 2, number + 3} & page.reachable
    is_name = len(parts) == TURNED_WORDS and (
        page.sheet.lines[number].tag in _NAME_TAGS
        or (is_other_way and turns_names(page.sheet))
    )
    return bool(near) and is_name and not _follows_name(page, number)


TURNED_WORDS: Final = 2
"""The words of a name with the surname first, as people list it."""


def turns_names(sheet: PageText) -> bool:
    """Say whether people put the surname first in lists, in the language of the page.

    Where they do not, "Edmonton Alberta" and "Sao Paulo" are places.
    """
    return (sheet.page.language or "")[:2].lower() in _TURNING


_TURNING: Final = words(
    "hu cs sk pl ro it fr hr sl sr bs et lv lt fi tr el uk ru bg sq"
)


def _is_provider(page: PageWords, number: int, name: str) -> bool:
    """Say whether a name stands alone below the law that makes a page name its provider."""
    lines = page.sheet.lines
    return (
        number > 0
        and lines[number].text == name
        and _PROVIDER_ABOVE.search(lines[number - 1].text[:MAX_HEAD]) is not None
    )


MAX_HEAD: Final = 80
_PROVIDER_ABOVE: Final = re.compile(
    r"§§? ?(?:5|6|18|24|25|55)\b|verantwortlich\w*|diensteanbieter|medieninhaber|inhaber(?:in)?\b|seitenbetreiber|"
    r"éditeur du site|directeur de (?:la )?publication|titolare del (?:sito|trattamento)|titular del|site owner",
    re.IGNORECASE,
)


def _is_hungarian(page: PageWords) -> bool:
    """Say whether the page is in the language that always puts the surname first."""
    return (page.sheet.page.language or "")[:2].lower() == "hu"


def _follows_name(page: PageWords, number: int) -> bool:
    """Say whether a cell stands beside somebody's name: it says what they do."""
    line, above = page.sheet.lines[number], page.sheet.lines[number - 1]
    first = above.text.partition(" ")[0].casefold()
    return number > 0 and line.tag == above.tag == "td" and first in given_names()


_NAME_TAGS: Final = words("h2 h3 h4 h5 h6 td dt")


def _goes_on(page: PageWords, number: int, first: str) -> bool:
    """Say whether the next line says about the person: `Dana Wu` / `Dana is ...`."""
    lines = page.sheet.lines
    return any(
        lines[near].text.startswith(f"{first} ")
        and len(lines[near].text) > MAX_SHORT
        and bool(_DOES.match(lines[near].text, len(first) + 1))
        for near in (number + 1, number + 2)
        if near < len(lines)
    )


# What is said of people: "Cedar fences are ..." goes on otherwise.
_DOES: Final = re.compile(
    r"(?:[A-Z]\S+ )?(?:is|was|has|had|joined|received|graduated|earned|holds|comes|came|brings|"
    r"started|began|studied|works|worked|loves|enjoys|specializes|specialises|grew|lives|spent|"
    r"founded|trained|qualified|moved|ist|hat|arbeitet|est|a rejoint|es|ha|werkt)\b"
)


def is_place_or_role(name: str, *, has_given: bool) -> bool:
    """Distinguish `Hong Kong` and `Front-Office Administrator` from a name."""
    folded = name.casefold().strip(" ,.")
    last = folded.rpartition(" ")[2]
    if folded in country_names() or last in _LAST_OF_ROLES:
        return True
    if folded.partition(" ")[0] in _ORDINALS:
        return True
    # Michael Jordan is a person, Roosendaal Nederland is none.
    return not has_given and last in country_names()


# The first or the deputy of several with one office: "Erster Bürgermeister".
_ORDINALS: Final = words(
    "erster erste zweiter zweite dritter dritte stellvertretender stellvertretende ehrenamtlicher ehrenamtliche "
    "amtierender amtierende leitender leitende premier première deuxième první druhý druhá prvý pierwszy pierwsza "
    "drugi druga zastępca ensimmäinen toinen första andre første anden primo prima secondo primer primera primeiro "
    "primeira eerste tweede első második first second deputy vice"
)
_LAST_OF_ROLES: Final = words(
    "administrator administration assistance assistant manager director officer "
    "representative coordinator specialist supervisor receptionist technician doctor"
)


def is_no_name(name: str) -> bool:
    """Refuse names of templates, and firms and authorities by what they end in."""
    folded = name.casefold().strip(" ,.")
    if folded in _TEMPLATE_NAMES or folded in wordlist.load("famous_names"):
        return True
    if _GLUED.search(name):
        return True
    if folded.partition(" ")[0] in _UNITS:
        return True
    return any(_INSTITUTION.search(part) for part in folded.split())


_TEMPLATE_NAMES: Final = frozenset(
    (
        "john doe", "jane doe", "max mustermann", "erika mustermann", "mario rossi",
        "jean dupont", "jan kowalski", "juan pérez", "jan jansen", "lorem ipsum",
        "jesus christ", "santa claus",
    )
)  # fmt: skip
# What a part of a business is called: "Pôle Famille" has an address like a person.
_UNITS: Final = words(
    "san santa saint saints sankt são sainte st. port fort mount lake new pôle pole service services département departement secrétariat standard accueil "
    "abteilung bereich referat sekretariat zentrale team afdeling balie avdeling avdelning "
    "osasto oddělení dział biuro osztály departament departamento dipartimento ufficio "
    "reparto settore segreteria divisione division department dept unit section sector área"
)
# A date or a user's name run into it: "Okeloadmin2022-03", "eva MS".
_GLUED: Final = re.compile(r"\d|[a-z]admin\b|^[^\W\d_]+\s[A-Z]{2}$")
_INSTITUTION: Final = re.compile(
    r"(?:praxis|kammer|regierung|kanzlei|verein|verband|behörde|gericht|klinik|zentrum|"
    r"gesellschaft|ministerium|versicherung|apotheke|schule|['’]s|"
    # Trades that firms put before the name of their owner: Gartenbau Weiss.
    # Crafts: Kovářství Novák, Stolarstwo Kowalski.
    r"[sc]t(?:ví|v[oí]|wo)|"
    r"\w{3}bau|technik|betrieb|service|reinigung|pflege|immobilien|büro|werkstatt|\w{4}erei)$"
)
