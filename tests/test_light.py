"""What a process loads only to start, read from the imports at the top of the files."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = (ROOT / "src", ROOT / "packages" / "contact-extraction" / "src")
READERS = "contact_extraction.contacts.finder"
SETTINGS = "scrapersky.settings"


def path_of(module: str) -> Path | None:
    paths = [source / Path(*module.split(".")) for source in SOURCES]
    files = [(path.with_suffix(".py"), path / "__init__.py") for path in paths]
    return next((file for pair in files for file in pair if file.exists()), None)


def parents(module: str) -> Iterator[str]:
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        yield ".".join(parts[:end])


def imports_of(file: Path) -> Iterator[str]:
    """Yield what a file imports before any of its functions runs."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def loaded_by(module: str) -> set[str]:
    """Return every module of ours that is loaded with another."""
    found: set[str] = set()
    waiting = list(parents(module))
    while waiting:
        name = waiting.pop()
        if name in found or (file := path_of(name)) is None:
            continue
        found.add(name)
        for imported in imports_of(file):
            if imported.startswith(("scrapersky", "contact_extraction")):
                waiting += parents(imported)
    return found


def test_a_parser_loads_the_readers_of_contacts_but_a_worker_does_not() -> None:
    worker = loaded_by("scrapersky.cli.worker")

    assert {"scrapersky.stages.wf7_page_curation", SETTINGS} < worker
    assert READERS not in worker
    assert "contact_extraction.contacts.phone" in loaded_by(READERS)
