"""Which ScraperSky this is: its version, and its build, since two of one version may differ."""

from functools import cache
from hashlib import sha256
from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import Final

PACKAGES: Final = ("scrapersky", "curation_sdk")
SOURCE_SUFFIXES: Final = frozenset({".py", ".toml", ".txt"})
"""What decides how it works. The page is built on each machine, and may differ by nothing."""
HASH_CHARACTERS: Final = 8


def version() -> str:
    """Return the version of the release."""
    return version_of("scrapersky")


@cache
def build() -> str:
    """Return a short hash of what is installed: the same on every host that has the same."""
    found = sha256()
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None  # noqa: S101 - we are in one, and import the other
        for place in map(Path, spec.submodule_search_locations or ()):
            for file in sorted(place.rglob("*")):
                if file.suffix in SOURCE_SUFFIXES:
                    name = file.relative_to(place).as_posix()
                    content = file.read_bytes()
                    found.update(f"{package}/{name} {len(content)}\n".encode())
                    found.update(content)
    return found.hexdigest()[:HASH_CHARACTERS]


def full_version() -> str:
    """Return version and build as one word (`0.4.0+1c9ae3f2`), to tell processes apart by."""
    return f"{version()}+{build()}"
