"""Whatever we use of a library's inside is in one place, and its version is bounded."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
OURS = {
    ROOT / "src/scrapersky/compat": ROOT / "pyproject.toml",
    ROOT / "packages/curation-sdk/src/curation_sdk/compat.py": ROOT
    / "packages/curation-sdk/pyproject.toml",
    ROOT
    / "packages/contact-extraction/src/contact_extraction/sitemap/xml_chunk.py": ROOT
    / "packages/contact-extraction/pyproject.toml",
}
INSIDE = re.compile(
    r"noqa: SLF001|_sa_instance_state|_traverse_internals|sqlalchemy\.sql\.util"
    r"|uvicorn\.protocols|fastapi\.dependencies|iter_route_contexts|compile_path"
    r"|import _\w|^\s*(?:from|import) [\w.]+\._\w|\b_jwk_data\b"
)


def sources() -> list[Path]:
    found = [*(ROOT / "src").rglob("*.py")]
    found += (ROOT / "packages").glob("*/src/**/*.py")
    return [
        path
        for path in found
        if not any(path == ours or ours in path.parents for ours in OURS)
    ]


def test_the_inside_of_libraries_is_used_in_compat_alone() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources()
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if INSIDE.search(line)
    }

    assert found == set()


def bounded(project: Path) -> set[str]:
    listed = tomllib.loads(project.read_text())["project"]["dependencies"]
    return {
        Requirement(one).name
        for one in listed
        if any(
            part.operator in {"<", "<=", "=="} for part in Requirement(one).specifier
        )
    }


@pytest.mark.parametrize("library", ["asyncpg", "fastapi", "sqlalchemy", "uvicorn"])
def test_a_library_whose_inside_we_use_has_an_upper_bound(library: str) -> None:
    modules = {path.stem for path in (ROOT / "src/scrapersky/compat").glob("[a-z]*.py")}

    assert library in modules
    assert library in bounded(ROOT / "pyproject.toml")


@pytest.mark.parametrize(
    ("package", "library"),
    [("curation-sdk", "sqlalchemy"), ("contact-extraction", "lxml")],
)
def test_a_package_bounds_what_it_uses_the_inside_of(
    package: str, library: str
) -> None:
    assert library in bounded(ROOT / "packages" / package / "pyproject.toml")
