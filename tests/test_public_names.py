"""What is public has a use in production: nothing is kept alive by its tests alone."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from scrapersky.settings import SECTIONS, Settings

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "scrapersky"
FILES = [
    *sorted(SOURCE.rglob("*.py")),
    *sorted((ROOT / "scripts").glob("*.py")),
    *sorted((ROOT / "bench").rglob("*.py")),
]
WORD = re.compile(r"\b[A-Za-z]\w*\b")
TEXT = re.compile(r'([a-zA-Z]*)"""(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL)
COMMENT = re.compile(r"#[^\n\"']*$", re.MULTILINE)
DEFINED = re.compile(
    r"^(?P<decorated>@[^\n]*\n|\)\n)?"
    r"(?:(?:async )?def |class )(?P<name>[A-Za-z]\w*)|^(?P<constant>[A-Za-z]\w*)(?:: [^=\n]+)? = ",
    re.MULTILINE,
)
METHOD = re.compile(
    r"^(?P<decorated>(?:    @[^\n]*\n|    \)\n)*)    (?:async )?def (?P<name>[A-Za-z]\w*)",
    re.MULTILINE,
)
CALLED_FROM_OUTSIDE = {
    # Alembic looks for these in a revision, httptools calls these of a parser.
    "upgrade", "downgrade", "revision", "down_revision", "on_body", "on_url",
    # A migration that adds a stage calls it; docs/how-to/add-a-stage.md.
    "show_stage", "hide_stage",
}  # fmt: skip


def code_of(path: Path) -> str:
    """Return a file without what only docstrings and comments say."""
    reported = TEXT.sub(
        lambda found: found[0] if "f" in found[1] else "", path.read_text()
    )
    return COMMENT.sub("", reported)


CODE = {path: code_of(path) for path in FILES}
USES = Counter(word for code in CODE.values() for word in WORD.findall(code))


def public_names(code: str) -> Iterator[str]:
    """Yield the public names of a file that nothing registers by a decorator."""
    for found in DEFINED.finditer(code):
        if found["constant"] or not found["decorated"] or is_class(found, code):
            yield found["name"] or found["constant"]
    for found in METHOD.finditer(code):
        if "override" not in (found["decorated"] or "") and not is_callback(found):
            yield found["name"]


def is_class(found: re.Match[str], code: str) -> bool:
    """Say whether a definition is a class, which no decorator calls."""
    return code[: found.end()].rpartition("\n")[2].startswith("class ")


def is_callback(found: re.Match[str]) -> bool:
    """Say whether pydantic or the like calls a method, which it decorates."""
    return bool(
        re.search(r"validator|serializer|declared_attr|\)", found["decorated"] or "")
    )


@pytest.mark.parametrize(
    "room", sorted(p.name for p in SOURCE.iterdir() if p.is_dir() and p.name[0] != "_")
)
def test_every_public_name_of_a_room_is_used_in_production(room: str) -> None:
    unused = [
        f"{path.relative_to(SOURCE)}: {name}"
        for path, code in CODE.items()
        if (SOURCE / room) in path.parents
        for name in public_names(code)
        if USES[name] == 1 and name not in CALLED_FROM_OUTSIDE
    ]

    assert unused == []


def test_every_setting_is_read() -> None:
    fields = {*Settings.model_fields} - {path[0] for path in SECTIONS}
    fields |= {
        name
        for section in SECTIONS.values()
        for name in type(section.defaults).model_fields
    }
    # Once where it is declared, and once where it is read.
    dynamic = {kind for kind in fields if USES[kind.upper()]}

    assert sorted(name for name in fields - dynamic if USES[name] == 1) == []
