"""Every label of a status is spelt once, in its enum; SQL takes it from there."""

import ast
import inspect
import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import scrapersky
from scrapersky.records import status

SOURCES = Path(scrapersky.__file__).parent
LABELS = {
    label.value
    for _, enum in inspect.getmembers(status, inspect.isclass)
    if issubclass(enum, StrEnum)
    and re.search("Status|Verdict|Email|Deliver", enum.__name__)
    for label in enum
}
SQL = re.compile(r"\b(?:SELECT|UPDATE|INSERT INTO|DELETE FROM|WHERE|WHEN)\b")


def texts_of(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a file, each f-string as a whole without what is put into it."""
    inside: set[ast.AST] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.JoinedStr):
            parts = [part for part in node.values if isinstance(part, ast.Constant)]
            inside.update(parts)
            yield node.lineno, "{}".join(str(part.value) for part in parts)
        elif node not in inside and isinstance(node, ast.Constant):
            yield node.lineno, str(node.value)


OTHER_WORDS = {
    "companies/reading.py": {"unreachable"},
    "curation/batch/progress.py": {"queued", "processing", "failed"},
    "politeness/statement.py": {"unreachable"},
    "scheduler/self_check.py": {"unreachable"},
}
"""Where states of something else happen to be spelt like a label."""


def literals() -> Iterator[str]:
    for file in sorted(SOURCES.rglob("*.py")):
        place = file.relative_to(SOURCES)
        if place.parts[:2] == ("db", "migrations"):
            continue
        if not SQL.search(file.read_text()):
            continue
        for line, text in texts_of(file):
            if not SQL.search(text):
                continue
            for label in re.findall(r"'([\w ]+)'", text):
                if label in LABELS - OTHER_WORDS.get(str(place), set()):
                    yield f"{place}:{line} '{label}'"


def test_statuses_were_spelt_again_in_sql() -> None:
    assert {"Skipped", "Queued", "New"} <= LABELS
    assert [*literals()] == []
