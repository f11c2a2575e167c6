"""What became of a value that was verified."""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class ProofVerdict(StrEnum):
    """What is known of a value in the end."""

    PAGE = "follows from its page"
    SOURCE = "as the place source says"
    IMPORT = "as it was imported"
    HAND = "as a person wrote it"
    OURS = "made here: status, score, time"
    NOT_CHECKED = "not of those that are read again"
    NOT_KEPT = "its page is not kept any more"
    OTHER_READER = "read by other readers, and not found by these"
    CHANGED_SINCE = "the source says something else since the export"
    CONTRADICTED = "does not follow from its page"
    NOT_THE_RECORD = "is not what the record says"
    NO_COLUMN = "stands in a column that no export has"


FALSE: Final = (
    ProofVerdict.CONTRADICTED,
    ProofVerdict.NOT_THE_RECORD,
    ProofVerdict.NO_COLUMN,
)
"""Verdicts of values that are not true to where they come from."""
OPEN: Final = (
    ProofVerdict.NOT_KEPT,
    ProofVerdict.OTHER_READER,
    ProofVerdict.CHANGED_SINCE,
)
"""Verdicts of values that cannot be decided."""
MOST_FINDINGS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one value, and why."""

    verdict: ProofVerdict
    why: str = ""


@dataclass(frozen=True, slots=True)
class DoubtfulValue:
    """A value that is false, or open."""

    row: int
    column: str
    value: str
    judgement: Judgement


@dataclass(slots=True)
class VerificationReport:
    """What became of the values of a file."""

    rows: int = 0
    values: int = 0
    pages: int = 0
    """Pages that were read again."""
    counts: Counter[ProofVerdict] = field(default_factory=Counter)
    doubts: list[DoubtfulValue] = field(default_factory=list)
    """The first of them; of a column that no export has only one."""
    strange: set[str] = field(default_factory=set)
    """Columns that no export has."""
    damaged: set[bytes] = field(default_factory=set)
    """Hashes of pages whose stored bytes are others: nobody changes those by mistake."""

    @property
    def open(self) -> int:
        """How many values cannot be decided."""
        return sum(self.counts[one] for one in OPEN)

    @property
    def false(self) -> int:
        """How many values are false."""
        return sum(self.counts[one] for one in FALSE)

    @property
    def is_sound(self) -> bool:
        """Whether no value is false, and no page that should prove one was changed."""
        return not self.false and not self.damaged

    def add(self, row: int, column: str, value: str, judgement: Judgement) -> None:
        """Count a value."""
        self.values += 1
        self.counts[judgement.verdict] += 1
        is_doubtful = judgement.verdict in (*FALSE, *OPEN)
        if judgement.verdict is ProofVerdict.NO_COLUMN:
            is_doubtful = column not in self.strange
            self.strange.add(column)
        if is_doubtful and len(self.doubts) < MOST_FINDINGS:
            self.doubts.append(DoubtfulValue(row, column, value, judgement))
