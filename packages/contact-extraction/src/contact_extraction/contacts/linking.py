"""Give a person the address and the number that are theirs alone.

The switchboard and info@ stand beside people as well, and belong to none of them. An
address is somebody's if it spells their name, or if it is the only one of their card
and does not spell the firm's. A number needs more: that it is called mobile or direct,
or that several people of the page have one each.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import phonenumbers

from contact_extraction.contacts.first_name import called_in, is_like_name
from contact_extraction.contacts.model import (
    Email,
    PersonEntry,
    PersonLink,
    Phone,
    PhoneKind,
)
from contact_extraction.contacts.page_text import PageText
from contact_extraction.mailbox import LocalPart, parts_of
from contact_extraction.text import compact, fold, name_key

CARD_LINES: Final = 6
"""How many lines below a name their card ends at most."""
MAX_PAIRS: Final = 20_000
"""How many times a name is compared with an address at most, on hostile pages."""
MAX_CARD: Final = 16
"""Lines of the largest block that may be one person's card."""
MAX_LABEL: Final = 80
OFFICE_LINES: Final = 4
INITIAL_LETTERS: Final = 2
"""Letters of the shortest mailbox that is somebody's: their initials."""
MANY_SHORT: Final = 2
"""Mailboxes of two letters on a page that make each somebody's."""


SeenT = TypeVar("SeenT", PersonEntry, Email, Phone)


@dataclass(frozen=True, slots=True)
class SeenValue(Generic[SeenT]):
    """A value and the lines it stands in."""

    value: SeenT
    lines: tuple[int, ...]


