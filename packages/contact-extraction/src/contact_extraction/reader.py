"""Which readers read a page: their version, and a fingerprint of all they are made of."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

PACKAGE: Final = "contact_extraction"
READ_WITH: Final = ("lxml", "phonenumbers", "turbohtml")
"""Libraries on whose data or parser it depends what is read."""
SUFFIXES: Final = (".py", ".txt", ".json")
FINGERPRINT_LETTERS: Final = 12


@cache
def reader_version() -> str:
    """Return the version and fingerprint of the readers, as `0.5.0+3fa94c01b2d7`.

    It changes with every change of code, word lists, weights, and of what parses pages and
    numbers: two pages that were read under one name were read alike.
    """
    digest = hashlib.sha256()
    for name, content in sorted(parts(files(PACKAGE))):
        digest.update(f"{name}\n{len(content)}\n".encode())
        digest.update(content)
    for library in READ_WITH:
        digest.update(f"{library} {version_of(library)}\n".encode())
    return (
        f"{version_of('contact-extraction')}+{digest.hexdigest()[:FINGERPRINT_LETTERS]}"
    )


def parts(folder: Traversable, above: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield every file that the readers are made of, by its name."""
    for part in folder.iterdir():
        name = f"{above}/{part.name}"
        if part.is_dir():
            yield from parts(part, name)
        elif part.name.endswith(SUFFIXES):
            yield name, part.read_bytes()


def version_of(library: str) -> str:
    """Return which version is installed."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "unknown"
