"""What a change can break: the packages it touches, and the tests that mirror them."""

import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

DAILY_SECONDS: Final = 2.0
"""Seconds: tests that took longer are left to the whole line."""
WRITTEN: Final = "tests/test_docs.py"
SDK: Final = "packages/curation-sdk"
READERS: Final = "packages/contact-extraction"
TOWN: Final = "packages/simulated-town"
CLIENT: Final = "packages/scrapersky-client"
SOURCES: Final = {
    f"{SDK}/src/curation_sdk/": f"{SDK}/tests/sdk_tests",
    f"{SDK}/": f"{SDK}/tests",
    f"{READERS}/src/contact_extraction/": f"{READERS}/tests/extraction_tests",
    f"{READERS}/": f"{READERS}/tests",
    f"{TOWN}/src/simulated_town/": f"{TOWN}/tests/town_tests",
    f"{TOWN}/": f"{TOWN}/tests",
    f"{CLIENT}/src/scrapersky_client/": f"{CLIENT}/tests/client_tests",
    f"{CLIENT}/": f"{CLIENT}/tests",
    "src/scrapersky/": "tests",
    "src/": "tests",
}
"""Which tests mirror which sources; the first prefix that fits decides."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tests to run, and whether the web page is checked."""

    tests: tuple[str, ...] | None
    """No paths are all tests; None is none of them."""
    page: bool
    is_daily: bool = True
    """Whether slow tests are left out."""


EVERYTHING: Final = Plan((), page=True, is_daily=False)


def changed_files(root: Path) -> list[str]:
    """Return what differs from the last commit, or else what that commit changed."""
    new = git(root, "ls-files", "--others", "--exclude-standard")
    found = [*git(root, "diff", "--name-only", "HEAD"), *new]
    return found or git(root, "diff", "--name-only", "HEAD~1", "HEAD")


def git(root: Path, *words: str) -> list[str]:
    """Ask git for a list of paths."""
    command = ["git", "-C", str(root), *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def plan_for(root: Path, paths: Sequence[str]) -> Plan:
    """Choose the tests for these files; a test that is named runs however slow it is."""
    given = [relative(root, path) for path in paths]
    tests = sorted({test for path in given for test in tests_of(root, path)})
    covered = [t for t in tests if not any(is_inside(t, other) for other in tests)]
    return Plan(
        tests=tuple(covered) or None,
        page=any(path.startswith("frontend") for path in given),
        is_daily=not all("::" in path or is_test(path) for path in given),
    )


def is_in_repository(root: Path, path: str) -> bool:
    """Whether a file, folder or test was named that is in the repository."""
    place = (root / path.partition("::")[0]).resolve()
    return place.exists() and place.is_relative_to(root)


def relative(root: Path, path: str) -> str:
    """Write a path as git does, from the root of the repository."""
    file, _, test = path.partition("::")
    place = Path(file)
    inside = place.resolve().relative_to(root) if place.is_absolute() else place
    return inside.as_posix() + (f"::{test}" if test else "")


def tests_of(root: Path, path: str) -> Iterable[str]:
    """Name the tests that a change of one file can break."""
    if "::" in path or is_test(path):
        yield from [path] if (root / path.partition("::")[0]).exists() else []
    elif roots := [one for one in test_roots(root) if is_inside(path, one, same=True)]:
        yield nearest(root, roots[0], PurePosixPath(path))
    elif path.startswith(tuple(SOURCES)) and not path.endswith(".md"):
        yield mirrored_tests(root, path)
    elif path.endswith(".md"):
        yield WRITTEN
    elif not path.startswith(("frontend", "bench", "docs")):
        yield from sorted(
            file.relative_to(root).as_posix() for file in root.glob("tests/test_*.py")
        )


def mirrored_tests(root: Path, path: str) -> str:
    """Name the folder or file of tests that mirrors a file of the sources."""
    prefix, tests = next(each for each in SOURCES.items() if path.startswith(each[0]))
    inside = PurePosixPath(path.removeprefix(prefix))
    return nearest(root, tests, PurePosixPath(tests) / inside)


def nearest(root: Path, top: str, path: PurePosixPath) -> str:
    """Return the closest folder above that exists, or the file's own test at the top."""
    own = PurePosixPath(top) / f"test_{path.stem}.py"
    if path.parent == PurePosixPath(top) and (root / own).exists():
        return str(own)
    folder = path if (root / path).is_dir() else path.parent
    while not (root / folder).is_dir():
        folder = folder.parent
    return str(folder)


def test_roots(root: Path) -> list[str]:
    """Return where tests are, as pytest takes them."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    found: list[str] = settings["tool"]["pytest"]["ini_options"]["testpaths"]
    return found


def is_test(path: str) -> bool:
    """Return whether a path is a file of tests."""
    return PurePosixPath(path).name.startswith("test_") and path.endswith(".py")


def is_inside(path: str, folder: str, *, same: bool = False) -> bool:
    """Return whether a path lies in a folder."""
    inner, outer = PurePosixPath(path.partition("::")[0]), PurePosixPath(folder)
    return outer in inner.parents or (same and inner == outer)
