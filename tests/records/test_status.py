"""What decision 19 says of the labels, held against the code."""

import re
from pathlib import Path

import pytest

from scrapersky.records import Base

ROOT = Path(__file__).parents[2]
DECISION = (ROOT / "docs/adr/0019-status-labels.md").read_text()
NEVER_WRITTEN = re.compile(r"^\| `(\w+)\.(\w+)`: (`[^|]+`) \|", re.MULTILINE)
LABELS = [
    (table, column, label)
    for table, column, labels in NEVER_WRITTEN.findall(DECISION)
    for label in re.findall(r"`(\w+)`", labels)
]


@pytest.fixture(scope="module")
def code() -> str:
    """Return what may write a status: not its definition, and no migration."""
    package = ROOT / "src/scrapersky"
    files = {*package.rglob("*.py")} - {*package.glob("db/migrations/**/*.py")}
    files.remove(package / "records/status.py")
    return "".join(file.read_text() for file in sorted(files))


@pytest.mark.parametrize(("table", "column", "label"), LABELS)
def test_a_label_that_nothing_writes_was_explained_nowhere(
    table: str, column: str, label: str, code: str
) -> None:
    enum = Base.metadata.tables[table].c[column].type.enum_class  # type: ignore[attr-defined]
    member = rf"{enum.__name__}\.{enum(label).name}\b"

    assert not re.search(rf"{member}|\b{column} = '{label}'", code)


def test_every_column_with_such_a_label_is_there() -> None:
    assert len(LABELS) == 8
    assert "| `sitemap_files.status` |" in DECISION
