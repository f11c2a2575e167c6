"""Statements: each is used, and none is written anywhere but in its module."""

import ast
import functools
import re
from dataclasses import fields
from pathlib import Path

import pytest

import curation_sdk
from curation_sdk.statements import Statements

PACKAGE = Path(curation_sdk.__file__).parent
MODULES = sorted(PACKAGE.glob("*.py"))
HOLD_SQL = {
    "statements.py",
    "crash_rule.py",
    "migrations.py",
    "queries.py",
    "schema.py",
}
SQL = re.compile(
    r"\b(SELECT \S|INSERT INTO|DELETE FROM|UPDATE \S+ SET|EXPLAIN|CREATE INDEX|TRUNCATE)\b"
    r"|\bcuration\.\w|\bWHERE \S+ ="
)


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def defined_in(module: str) -> list[str]:
    """Return the functions and the constants of text at the top of a module."""
    found = []
    for node in tree_of(PACKAGE / module).body:
        if isinstance(node, ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign) and is_text(node.value):
            found += [
                target.id for target in node.targets if isinstance(target, ast.Name)
            ]
    return found


def is_text(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Constant) and isinstance(part.value, str)
        for part in ast.walk(node)
    )


@functools.cache
def names_read() -> frozenset[str]:
    """Return every name that the package reads, by itself or as an attribute."""
    return frozenset(
        node.id if isinstance(node, ast.Name) else node.attr
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.Name, ast.Attribute))
        and isinstance(node.ctx, ast.Load)
    )


@pytest.mark.parametrize("module", ["statements.py", "crash_rule.py"])
def test_every_statement_and_fragment_is_used(module: str) -> None:
    unused = [name for name in defined_in(module) if name not in names_read()]

    assert unused == []


def test_every_statement_of_a_stage_is_sent() -> None:
    others = [path for path in MODULES if path.name != "statements.py"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in others)

    unsent = [
        field.name
        for field in fields(Statements)
        if not re.search(rf"\b_?statements\.{field.name}\b", source)
    ]

    assert unsent == []


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if path.name not in HOLD_SQL],
    ids=lambda p: p.name,
)
def test_no_statement_is_written_outside_the_modules_for_it(path: Path) -> None:
    tree = tree_of(path)
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }

    written = [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in prose
        and SQL.search(node.value)
        # A hint that an administrator can copy is not sent by the package.
        and "GRANT" not in node.value
    ]

    assert written == []
