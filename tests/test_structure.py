"""The shape of the code: no name twice, no dead name, no module too small to be one."""

import ast
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from vulture.core import Vulture  # type: ignore[import-untyped]

from scrapersky.cli import COMMANDS
from scrapersky.records import METADATA
from scripts import client

pytestmark = pytest.mark.xdist_group("structure")  # they share the syntax trees

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = (ROOT / "src", *sorted(ROOT.glob("packages/*/src")))
LEAST_LINES: Final = 25
"""A module that only one other imports is worth a file from this size on."""

SMALL_MODULES: Final = {
    "contact_extraction.contacts.organisation.chance",
}
"""Modules too small for a file of their own, until they are merged: none may be added."""

USED_UNSEEN: Final = {
    # Alembic, asyncio, httptools, expat and MkDocs look for these by their names.
    "down_revision", "on_body", "on_config", "on_files", "on_header", "on_message_begin",
    "on_message_complete", "on_page_markdown", "on_url", "sizehint",
    "StartDoctypeDeclHandler", "StartElementHandler",
    # pydantic, SQLAlchemy, Prometheus, logging, rich and Hatch read these.
    "PLUGIN_NAME", "PageHook", "ValueClass", "build_data", "handlers", "inherit_cache",
    "initialize", "is_disconnect", "model_config", "nav", "no_wrap",
    "sync_session_class", "type_annotation_map",
    # The library for MCP asks it who sends a token.
    "verify_token",
    # Only annotations in quotes name them.
    "Browser", "ContextOf", "Playwright", "SpanExporter", "TimedSlot",
    # Read from the state of a request, or of the application, by a string.
    "answer_headers", "holds_secret", "operations_engine",
    # Settings that the rules of retention name by a string.
    "audit_days", "change_days", "contact_days", "dead_letter_days", "decision_days",
    "gone_page_days", "place_data_days", "snapshot_days", "submission_days",
    # Tests of the documentation call them.
    "undocumented", "unlisted",
    # For those who use the packages: what was read, and what tests assert.
    "assert_dead_letter", "assert_settled", "bytes_read", "changefreq", "got",
    "_download", "is_truncated", "legal_name", "nofollow", "noindex", "telephone",
    "thumbnail", "wait_for_search",
    # Members of enums that are made from a value, or gone through.
    "ADVERTISING", "ANALYTICS", "CDN", "CHAT", "CONSENT", "CONTRACT", "FONTS", "HOURLY",
    "LEGAL_OBLIGATION", "LIBRARY", "MAPS", "MARKETING", "NAME_ALONE", "PAYMENT",
    "PUBLIC_TASK", "REVIEWS", "TAG_MANAGER", "VITAL_INTERESTS", "YEARLY",
}  # fmt: skip
"""Names that vulture takes for dead, and who uses them."""
FOR_REVISIONS: Final = {"add_queue", "add_record_table", "drop_queue"}
"""What a revision calls that adds a stage or a kind; the next one that does uses them."""


@cache
def trees() -> dict[str, tuple[str, ast.Module]]:
    """Read every module of ours: its text and its syntax, by name."""
    found = {}
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            parts = path.relative_to(source).with_suffix("").parts
            name = ".".join(parts).removesuffix(".__init__")
            if ".versions." not in name and path not in client.FILES:
                text = path.read_text()
                found[name] = (text, ast.parse(text))
    return found


def test_two_classes_had_one_name() -> None:
    names = Counter(
        node.name
        for _, tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )

    assert {name for name, count in names.items() if count > 1} == set()


def imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules of ours that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in trees() else node.module for name in below)


def is_apart(name: str) -> bool:
    """Whether a module has to be one: a package, a stage, or what we know of a library."""
    is_package = any(other.startswith(f"{name}.") for other in trees())
    return is_package or name.startswith(("scrapersky.compat.", "scrapersky.stages."))


def test_a_module_of_a_few_lines_had_one_importer() -> None:
    importers: dict[str, set[str]] = defaultdict(set)
    for name, (_, tree) in trees().items():
        for other in imported(tree):
            importers[other].add(name)

    assert {
        name
        for name, (text, _) in trees().items()
        if text.count("\n") < LEAST_LINES
        and len(importers[name]) == 1
        and not is_apart(name)
    } == SMALL_MODULES


