"""What became of every row of an old database: counted, and line by line."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

MAX_EXAMPLES = 3
"""Rows that are named beside a reason; a file can have them all."""


class RowFate(StrEnum):
    """What became of an old row, or of one value of it."""

    ADOPTED = "adopted"
    PRESENT = "already here"
    MERGED = "merged"
    REFUSED = "refused"
    LEFT_OUT = "left out"
    """A value: its row is adopted without it."""
    CHANGED = "changed"
    """A value: its row is adopted with another one."""


ROW_FATES = (RowFate.ADOPTED, RowFate.PRESENT, RowFate.MERGED, RowFate.REFUSED)


class ReportLine(NamedTuple):
    """What became of one row or value, and why."""

    table: str
    row: str
    column: str
    fate: RowFate
    reason: str


def ignore_line(_line: ReportLine) -> None:
    """Keep no list of every line."""


@dataclass(slots=True)
class AdoptionReport:
    """What an adoption came to, or would."""

    note: Callable[[ReportLine], None] = ignore_line
    """Takes every line as it comes: there may be millions."""
    read: Counter[str] = field(default_factory=Counter)
    rows: Counter[tuple[str, RowFate]] = field(default_factory=Counter)
    reasons: Counter[tuple[str, str, RowFate, str]] = field(default_factory=Counter)
    """By table, column, fate and reason."""
    examples: dict[tuple[str, str, RowFate, str], list[str]] = field(
        default_factory=dict
    )
    skipped: dict[str, str] = field(default_factory=dict)
    """Tables of which nothing was adopted, though they are there, and why."""
    remarks: list[str] = field(default_factory=list)
    """What is not there, or has no place here: a table, a column."""

    def count(self, table: str, fate: RowFate) -> None:
        """Count a row of which there is no more to say."""
        self.rows[table, fate] += 1

    def add(self, line: ReportLine) -> None:
        """Count what became of a row or a value, and keep its line."""
        reason = (line.table, line.column, line.fate, line.reason)
        self.reasons[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < MAX_EXAMPLES:
            examples.append(line.row)
        if line.fate in ROW_FATES:
            self.count(line.table, line.fate)
        self.note(line)
