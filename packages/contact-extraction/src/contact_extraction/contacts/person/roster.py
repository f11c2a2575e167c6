"""People known by who stands beside them: couples, and lists of names."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from contact_extraction.contacts.address.state import is_state
from contact_extraction.contacts.model import Method, PersonSighting
from contact_extraction.contacts.page_text import PageText
from contact_extraction.contacts.person.name import degrees_after, person_key
from contact_extraction.contacts.person.role import (
    has_role_word,
    is_calling,
    role_in,
    role_near,
)
from contact_extraction.contacts.person.support import (
    PageWords,
    is_no_name,
    is_place_or_role,
)
from contact_extraction.contacts.person.word import (
    HARD,
    HONORIFIC,
    NOT_NAMES,
    PARTICLE,
    SOFT,
    UPPER,
    WORD,
    given_names,
    is_given,
)
from contact_extraction.html import words

MAX_NAME: Final = 40
MAX_LIST: Final = 150
MIN_LIST: Final = 2
MAX_NAMES: Final = 8
MIN_PEERS: Final = 2
_PART: Final = re.compile(r"\s*([^,&]{1,60})")
PEER_REACH: Final = 4
"""How many lines apart the names of a list stand at most, with a role between."""


def couples(sheet: PageText, found: list[PersonSighting]) -> Iterator[PersonSighting]:
    """Read the first of two who share a surname: `Pat & Sam Miller, Owners`."""
    for one in found:
        line = sheet.starts[one.line]
        before = _PARTNER.search(sheet.text[max(line, one.start - 40) : one.start])
        if before is None or before[2].casefold() not in given_names():
            continue
        # "John Hale and Sam Miller" have a surname each.
        is_whole = bool(before[1]) and (
            is_given(before[1])
            or (
                before[1][0].isupper()
                and before[1][-1].isalpha()
                and not _announces_two(before[1])
            )
        )
        surname = one.value.partition(",")[0].partition(" ")[2]
        if surname and " " not in surname and not is_whole:
            name = f"{before[2]} {surname}"
            start = one.start - len(before[0]) + before.start(2) - before.start()
            partner = replace(one, key=person_key(name), value=name, start=start)
            yield partner
            yield from _earlier(sheet, partner, surname)


def _earlier(
    sheet: PageText, partner: PersonSighting, surname: str
) -> Iterator[PersonSighting]:
    """Read those before the last two of `Peter, Helen and Toby Ruddock`."""
    line = sheet.starts[partner.line]
    while before := _EARLIER.search(
        sheet.text[max(line, partner.start - 40) : partner.start]
    ):
        if before[1].casefold() not in given_names():
            return
        name = f"{before[1]} {surname}"
        start = partner.start - len(before[0])
        partner = replace(partner, key=person_key(name), value=name, start=start)
        yield partner


_EARLIER: Final = re.compile(rf"(?<![\w'’-])([{UPPER}][\w'’-]{{1,20}}),\s$")


def _announces_two(word: str) -> bool:
    """Say whether a word before two people is what they are: `Owners Pat and Sam`."""
    folded = word.casefold()
    return folded in SOFT or folded in _HOSTS or has_role_word(folded)


_HOSTS: Final = words(
    "gastgeber gastgeberfamilie familie family famille famiglia familia familien familjen rodina "
    "rodzina perhe hosts eheleute brothers sisters geschwister gebrüder couple ehepaar"
)
_PARTNER: Final = re.compile(
    rf"(?:(\S+)\s)?([{UPPER}][\w'’-]{{1,20}})\s(?:&|\+|and|und|et|y|e|og|och|en)\s$"
)


def inverted(page: PageWords) -> Iterator[PersonSighting]:
    """Read names with the surname first, where a role indicates that they are names."""
    sheet = page.sheet
    waiting: list[PersonSighting] = []
    rare: list[PersonSighting] = []
    is_list = False
    for number, line in enumerate(sheet.lines):
        if "," not in line.text or len(line.text) > MAX_INVERTED or line.hidden:
            continue
        match = _INVERTED.fullmatch(line.text)
        if match is None or not _is_inverted(page, match["last"], match["first"]):
            continue
        at, end = match.span("name")
        role = role_near(sheet, number, at, end)
        is_reached = not page.reachable.isdisjoint(range(number, number + LIST_REACH))
        found = _found(page, number, at, match["name"])
        name = f"{match['first']} {match['last']}"
        is_known = is_given(match["first"].split(maxsplit=1)[0])
        found = replace(found, key=person_key(name), value=name, is_listed=False)
        if not is_known:
            rare += [found] if is_calling(role) else []
        elif is_calling(role) or (role and is_reached):
            is_list = True
            yield found
        elif is_reached:
            waiting.append(found)
    # Whoever stands in a list of such names needs no role, or no name that many have.
    if is_list:
        yield from waiting
        yield from rare


def _is_inverted(page: PageWords, last: str, first: str) -> bool:
    """Tell `Lind, Ann` from `Savannah, Georgia` and from two given names."""
    words = {last.casefold(), *first.casefold().split()}
    return (
        last.casefold() not in given_names()
        and not is_state(first)
        and not words & (HARD | SOFT | NOT_NAMES)
        and not page.is_plain(last)
        and not is_place_or_role(f"{last} {first}", has_given=False)
    )


def called(page: PageWords) -> Iterator[PersonSighting]:
    """Read `Mw. dr. A. (Annelies) ter Horst`: initials, and what somebody is called."""
    sheet = page.sheet
    for number, line in enumerate(sheet.lines):
        if "(" not in line.text or len(line.text) > MAX_LIST or line.hidden:
            continue
        for match in _CALLED.finditer(line.text):
            name = f"{match['first']} {match['last']}"
            if is_given(match["first"]) and not is_no_name(name):
                titles = line.text[: match.start()]
                is_first = all(
                    word.casefold().strip(".") in HONORIFIC for word in titles.split()
                )
                at = 0 if is_first else match.start()
                found = _found(page, number, at, line.text[at : match.end()])
                yield replace(found, key=person_key(name), value=name, is_listed=False)


_CALLED: Final = re.compile(
    rf"(?<![\w.])(?:[{UPPER}][a-z]?\.\s?){{1,4}}\((?P<first>[{UPPER}][\w'’-]{{1,20}})\)\s"
    rf"(?P<last>(?:{PARTICLE}\s){{0,3}}{WORD})"
)
MAX_INVERTED: Final = 90
LIST_REACH: Final = 4
"""Lines from a name to what reaches somebody in an office: `Osterloh, Karin`, `Sales`."""
_INVERTED: Final = re.compile(
    rf"(?:[^:,]{{3,60}}:\s?)?(?P<name>(?P<last>(?:{PARTICLE}\s)?{WORD}),\s"
    rf"(?P<first>{WORD}(?:\s(?:{WORD}|[A-Z]\.?)){{0,2}}))"
)


def in_lists(page: PageWords, found: list[PersonSighting]) -> Iterator[PersonSighting]:
    """Read names nobody lists as given names where they stand among those of people."""
    sheet = page.sheet
    known: dict[str, set[int]] = defaultdict(set)
    for one in found:
        if one.is_alone and not sheet.lines[one.line].text.isupper():
            known[sheet.lines[one.line].tag].add(one.line)
    taken = {one.line for one in found}
    for number, line in enumerate(sheet.lines):
        if number in taken:
            if "," in line.text and len(line.text) <= MAX_LIST:
                yield from _in_line(page, number, found)
        elif len(line.text) <= MAX_NAME and not line.hidden:
            peers = known.get(line.tag)
            if peers and _stands_among(page, number, peers):
                name = _whole_name(page, _without_degrees(line.text))
                if name and not name.isupper():
                    yield _found(page, number, line.text.index(name), name)


def _in_line(
    page: PageWords, number: int, found: list[PersonSighting]
) -> Iterator[PersonSighting]:
    """Read the others of `Tavo Lind, Orsa Lind, Ann Lind` if one of them is known."""
    text = page.sheet.lines[number].text
    base = page.sheet.starts[number]
    parts = [(m.start(1), m[1]) for m in _PART.finditer(text)]
    names = [(at, _whole_name(page, part)) for at, part in parts]
    if not MIN_LIST <= len(names) <= MAX_NAMES or not all(name for _, name in names):
        return
    known = [(one.start - base, one.end - base) for one in found if one.line == number]
    for at, name in names:
        start = text.index(name or "", at)
        if not any(
            first < start + len(name or "") and start < end for first, end in known
        ):
            yield _found(page, number, start, name or "")


def _stands_among(page: PageWords, number: int, peers: set[int]) -> bool:
    """Say whether most lines of this kind around a line are names of people."""
    lines = page.sheet.lines
    first, last = max(0, number - PEER_REACH), min(len(lines) - 1, number + PEER_REACH)
    same = [n for n in range(first, last + 1) if lines[n].tag == lines[number].tag]
    known = len(peers.intersection(same))
    return known >= MIN_PEERS and 2 * known >= len(same) - 1


def _found(page: PageWords, number: int, at: int, name: str) -> PersonSighting:
    sheet = page.sheet
    start = sheet.starts[number] + at
    role = role_near(sheet, number, at, at + len(name))
    return PersonSighting(
        key=person_key(name),
        value=name,
        method=Method.ROLE if role else Method.NAME_LIST,
        line=number,
        start=start,
        end=start + len(name),
        snippet=sheet.snippet(start, start + len(name)),
        role=role,
        is_alone=True,
        is_supported=True,
        is_listed=True,
    )


def _without_degrees(text: str) -> str:
    """Cut the degrees that end a line: `Tavo Lind, CVT`."""
    name, comma, _ = text.partition(",")
    is_rest = bool(comma) and len(name) + degrees_after(text[len(name) :]) == len(text)
    return name if is_rest else text


def _whole_name(page: PageWords, text: str) -> str | None:
    """Give the name that a line is, without its title; None if it is something else."""
    match = _NAME_LINE.fullmatch(text)
    if match is None or page.is_plain(match[1]):
        return None
    parts = match[1].casefold().split()
    if any(part in HARD or part in SOFT or part in NOT_NAMES for part in parts):
        return None
    if match[1].casefold() in page.organisations or is_no_name(match[1]):
        return None
    is_other = is_place_or_role(match[1], has_given=False) or role_in(match[1])
    return None if is_other else match[1]


_NAME_LINE: Final = re.compile(
    rf"(?:(?:[A-Z]\w{{0,4}}\.\s?){{1,3}})?({WORD}(?:\s(?:{PARTICLE}\s)?{WORD}){{1,2}})"
)
