"""What the tests came to: read from their report, and remembered for the next run.

`python -m scripts.tested` prints where the time of the last run went.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

BUILD: Final = Path(__file__).resolve().parents[1] / "build"
RESULTS: Final = BUILD / "tests.xml"
LONG_RESULTS: Final = BUILD / "long-tests.xml"
SECONDS: Final = BUILD / "test-seconds.json"
"""How long every test took when it last ran on this machine."""
GROUP: Final = re.compile(r"@[^@\]]+$")


@dataclass(frozen=True, slots=True)
class Results:
    """Every test of a run: its seconds, whether it failed, why it was skipped."""

    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    skipped: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def slowest(self, count: int) -> list[tuple[str, float]]:
        """Return the tests that took longest."""
        return sorted(self.seconds.items(), key=lambda one: -one[1])[:count]


def read(*reports: Path) -> Results:
    """Read reports of pytest; one that was never written holds nothing."""
    results = Results()
    # Our own pytest wrote them.
    roots = [ET.parse(report) for report in reports if report.exists()]  # noqa: S314
    for case in (case for root in roots for case in root.iter("testcase")):
        name = name_of(case)
        results.seconds[name] = float(case.get("time", 0))
        if case.find("failure") is not None or case.find("error") is not None:
            results.failed.append(name)
        if (skipped := case.find("skipped")) is not None:
            results.skipped[skipped.get("message") or "no reason"].append(name)
    return results


def name_of(case: ET.Element) -> str:
    """Return a test's name as pytest takes it, without the group it ran in."""
    place = case.get("classname", "").replace(".", "/")
    return f"{place}.py::{GROUP.sub('', case.get('name', ''))}"


def remember(results: Results, place: Path = SECONDS) -> None:
    """Keep how long every test took, for the runs of daily work."""
    if results.seconds:
        place.parent.mkdir(exist_ok=True)
        place.write_text(json.dumps(remembered(place) | results.seconds))


def remembered(place: Path = SECONDS) -> dict[str, float]:
    """Return how long every test took when it last ran."""
    found: dict[str, float] = json.loads(place.read_text()) if place.exists() else {}
    return found


def keep_fixtures(
    worker: str, seconds: Mapping[str, float], place: Path = BUILD
) -> None:
    """Keep how long one worker's fixtures took."""
    place.mkdir(exist_ok=True)
    (place / f"fixtures-{worker}.json").write_text(json.dumps(seconds))


def fixtures(place: Path = BUILD) -> dict[str, float]:
    """Return how long each fixture took, over all workers."""
    found: dict[str, float] = defaultdict(float)
    for file in place.glob("fixtures-*.json"):
        for name, spent in json.loads(file.read_text()).items():
            found[name] += spent
    return found


def forget_fixtures(place: Path = BUILD) -> None:
    """Forget the run before."""
    for file in place.glob("fixtures-*.json"):
        file.unlink()


def folders(seconds: Mapping[str, float]) -> dict[str, float]:
    """Return how long the tests of each folder took."""
    found: dict[str, float] = defaultdict(float)
    for name, spent in seconds.items():
        found[name.partition("::")[0].rpartition("/")[0]] += spent
    return found


def main() -> None:
    """Print two tables, as the documentation has them."""
    seconds = read(RESULTS, LONG_RESULTS).seconds
    for title, rows in (("folder", folders(seconds)), ("fixture", fixtures())):
        print(f"| {title} | seconds |\n|---|---|")
        for name, spent in sorted(rows.items(), key=lambda row: -row[1])[:30]:
            print(f"| `{name}` | {spent:.1f} |")
        print(f"| all | {sum(rows.values()):.0f} |\n")


if __name__ == "__main__":
    main()
