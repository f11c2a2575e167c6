"""What the tests came to: read from their report, and remembered for the next run."""

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

SECONDS: Final = Path(__file__).resolve().parents[1] / "build" / "test-seconds.json"
"""How long every test took in the last whole run on this machine."""
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


def read(report: Path) -> Results:
    """Read a report of pytest; one that was never written holds nothing."""
    results = Results()
    if not report.exists():
        return results
    # Our own pytest wrote it.
    for case in ET.parse(report).iter("testcase"):  # noqa: S314
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
        place.write_text(json.dumps(results.seconds))


def remembered(place: Path = SECONDS) -> dict[str, float]:
    """Return how long every test took in the last whole run."""
    found: dict[str, float] = json.loads(place.read_text()) if place.exists() else {}
    return found
