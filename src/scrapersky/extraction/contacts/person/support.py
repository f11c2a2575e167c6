"""What makes a run of capitalised words a person, and what rules it out."""

import re
from dataclasses import dataclass
from typing import Final

from scrapersky.extraction.contacts.person.role import MAX_SHORT
from scrapersky.extraction.contacts.person.word import AMBIGUOUS, NOT_NAMES, RARELY
from scrapersky.extraction.contacts.place import country_names
from scrapersky.extraction.contacts.sheet import Sheet
from scrapersky.extraction.html import words


@dataclass(frozen=True)
class PageWords:
    """What is known of the page around a name."""

    sheet: Sheet
    organisations: frozenset[str]
    reachable: frozenset[int]

    def is_plain(self, name: str) -> bool:
        """Say whether a word of a name is an ordinary word of this page."""
        text = self.sheet.text
        parts = re.split(r"[\s-]", name.casefold())
        return any(len(p) > 2 and _is_word_of(p.strip(".,"), text) for p in parts)


_BEFORE_WORD: Final = re.compile(r"[\w@./'’-]")
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
        if not _BEFORE_WORD.match(before) and not _AFTER_WORD.match(text, end):
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
        return is_whole and not page.is_plain(surname)
    is_shouted = name.isupper()
    if context.has_given and first not in AMBIGUOUS:
        if is_shouted:
            return context.is_alone and not page.is_plain(name)
        return context.role is not None or not page.is_plain(surname)
    if not context.is_alone or is_shouted or page.is_plain(name):
        return False
    if len(parts) > 3 or any(p.casefold().strip(",.") in NOT_NAMES for p in parts):
        return False
    if context.has_given:
        return (
            context.role is not None
            or first in RARELY
            or _goes_on(page, number, parts[0])
            or bool({number + 1, number + 2, number + 3} & page.reachable)
        )
    if len(first) == 1:
        return len(page.sheet.lines[number].text) < MAX_SHORT
    if context.role is not None or _goes_on(page, number, parts[0]):
        return True
    near = {number + 1, number + 2, number + 3} & page.reachable
    return bool(near) and page.sheet.lines[number].tag in _NAME_TAGS and len(parts) == 2


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
    # Michael Jordan is a person, Roosendaal Nederland is none.
    return not has_given and last in country_names()


_LAST_OF_ROLES: Final = words(
    "administrator administration assistance assistant manager director officer "
    "representative coordinator specialist supervisor receptionist technician doctor"
)


def is_no_name(name: str) -> bool:
    """Refuse names of templates, and firms and authorities by what they end in."""
    folded = name.casefold().strip(" ,.")
    if folded in _TEMPLATE_NAMES or _GLUED.search(name):
        return True
    return any(_INSTITUTION.search(part) for part in folded.split())


_TEMPLATE_NAMES: Final = frozenset(
    (
        "john doe", "jane doe", "max mustermann", "erika mustermann", "mario rossi",
        "jean dupont", "jan kowalski", "juan pérez", "jan jansen", "lorem ipsum",
        "jesus christ", "santa claus",
    )
)  # fmt: skip
# A date or a user's name run into it: "Okeloadmin2022-03", "eva MS".
_GLUED: Final = re.compile(r"\d|[a-z]admin\b|^[^\W\d_]+\s[A-Z]{2}$")
_INSTITUTION: Final = re.compile(
    r"(?:praxis|kammer|regierung|kanzlei|verein|verband|behörde|gericht|klinik|zentrum|"
    r"gesellschaft|ministerium|versicherung|apotheke|schule|['’]s)$"
)