def link_people(
    sheet: PageText,
    people: Sequence[SeenValue[PersonEntry]],
    reach: Sequence[SeenValue[Email] | SeenValue[Phone]],
    firm: Sequence[str],
    offices: frozenset[int] = frozenset(),
) -> tuple[PersonLink, ...]:
    """Link the people of a page to what is theirs alone.

    `firm` are the host and the names of the business, compact; `offices` are the lines of postal addresses: a number beside one is the office's.
    """
    if not people:
        return ()
    cards = _Cards(sheet, people, reach, MAX_PAIRS // max(1, len(reach)))
    links = []
    phones = []
    for seen in reach:
        value = seen.value
        if not value.owner.is_ours:
            continue
        if isinstance(value, Email):
            if found := _owner_of_address(value, seen.lines, cards, firm):
                links.append(
                    PersonLink(found[0], email=value, why=found[1], confidence=found[2])
                )
        elif value.kind is not PhoneKind.FAX:
            person = cards.only_person_by(seen.lines)
            if person is not None:
                phones.append((person, value, seen.lines))
            elif (listed := cards.person_in_list(seen.lines)) is not None:
                phones.append((listed[0], value, listed[1]))
    links += _direct_numbers(sheet, phones, offices)
    return tuple(links)


class _Cards:
    """Who stands where."""

    def __init__(
        self,
        sheet: PageText,
        people: Sequence[SeenValue[PersonEntry]],
        reach: Sequence[SeenValue[Email] | SeenValue[Phone]],
        most: int,
    ) -> None:
        self.sheet = sheet
        self.values = frozenset(line for seen in reach for line in seen.lines)
        self.by_line: dict[int, list[PersonEntry]] = defaultdict(list)
        # Cards overlap: each line is asked for once for every line of its neighbours.
        self._blocks: dict[int, list[int]] = {}
        self._named: dict[int, PersonEntry | None] = {}
        self._bearers: dict[str, dict[str, PersonEntry]] | None = None
        self.short = sum(
            len(seen.value.address.partition("@")[0]) == INITIAL_LETTERS
            for seen in reach
            if isinstance(seen.value, Email)
        )
        for seen in people:
            for line in seen.lines:
                self.by_line[line].append(seen.value)
        self.spelt = [(s.value, parts_of(s.value.name)) for s in people[:most]]

    def person_by(self, line: int) -> PersonEntry | None:
        """Give who stands in a line or nearest above it, in a block of its own."""
        if line not in self._named:
            self._named[line] = self._look_up_from(line)
        return self._named[line]

    def _look_up_from(self, line: int) -> PersonEntry | None:
        for number in range(line, max(-1, line - CARD_LINES - 1), -1):
            named = self.by_line.get(number)
            if named:
                is_one = len({name_key(one.name) for one in named}) == 1
                return named[0] if is_one and self._is_card(number, line) else None
            if called := called_in(self.sheet.lines[number].text):
                # "Maja" begins a card of her own, though nobody knows her surname.
                return self._bearer(called)
            if is_like_name(self.sheet.lines[number].text):
                return None  # whoever it is, what follows is not of who stands above
        return None

    def _bearer(self, first: str) -> PersonEntry | None:
        """Give whom of the page a given name means; None if nobody or several bear it."""
        if self._bearers is None:
            self._bearers = defaultdict(dict)
            for named in self.by_line.values():
                for one in named:
                    bearers = self._bearers[fold(one.name).partition(" ")[0]]
                    bearers[name_key(one.name)] = one
        who = self._bearers.get(fold(first), {})
        return next(iter(who.values())) if len(who) == 1 else None

    def is_called(self, local: str, line: int) -> bool:
        """Say whether a mailbox is called by a word of its card: the town, the department."""
        return any(
            local == word.strip(",.:").casefold()
            for number in range(max(0, line - CARD_LINES), line)
            if number not in self.by_line
            and len(self.sheet.lines[number].text) <= MAX_LABEL
            for word in self.sheet.lines[number].text.split()
        )

    def only_person_by(self, lines: Sequence[int]) -> PersonEntry | None:
        """Give who stands by all places of a value; None if anybody else does."""
        if not lines:
            return None
        found: dict[str, PersonEntry] = {}
        for line in lines:
            person = self.person_by(line)
            if person is None:
                return None
            found[name_key(person.name)] = person
        return next(iter(found.values())) if len(found) == 1 else None

    def person_in_list(
        self, lines: Sequence[int]
    ) -> tuple[PersonEntry, tuple[int, ...]] | None:
        """Give whom a list of names and numbers gives a value, and where it does.

        The header may have the boss's number too, as long as it names nobody.
        """
        named = {line: self.person_by(line) for line in lines}
        listed = tuple(
            line
            for line, person in named.items()
            if person is not None and self._is_in_list(line)
        )
        people = {name_key(one.name): one for one in named.values() if one is not None}
        if len(people) != 1 or not listed:
            return None
        return next(iter(people.values())), listed

    def _is_in_list(self, line: int) -> bool:
        """Say whether the smallest block of several people around a line is their list."""
        for block in self._blocks_of(line):
            lines = self._lines_of(block, line)
            named = {name_key(p.name) for n in lines for p in self.by_line.get(n, ())}
            if len(named) > 1:
                return self._take_turns(lines)
        return False

    def _is_card(self, first: int, second: int) -> bool:
        """Say whether two lines share a block with one person, not the whole page."""
        if first == second:
            return True
        around = self._blocks_of(first)
        for block in self._blocks_of(second):
            if block in around:
                lines = self._lines_of(block, second)
                named = {
                    name_key(p.name) for n in lines for p in self.by_line.get(n, ())
                }
                if len(named) > 1:
                    return self._take_turns(lines)
                return len(named) == 1 and len(lines) <= MAX_CARD
        return False

    def _take_turns(self, lines: Sequence[int]) -> bool:
        """Say whether a block is a list of names, each followed by what reaches them."""
        order = "".join(
            "P" * (number in self.by_line) + "V" * (number in self.values)
            for number in lines
        )
        return bool(_TURNS.fullmatch(order))

    def _lines_of(self, block: int, line: int) -> list[int]:
        """Give the lines of a block around one of them, a few more than a card has."""
        sheet = self.sheet
        first, last = max(0, line - MAX_CARD), min(len(sheet.lines), line + MAX_CARD)
        return [n for n in range(first, last) if block in self._blocks_of(n)]

    def _blocks_of(self, line: int) -> list[int]:
        if line not in self._blocks:
            self._blocks[line] = self.sheet.ancestors(line)
        return self._blocks[line]


_TURNS: Final = re.compile(r"(?:PV{1,2}){2,}")


def _owner_of_address(
    email: Email, lines: Sequence[int], cards: _Cards, firm: Sequence[str]
) -> tuple[PersonEntry, str, float] | None:
    """Say whose an address is: by its spelling first, else by where it stands."""
    local = email.address.partition("@")[0]
    if is_shared_mailbox(email, firm):
        return None
    written = LocalPart(local)
    spelt = [(written.strength(parts), p) for p, parts in cards.spelt]
    best = max((one for one, _ in spelt), default=0.0)
    beside = cards.only_person_by(lines)
    if best > 0:
        who = {name_key(p.name): p for one, p in spelt if one == best}
        if len(who) == 1:
            return next(iter(who.values())), SPELT, _LIKELY[best]
        if beside is not None and name_key(beside.name) in who:
            return beside, SPELT, _LIKELY[best]
        return None
    # "ak" is a law office's; where each has two letters, they are somebody's.
    is_lone = len(local) <= INITIAL_LETTERS and cards.short < MANY_SHORT
    if beside is None or is_lone or _resembles_firm(local, firm):
        return None
    if any(cards.is_called(local, line) for line in lines):
        return None
    return beside, "the only address on their card", LIKELY_ON_CARD


SPELT: Final = "the address spells their name"
# How likely an address is theirs that spells a name so well: few sites have each kind, so
# these are what we expect, lower than what was right on all that could be looked at.
_LIKELY: Final = {3.0: 0.99, 2.5: 0.98, 2.0: 0.93, 1.5: 0.93, 1.0: 0.85, 0.5: 0.85}
LIKELY_ON_CARD: Final = 0.85


def is_shared_mailbox(email: Email, firm: Sequence[str]) -> bool:
    """Say whether an address names a function or the firm itself: nobody's own.

    `firm` are the host and the names of the business, compact.
    """
    local = compact(email.address.partition("@")[0])
    label = compact(email.address.partition("@")[2].partition(".")[0])
    return email.quality.is_role or local == label or local in firm


def _resembles_firm(local: str, firm: Sequence[str]) -> bool:
    """Say whether an address has words of the firm: salonrosa@ of Salon Rosa."""
    written, words = compact(local), "".join(firm)
    if len(written) <= INITIAL_LETTERS:
        return any(one.startswith(written) for one in firm)
    return written in words or words[:5] == written[:5]


_DIRECT: Final = re.compile(
    r"mobile?\b|mobil(?:telefon|nummer)?\b|handy|cell(?:ular|ulare)?\b|direct|durchwahl|"
    r"portable|móvil|komórk|kom\.|gsm\b|mob\.|\bdd[il]?\b|direkt",
    re.IGNORECASE,
)


def _direct_numbers(
    sheet: PageText,
    near: Sequence[tuple[PersonEntry, Phone, Sequence[int]]],
    offices: frozenset[int],
) -> Iterator[PersonLink]:
    """Yield the numbers that reach one person: direct ones, or one for each of several."""
    # One number with an extension for each is the switchboard's.
    shared = Counter(phone.e164 for _, phone, _ in near)
    near = [one for one in near if shared[one[1].e164] == 1]
    per_person = Counter(name_key(person.name) for person, _, _ in near)
    people_with = len(per_person)
    for person, phone, lines in near:
        labels = {_label(sheet, line, phone.written) for line in lines}
        # "Owner Ann Lind 0412 334 556" below the street of the office is hers.
        is_office = any(
            offices & set(range(line - OFFICE_LINES, line + 3))
            and person.name not in sheet.lines[line].text
            for line in lines
        )
        if any(labels) or (_is_mobile(phone) and not is_office):
            yield PersonLink(
                person, phone=phone, why="a direct or mobile number", confidence=0.9
            )
        elif is_office:
            continue
        elif people_with > 1 and per_person[name_key(person.name)] == 1:
            yield PersonLink(
                person, phone=phone, why="each person has a number", confidence=0.85
            )


def _label(sheet: PageText, line: int, written: str) -> bool:
    text = sheet.lines[line].text
    at = text.find(written)
    before = text[max(0, at - 25) : at] if at >= 0 else text[:40]
    return bool(_DIRECT.search(before)) or called_in(text) is not None


def _is_mobile(phone: Phone) -> bool:
    """Say whether a number is a mobile one in a plan that distinguishes them."""
    kind = phonenumbers.number_type(phonenumbers.parse(phone.e164))
    return bool(kind == phonenumbers.PhoneNumberType.MOBILE)
