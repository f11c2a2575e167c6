"""Compare what is locked with known vulnerabilities (https://osv.dev).

    python -m scripts.audit                    everything in locks/ and the page's lock file
    python -m scripts.audit --accept ID ...    leave out advisories that were looked into

Every version in `locks/*.txt` and `frontend/package-lock.json` is asked for by name, in a few
requests; nothing else is sent. Exit codes: 0 nothing known, 1 something is, 2 the source
could not be reached, so that nothing was audited. Run it before a release and once a week.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "https://api.osv.dev"
AT_ONCE = 500
TIMEOUT_SECONDS = 30.0
LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
CLEAN, VULNERABLE, NOT_AUDITED = 0, 1, 2


@dataclass(frozen=True, slots=True, order=True)
class Locked:
    """One version of a package that is installed somewhere."""

    ecosystem: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.ecosystem})"


def main(words: Sequence[str]) -> int:
    """Audit, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accept", nargs="*", default=[], metavar="ID")
    parser.add_argument("--source", default=SOURCE, help="where to ask")
    asked = parser.parse_args(words)
    packages = sorted(locked(ROOT))
    try:
        found = dict(known_about(packages, asked.source))
    except (URLError, TimeoutError, OSError, ValueError) as error:
        print(f"Not audited: {asked.source} cannot be asked ({error}).")
        return NOT_AUDITED
    wrong = 0
    for package, ids in found.items():
        for one in sorted(set(ids) - set(asked.accept)):
            wrong += 1
            print(f"{package}: https://osv.dev/vulnerability/{one}")
    print(f"{len(packages)} locked versions, {wrong} known vulnerabilities.")
    return VULNERABLE if wrong else CLEAN


def locked(root: Path) -> set[Locked]:
    """Return every version that a lock file names."""
    found = {
        Locked("PyPI", name.lower(), version)
        for path in sorted((root / "locks").glob("*.txt"))
        for name, version in LOCKED.findall(path.read_text())
    }
    page = json.loads((root / "frontend" / "package-lock.json").read_text())
    return found | {
        Locked("npm", path.rpartition("node_modules/")[2], one["version"])
        for path, one in page["packages"].items()
        if path and "version" in one
    }


def known_about(
    packages: Sequence[Locked], source: str
) -> Iterator[tuple[Locked, list[str]]]:
    """Yield each package with the ids of what is known about it."""
    for begin in range(0, len(packages), AT_ONCE):
        some = packages[begin : begin + AT_ONCE]
        answer = ask(f"{source}/v1/querybatch", {"queries": list(map(query, some))})
        for package, result in zip(some, answer["results"], strict=True):
            if ids := [one["id"] for one in (result or {}).get("vulns", ())]:
                yield package, ids


def query(package: Locked) -> dict[str, Any]:
    """Write the question about one package."""
    named = {"ecosystem": package.ecosystem, "name": package.name}
    return {"package": named, "version": package.version}


def ask(url: str, question: dict[str, Iterable[Any]]) -> dict[str, Any]:
    """Send JSON, return JSON."""
    request = Request(  # noqa: S310 - the address is ours
        url,
        data=json.dumps(question).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 - see above
        found: dict[str, Any] = json.load(answer)
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
