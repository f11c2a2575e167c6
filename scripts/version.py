"""Write the version of ScraperSky into every file that has it: python -m scripts.version 0.5.0."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
VERSION: Final = r"\d+\.\d+\.\d+"
PLACES: Final = {
    "pyproject.toml": (
        r'^version = "(V)"',
        r'"contact-extraction==(V)"',
        r'"curation-sdk==(V)"',
        r'"simulated-town==(V)"',
    ),
    "packages/contact-extraction/pyproject.toml": (r'^version = "(V)"',),
    "packages/curation-sdk/pyproject.toml": (r'^version = "(V)"',),
    "packages/scrapersky-client/pyproject.toml": (r'^version = "(V)"',),
    "packages/simulated-town/pyproject.toml": (r'^version = "(V)"',),
    "frontend/package.json": (r'^  "version": "(V)"',),
    "frontend/package-lock.json": (
        r'\A\{\s+"name": "scrapersky-page",\s+"version": "(V)"',
        r'"": \{\s+"name": "scrapersky-page",\s+"version": "(V)"',
    ),
    "deploy/helm/scrapersky/Chart.yaml": (r"^version: (V)", r'^appVersion: "(V)"'),
    "compose.yaml": (r"\$\{SCRAPERSKY_IMAGE:-scrapersky:(V)\}",),
    "deploy/compose.yaml": (r"\$\{SCRAPERSKY_IMAGE:-scrapersky:(V)\}",),
    "deploy/Containerfile": (r"-t scrapersky:(V)",),
}
"""Where it is written, and what stands around it; pyproject.toml is the one that counts."""


def written() -> Iterator[tuple[str, str]]:
    """Yield every place with the version that is written there."""
    for name, patterns in PLACES.items():
        content = (ROOT / name).read_text(encoding="utf-8")
        for pattern in map(compiled, patterns):
            found = pattern.search(content)
            yield name, found[1] if found else "none"


def write(version: str) -> None:
    """Write another version everywhere."""
    for name, patterns in PLACES.items():
        content = (ROOT / name).read_text(encoding="utf-8")
        for pattern in map(compiled, patterns):
            content, times = pattern.subn(
                lambda found: found[0].replace(found[1], version), content
            )
            if not times:
                sys.exit(f"{name} has no {pattern.pattern}")
        (ROOT / name).write_text(content, encoding="utf-8")


def compiled(pattern: str) -> re.Pattern[str]:
    """Read a pattern in which (V) stands for the version."""
    return re.compile(pattern.replace("(V)", f"({VERSION})"), re.MULTILINE)


def main() -> None:
    """Write the version that was given."""
    given = " ".join(sys.argv[1:])
    if not re.fullmatch(VERSION, given):
        sys.exit("What to do: python -m scripts.version 0.5.0")
    write(given)
    print("Install anew, so that it is what runs here: ./scrapersky version")


if __name__ == "__main__":
    main()
