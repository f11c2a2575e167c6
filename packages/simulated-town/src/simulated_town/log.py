"""Who asked for what and when, so that politeness can be proven, not claimed."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One request, by the server's monotonic clock; a silent answer has no end."""

    path: str
    started: float
    ended: float | None
    status: int
    method: str = "GET"


@dataclass(frozen=True, slots=True)
class HostRecord:
    """How one site was visited."""

    site: str
    requests: int
    overlaps: int
    """Requests that began while another was still being answered."""
    shortest_gap: float | None
    """Seconds from an answer to the next request; None when there was only one."""


class TownLog:
    """Every request the town was asked, by site."""

    def __init__(self) -> None:
        self._visits: defaultdict[str, list[LogEntry]] = defaultdict(list)

    def record(self, site: str, visit: LogEntry) -> None:
        """Write down one request, in the order in which answers end."""
        self._visits[site].append(visit)

    @property
    def sites(self) -> Mapping[str, Sequence[LogEntry]]:
        """Return all visits by site."""
        return self._visits

    @property
    def total(self) -> int:
        """Return the number of all requests."""
        return sum(len(visits) for visits in self._visits.values())

    def records(self) -> Sequence[HostRecord]:
        """Return how each site was visited, the busiest first."""
        records = [measure(site, visits) for site, visits in self._visits.items()]
        return sorted(records, key=lambda record: (-record.requests, record.site))

    def clear(self) -> None:
        """Forget everything."""
        self._visits.clear()


def measure(site: str, visits: Iterable[LogEntry]) -> HostRecord:
    """Measure how politely a site was visited."""
    ordered = sorted(visits, key=lambda visit: visit.started)
    gaps = [
        after.started - (before.started if before.ended is None else before.ended)
        for before, after in pairwise(ordered)
    ]
    latest, overlaps = float("-inf"), 0
    for visit in ordered:
        overlaps += visit.started < latest
        latest = max(latest, visit.started if visit.ended is None else visit.ended)
    return HostRecord(site, len(ordered), overlaps, min(gaps, default=None))
