"""Statuses of the old system, whose labels differ by version, type and capitals."""

import re
from enum import Enum, StrEnum
from functools import cache
from typing import Final

SYNONYMS: Final = (
    ("completed", "complete", "done", "success", "succeeded", "submitted"),
    ("error", "failed", "failure"),
    ("processing", "inprogress", "running", "started"),
    ("queued", "pending", "waiting"),
    ("new", "pending"),
)
"""What the versions of the old system called the same state of work; the first group that
has a label is asked."""


@cache
def our_label(written: str, kind: type[Enum] | None) -> StrEnum | None:
    """Return our label for one of the old system; None if nothing here means the same."""
    ours = {
        folded_label(member): member
        for member in kind or ()
        if isinstance(member, StrEnum)
    }
    word = folded_label(written)
    same = next((words for words in SYNONYMS if word in words), ())
    return next((ours[each] for each in (word, *same) if each in ours), None)


def released_label(label: StrEnum) -> StrEnum:
    """Return the label of a row that nobody works on any more: it waits again."""
    if folded_label(label) not in {"processing", "inprogress"}:
        return label
    ours = {folded_label(member): member for member in type(label)}
    return ours.get("queued") or ours["pending"]


def folded_label(label: str) -> str:
    """Return a label without capitals, spaces, hyphens and underscores."""
    return re.sub(r"[\s_-]", "", label).lower()
