"""Where a reader of the change log is, as text that it gives back to go on.

Entries have a position when they are written, and are seen when their transaction commits,
which may be later. So a cursor is the last entry that was read, and the transactions that were
open at that moment: whatever they wrote before that entry is still to come.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final

from typing_extensions import override

from scrapersky.errors import InvalidCursor

MAX_CURSOR_CHARS: Final = 16_000
"""More than a server with a thousand open transactions needs."""
NUMBER: Final = re.compile(r"[0-9a-z]{1,12}")
MAX_TRANSACTIONS: Final = 20_000
MAX_NUMBER: Final = 2**62
"""What PostgreSQL can hold, with room for a sum."""
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class ChangeCursor:
    """A place in the log of one tenant."""

    position: int
    """The last entry that was read; 0 where there was none."""
    moment: int
    """When that entry was written, in microseconds: another may get its position."""
    open: tuple[int, ...] = ()
    """The transactions that may still show entries before it."""
    late: tuple[int, ...] = ()
    """Those of them that have committed, while their entries are read in parts."""
    late_position: int = 0
    """The last entry of those that was read."""

    @override
    def __str__(self) -> str:
        return "-".join(
            (
                "1",
                in_base_36(self.position),
                in_base_36(self.moment),
                ".".join(differences(self.open)),
                ".".join(differences(self.late)),
                in_base_36(self.late_position),
            )
        )

    @property
    def time(self) -> datetime:
        """When the last entry that was read was written."""
        return EPOCH + timedelta(microseconds=self.moment)


def parse_cursor(given: str) -> ChangeCursor:
    """Read a cursor, or raise InvalidCursor."""
    parts = given.split("-") if len(given) <= MAX_CURSOR_CHARS else []
    try:
        if parts[:1] == ["1"]:
            _, position, moment, still_open, late, late_position = parts
            return ChangeCursor(
                from_base_36(position),
                from_base_36(moment),
                tuple(sums(still_open)),
                tuple(sums(late)),
                from_base_36(late_position),
            )
    except ValueError:
        pass
    raise InvalidCursor(
        "That is no cursor of the change log.",
        hint="Send the `cursor` of the last answer, or `now`.",
    )


def microseconds_of(moment: datetime) -> int:
    """Count the microseconds since 1970."""
    return (moment - EPOCH) // timedelta(microseconds=1)


def differences(numbers: Iterable[int]) -> Iterator[str]:
    """Write numbers that are near each other shortly: the first, then the distances.

    Of neighbours only the first is written, and how many follow it.
    """
    last = 0
    for _, run in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        first, *rest = [number for _, number in run]
        yield in_base_36(first - last) + (f"_{in_base_36(len(rest))}" if rest else "")
        last = first + len(rest)


def sums(written: str) -> Iterator[int]:
    """Read what `differences` wrote."""
    last = count = 0
    for part in written.split(".") if written else ():
        distance, _, more = part.partition("_")
        first = last + from_base_36(distance)
        last = first + (from_base_36(more) if more else 0)
        count += last - first + 1
        if count > MAX_TRANSACTIONS or last > MAX_NUMBER:
            raise ValueError(written)
        yield from range(first, last + 1)


def from_base_36(written: str) -> int:
    """Read what `in_base_36` wrote, or raise ValueError."""
    if NUMBER.fullmatch(written) and (number := int(written, 36)) <= MAX_NUMBER:
        return number
    raise ValueError(written)


def in_base_36(number: int) -> str:
    """Write a number with digits and letters."""
    written = ""
    while number:
        number, digit = divmod(number, 36)
        written = DIGITS[digit] + written
    return written or "0"