@cache
def names_of_data() -> set[str]:
    """Return the columns of our tables and the fields of our API: data, not code."""
    columns = {
        column.key
        for metadata in METADATA
        for table in metadata.tables.values()
        for column in table.columns
    }
    return columns | {*fields(json.loads((ROOT / "frontend/openapi.json").read_text()))}


def fields(value: Any) -> Iterator[str]:
    """Yield the names of all fields in a description of the API."""
    if isinstance(value, list):
        for item in value:
            yield from fields(item)
    elif isinstance(value, dict):
        yield from value.get("properties", ())
        for item in value.values():
            yield from fields(item)


def commands() -> set[str]:
    """Return the functions that the command line names by a string: `module:function`."""
    return {path.partition(":")[2] for paths in COMMANDS.values() for path in paths}


@pytest.fixture(scope="module")
def unused() -> dict[str, str]:
    """Find what nothing but tests and benchmarks uses, with its place."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["vulture"]
    found = Vulture(ignore_names=["pytest_*"], **settings)
    paths = [*map(str, SOURCES), str(ROOT / "scripts"), str(ROOT / "conftest.py")]
    found.scavenge(paths, exclude=["*/ui/*", *map(str, client.FILES)])
    known = {"variable": names_of_data(), "function": commands()}
    return {
        item.name: f"{item.filename}:{item.first_lineno}: {item.typ}"
        for item in found.get_unused_code()
        if item.name not in known.get(item.typ, ())
    }


@pytest.mark.slow
def test_a_name_was_kept_alive_by_its_tests_alone(unused: dict[str, str]) -> None:
    dead = {name: unused[name] for name in unused.keys() - USED_UNSEEN - FOR_REVISIONS}
    assert dead == {}
    assert sorted(USED_UNSEEN - unused.keys()) == [], "these are no exceptions any more"


UNITS_AND_CODES: Final = {
    # Units by themselves, and numbers that a protocol or an operating system gives a name.
    "KIB", "MEBI", "MEBIBYTE", "MIB", "MILLISECOND", "OK", "SECOND", "SEED", "UNAVAILABLE",
    "ALLOW", "EQUAL", "GREATER", "KILL", "LOAD", "NETWORK", "REFUSE", "RETURN", "SCOPES",
    # How a program ended.
    "CLEAN", "FAILED", "MISUSED", "SIGNALLED", "VULNERABLE",
    # One of several that stand together: flags, parts of a drawing, a line through points.
    "BLOCK", "BREAK", "HEADING", "INLINE", "REGION", "SKIP", "UNAUTHORISED",
    "DOUBTED", "FOLDED", "OPENED", "SEEN", "GAP", "HEIGHT", "LEFT", "ROW", "TOP", "WIDTH",
    "SHIFT", "SLOPE",
}  # fmt: skip
"""The only numbers that one word names."""


def numbers(tree: ast.Module) -> Iterator[str]:
    """Yield the constants of a module that hold a number or a time."""
    for node in tree.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=False))
        for each, value in pairs:
            if isinstance(each, ast.Name) and is_number(value):
                yield each.id


def is_number(value: ast.AST) -> bool:
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) == "timedelta"
    if isinstance(value, ast.BinOp):
        return is_number(value.left) and is_number(value.right)
    if isinstance(value, ast.UnaryOp):
        return is_number(value.operand)
    return isinstance(value, ast.Constant) and type(value.value) in {int, float}


def test_a_number_did_not_say_of_what() -> None:
    others = {
        str(path.relative_to(ROOT)): ast.parse(path.read_text())
        for folder in ("bench", "scripts")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }

    assert [
        f"{module}.{name}"
        for module, tree in [
            *((m, t) for m, (_, t) in trees().items()),
            *others.items(),
        ]
        for name in numbers(tree)
        if "_" not in name.strip("_") and name.strip("_") not in UNITS_AND_CODES
    ] == []
