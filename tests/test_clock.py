"""No quick test asserts how soon something was done: it would measure the machine."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

TESTS = Path(__file__).parent
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time"}
Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def reads_clock(node: ast.AST, known: set[str]) -> bool:
    """Return whether an expression asks a clock, or a name that did."""
    return any(
        (isinstance(part, ast.Name) and part.id in known)
        or (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in CLOCKS
        )
        for part in ast.walk(node)
    )


def moments(function: Function) -> set[str]:
    """Return the names that hold a moment, or the time between two."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and reads_clock(node.value, found):
            targets = [part for target in node.targets for part in ast.walk(target)]
            found |= {part.id for part in targets if isinstance(part, ast.Name)}
    return found


def upper_bounds(function: Function) -> Iterator[int]:
    """Find assertions that the time is less than something."""
    known = moments(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
            sides = [node.test.left, *node.test.comparators]
            for left, how, right in zip(sides, node.test.ops, sides[1:], strict=False):
                is_below = isinstance(how, ast.Lt | ast.LtE)
                is_above = isinstance(how, ast.Gt | ast.GtE)
                if (is_below and reads_clock(left, known)) or (
                    is_above and reads_clock(right, known)
                ):
                    yield node.lineno


def quick_functions(tree: ast.Module | ast.ClassDef) -> Iterator[Function]:
    """Return every function that is not part of the long line."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield from quick_functions(node)
        elif isinstance(node, Function):
            marks = map(ast.unparse, node.decorator_list)
            if not any(mark == "pytest.mark.long" for mark in marks):
                yield node


def bounds_in(text: str) -> list[int]:
    if not any(f".{clock}(" in text for clock in CLOCKS):
        return []
    found = [upper_bounds(one) for one in quick_functions(ast.parse(text))]
    return [line for lines in found for line in lines]


def test_nothing_quick_is_bounded_by_the_clock_on_the_wall() -> None:
    bounds = {
        f"{file.relative_to(TESTS)}:{line}"
        for file in TESTS.rglob("*.py")
        for line in bounds_in(file.read_text(encoding="utf-8"))
    }

    assert bounds == set()


def test_a_bound_by_the_clock_is_found() -> None:
    text = """
def test_soon():
    began = time.monotonic()
    assert time.monotonic() - began < 5
    taken = loop.time() - began
    assert 1 > taken
    assert taken >= 0.2
    assert time.process_time() < 3
"""

    assert bounds_in(text) == [4, 6]
    assert bounds_in(text.replace("\ndef", "\n@pytest.mark.long\ndef")) == []
