"""ScraperSky uses the Curation SDK as anyone would: through its public modules only."""

import ast
import re
from pathlib import Path

import pytest

import curation_sdk

SOURCE = Path(__file__).parents[1] / "src" / "scrapersky"
MIGRATIONS = SOURCE / "db" / "migrations"
PACKAGE = Path(curation_sdk.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

PUBLIC_MODULES = {
    "curation_sdk",
    "curation_sdk.control",
    "curation_sdk.errors",
    "curation_sdk.history",
    "curation_sdk.process",
    "curation_sdk.queue",
    "curation_sdk.reap",
    "curation_sdk.registry",
    "curation_sdk.working",
    "curation_sdk.dead_letters",
    "curation_sdk.events",
    "curation_sdk.migrations",
    "curation_sdk.queries",
    "curation_sdk.testing",
}
TABLES = re.compile(
    r"(?<!scrapersky\.)\bcuration\.(claim|attempt|dead_letter|stage|version|fence)\b"
)


def name_of(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def imported_modules(source: str) -> set[str]:
    """Return the modules of the SDK that a file imports, or imports something from."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "curation_sdk":
            found |= {submodule_or_package(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return {name for name in found if name.split(".")[0] == "curation_sdk"}


def submodule_or_package(name: str) -> str:
    is_module = (PACKAGE / f"{name}.py").exists()
    is_exported = name in curation_sdk.__all__
    return f"curation_sdk.{name}" if is_module and not is_exported else "curation_sdk"


def test_only_public_modules_of_the_sdk_are_imported() -> None:
    found = {
        name_of(path): private
        for path in MODULES
        if "curation_sdk" in (text := path.read_text())
        and (private := imported_modules(text) - PUBLIC_MODULES)
    }

    assert found == {}


def test_no_table_of_the_sdk_is_named_outside_the_migrations() -> None:
    found = [
        f"{name_of(path)}: {line.strip()}"
        for path in MODULES
        if MIGRATIONS not in path.parents
        for line in path.read_text().splitlines()
        if TABLES.search(line)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("from curation_sdk.shares import SlowShare", "curation_sdk.shares"),
        ("from curation_sdk import statements", "curation_sdk.statements"),
        ("import curation_sdk.settle", "curation_sdk.settle"),
    ],
)
def test_the_lint_sees_every_way_to_import_a_private_module(
    line: str, module: str
) -> None:
    assert imported_modules(line) - PUBLIC_MODULES == {module}


def test_the_lint_sees_a_table_in_a_statement() -> None:
    assert TABLES.search("SELECT item FROM curation.claim WHERE stage = $1")
    assert not TABLES.search("from scrapersky.curation.stage import x")
