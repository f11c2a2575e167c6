"""Put together what stands together: a person's number, a branch's address and hours."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from contact_extraction.contacts.model import (
    Address,
    Email,
    Group,
    Hours,
    Organisation,
    PersonEntry,
    Phone,
    Value,
)
from contact_extraction.contacts.page_text import PageText

REACH_BELOW: Final = 14
REACH_ABOVE: Final = 3
PERSON_REACH: Final = 6
MAX_GROUPS: Final = 300


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """A value and a line it was seen in."""

    value: Value
    line: int


@dataclass(slots=True)
class _Anchor:
    line: int
    person: PersonEntry | None = None
    address: Address | None = None
    members: list[PlacedValue] = field(default_factory=list)


def group_values(
    sheet: PageText,
    anchors: Sequence[PlacedValue],
    others: Sequence[PlacedValue],
    organisations: Sequence[PlacedValue],
) -> tuple[Group, ...]:
    """Group emails, phones and hours around the person or address they stand by."""
    placed = sorted(_anchors(anchors), key=lambda anchor: anchor.line)[:MAX_GROUPS]
    if not placed:
        return ()
    for other in sorted(others, key=lambda o: o.line):
        anchor = _nearest(placed, other.line)
        if anchor is not None:
            anchor.members.append(other)
    return tuple(
        group
        for anchor in placed
        if (group := _group(sheet, anchor, organisations)) is not None
    )


def _anchors(anchors: Sequence[PlacedValue]) -> Iterator[_Anchor]:
    for placed in anchors:
        if placed.line >= 0:
            value = placed.value
            yield _Anchor(
                placed.line,
                person=value if isinstance(value, PersonEntry) else None,
                address=value if isinstance(value, Address) else None,
            )


def _nearest(anchors: list[_Anchor], line: int) -> _Anchor | None:
    """Give the last anchor above within reach, else the next one just below."""
    low, high = 0, len(anchors)
    while low < high:
        middle = (low + high) // 2
        if anchors[middle].line <= line:
            low = middle + 1
        else:
            high = middle
    if low:
        above = anchors[low - 1]
        reach = PERSON_REACH if above.person else REACH_BELOW
        if line - above.line <= reach:
            return above
    if low < len(anchors) and anchors[low].line - line <= REACH_ABOVE:
        return anchors[low]
    return None


def _group(
    sheet: PageText, anchor: _Anchor, organisations: Sequence[PlacedValue]
) -> Group | None:
    values = [member.value for member in anchor.members]
    # A value seen in several lines is one object; its hash would be that of all evidence.
    values = list({id(value): value for value in values}.values())
    emails = tuple(v for v in values if isinstance(v, Email))
    phones = tuple(v for v in values if isinstance(v, Phone))
    hours = tuple(v for v in values if isinstance(v, Hours))
    named = [v for v in values if isinstance(v, PersonEntry)]
    person = anchor.person or (named[0] if len(named) == 1 else None)
    if not (emails or phones or hours or anchor.address):
        return None
    organisation = next(
        (
            placed.value
            for placed in organisations
            if isinstance(placed.value, Organisation)
            and 0 <= anchor.line - placed.line <= REACH_ABOVE
        ),
        None,
    )
    return Group(
        label=_label(sheet, anchor.line),
        person=person,
        organisation=organisation,
        address=anchor.address,
        emails=emails,
        phones=phones,
        hours=hours,
    )


def _label(sheet: PageText, line: int) -> str | None:
    """Give the heading just above, if there is one: `Berlin office`."""
    for above in range(line - 1, max(-1, line - 5), -1):
        if sheet.lines[above].heading:
            return sheet.lines[above].text[:120]
    return None
