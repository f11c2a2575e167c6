"""The town searched, changed and searched again: what that cost, and what was noticed."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from scrapersky.revisits.schedule import begin_run
from scrapersky.revisits.visit import visit_found
from simulated_town.evolution import NoticedChange
from simulated_town.town import Town
from tests.acceptance.rig import Desk

WITHIN = 600.0
CALM_LOOKS = 8
"""Looks in a row that must find nothing to do: jobs begin work too."""
FOUND = """SELECT coalesce(p.source_place_id, d.domain), x.what, x.field, x.old_value,
    x.new_value
  FROM differences x LEFT JOIN places_staging p ON p.id = x.place_id
  LEFT JOIN domains d ON d.id = x.domain_id"""
NOT_MODIFIED = 304
BYTES = "SELECT coalesce(sum(bytes), 0) FROM host_outcomes"


@dataclass(frozen=True, slots=True)
class RunCost:
    """What a run asked of the town's websites."""

    requests: int
    bytes: int
    robots: int
    """Files robots.txt that are asked for beside them when the last answer has expired."""
    sites: Mapping[str, int]
    """Requests by website."""
    steady: frozenset[str] = frozenset()
    """Websites of which every answer was that nothing has changed (304)."""


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """A run, the one after the town has changed, and what that noticed."""

    first: RunCost
    second: RunCost
    planted: frozenset[NoticedChange]
    noticed: frozenset[NoticedChange]

    @property
    def missed(self) -> frozenset[NoticedChange]:
        """What was planted and not noticed."""
        noticed = {normal(one) for one in self.noticed}
        return frozenset(one for one in self.planted if normal(one) not in noticed)

    @property
    def invented(self) -> frozenset[NoticedChange]:
        """What was noticed and has not happened."""
        planted = {normal(one) for one in self.planted}
        return frozenset(one for one in self.noticed if normal(one) not in planted)

    def measured(self) -> dict[str, float | int]:
        """Return the figures."""
        return {
            "requests_first": self.first.requests,
            "requests_second": self.second.requests,
            "bytes_first": self.first.bytes,
            "bytes_second": self.second.bytes,
            "requests_ratio": round(self.second.requests / self.first.requests, 4),
            "bytes_ratio": round(self.second.bytes / self.first.bytes, 4),
            "requests_ratio_without_new_sites": round(
                sum(self.second.sites.get(one, 0) for one in self.first.sites)
                / self.first.requests,
                4,
            ),
            "requests_ratio_after_an_hour": round(
                (self.second.requests + self.second.robots) / self.first.requests, 4
            ),
            **self.second_run_by_site(),
            "changes_planted": len(self.planted),
            "changes_found": len(self.planted) - len(self.missed),
            "changes_invented": len(self.invented),
        }

    def second_run_by_site(self) -> dict[str, int]:
        """Say what the requests of the second run were for; the sites are in parts of it."""
        asked = self.second.sites
        new = {site for site in asked if site not in self.first.sites}
        steady = self.second.steady - new
        return {
            "second_run_new_sites": len(new),
            "second_run_new_requests": sum(asked[site] for site in new),
            "second_run_unchanged_sites": len(steady),
            "second_run_unchanged_requests": sum(asked[site] for site in steady),
            "second_run_one_request_sites": sum(asked[site] == 1 for site in steady),
            "second_run_changed_sites": len(asked) - len(new) - len(steady),
            "second_run_changed_requests": sum(
                asked[site] for site in asked if site not in new | steady
            ),
        }


def normal(change: NoticedChange) -> NoticedChange:
    """Leave out of a change what people write in many ways."""
    old, new = change.old, change.new
    if change.what in {"unreachable", "moved"}:
        old = new = None
    return NoticedChange(change.subject, change.what, change.field, old, new)


async def run_twice(desk: Desk, town: Town) -> TwoRuns:
    """Search the town, change it, and run the same search again."""
    search_id = await desk.search()
    await settle(desk)
    first = await cost_of(desk, town)
    assert town.evolution is not None
    town.change()
    town.log.clear()
    await run_again(desk, search_id)
    await settle(desk)
    total = await cost_of(desk, town)
    rows = await desk.rows(FOUND)
    return TwoRuns(
        first,
        replace(total, bytes=total.bytes - first.bytes),
        town.evolution.noticed,
        frozenset(NoticedChange(*row) for row in rows),
    )


async def run_again(desk: Desk, search_id: UUID) -> None:
    """Ask the register again, and visit every website that it named."""
    async with desk.engine.begin() as connection:
        await begin_run(connection, desk.actor, search_id, budget=None)
    await visit_found(desk.engine, search_id)


async def settle(desk: Desk) -> None:
    """Wait until nothing is left to do."""
    calm = 0
    async with asyncio.timeout(WITHIN):
        while calm < CALM_LOOKS:
            calm = 0 if await desk.is_busy() else calm + 1
            await asyncio.sleep(0.25)


async def cost_of(desk: Desk, town: Town) -> RunCost:
    """Count what websites were asked and what they sent."""
    ((size,),) = await desk.rows(BYTES)
    visited = {
        site: entries
        for site, entries in town.log.sites.items()
        if site.endswith(".bv")
    }
    unread = (
        "/robots.txt" not in {one.path for one in each} for each in visited.values()
    )
    sites = {site: len(entries) for site, entries in visited.items()}
    steady = frozenset(
        site
        for site, entries in visited.items()
        if all(one.status == NOT_MODIFIED for one in entries)
    )
    return RunCost(sum(sites.values()), int(size), sum(unread), sites, steady)
