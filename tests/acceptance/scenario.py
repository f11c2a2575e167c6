"""What the world does to a running pipeline, and what has become of it in the end."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from curation_sdk.crash_rule import BENEFIT_OF_DOUBT
from scrapersky.stages import MAX_CRASHES
from sdk_tests.rig.cluster import Cluster, running_cluster
from simulated_town.process import TownProcess, town_process
from simulated_town.truth import SiteFact
from tests.acceptance.rig import Desk, Order, a_crew, a_desk, with_leases

DELAY = 0.05
LEASE = 2
SLACK = 0.002
"""Seconds by which a gap may be shorter: the server sees an answer end a bit late."""
MOST_HITS = MAX_CRASHES + BENEFIT_OF_DOUBT - 1
"""So often the worker of an item may die before the item is blamed for the next time."""
MUST_BE_OVER = """
SELECT (SELECT count(*) FROM domains WHERE status NOT IN ('completed', 'error')
   OR sitemap_analysis_status NOT IN ('pending', 'submitted', 'failed'))
  + (SELECT count(*) FROM pages
     WHERE page_processing_status IN ('Queued', 'Processing'))
"""
HANDED_OVER = """
SELECT
  (SELECT count(*) FROM places_staging p WHERE deep_scan_status = 'Completed'
   AND NOT EXISTS (SELECT FROM local_businesses b WHERE b.place_id = p.id))
+ (SELECT count(*) FROM local_businesses b JOIN places_staging p ON p.id = b.place_id
   WHERE p.deep_scan_status <> 'Completed')
+ (SELECT count(*) FROM domains d WHERE sitemap_analysis_status = 'submitted'
   AND NOT EXISTS (SELECT FROM sitemap_files s WHERE s.domain_id = d.id))
+ (SELECT count(*) FROM sitemap_files s JOIN domains d ON d.id = s.domain_id
   WHERE d.sitemap_analysis_status <> 'submitted')
+ (SELECT count(*) FROM pages p WHERE contact_scrape_status = 'ContactFound'
   AND NOT EXISTS (SELECT FROM contacts c WHERE c.domain_id = p.domain_id))
+ (SELECT count(*) FROM contacts c JOIN pages p ON p.id = c.page_id
   WHERE p.page_processing_status <> 'Complete')
"""
"""Done without a successor, or a successor without done; both must be none."""


@dataclass
class Report:
    """What one run came to."""

    name: str
    seconds: float = 0.0
    finished: bool = False
    kills: int = 0
    restarts: int = 0
    at_work: int = 0
    """How many of the kills and restarts came while there was work to disturb."""
    contacts: set[tuple[Any, ...]] = field(default_factory=set)
    not_over: int = -1
    not_handed_over: int = -1
    deaths: list[tuple[Any, ...]] = field(default_factory=list)
    """Dead letters: their stage, kind, tries and reason."""
    missed: int = -1
    missing: list[SiteFact] = field(default_factory=list)
    wrong: int = -1
    too_fast: int = -1
    """Requests that overlapped, and sites that were asked again too soon."""
    shortest_gap: float = 0.0
    unclean: int = 0
    """Workers that were asked to stop and did not end well."""

    @property
    def causes_of_death(self) -> Counter[tuple[str, str]]:
        """Count the dead letters by stage and kind."""
        return Counter((stage, kind) for stage, kind, *_ in self.deaths)


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything a scenario may do things to."""

    cluster: Cluster
    town: TownProcess
    order: Order
    desk: Desk


@asynccontextmanager
async def a_stage(size: int) -> AsyncIterator[Stage]:
    """Set up a town, a server and an empty database."""
    with running_cluster() as cluster:
        cluster.create_database("town")
        async with (
            town_process(size=size, trouble=False) as town,
            a_desk(cluster.url("town")) as desk,
        ):
            order = Order(
                cluster.url("town"), town.endpoint, delay=DELAY,
                environment=with_leases(LEASE),
            )  # fmt: skip
            yield Stage(cluster, town, order, desk)


async def calm(size: int, *, workers: int = 2) -> Report:
    """Run the pipeline over a town in peace."""
    report = Report("calm")
    async with a_stage(size) as stage:
        with a_crew(stage.order, workers):
            await run_to_the_end(stage, report)
        await judge(stage, report)
    return report


async def stormy(
    size: int, *, workers: int = 2, kills: int, restarts: int, seed: int = 1
) -> Report:
    """Run it while workers are killed and PostgreSQL is restarted without warning."""
    report = Report(f"{kills} kill -9, {restarts} restarts, seed {seed}")
    chance = random.Random(seed)
    async with a_stage(size) as stage:
        with a_crew(stage.order, workers) as crew:
            storm = ["kill"] * kills + ["restart"] * restarts
            chance.shuffle(storm)

            async def rage() -> None:
                for blow in storm:
                    await asyncio.sleep(chance.uniform(0.3, 1.5))
                    report.at_work += await stage.desk.is_busy()
                    if blow == "kill":
                        # On a slow machine an item may not end between two kills, again
                        # and again: who was hit that often is let through.
                        await stage.desk.until_none_crashed(MOST_HITS, 120)
                        crew.kill(chance.choice(crew.members))
                        await asyncio.to_thread(crew.hire)
                        report.kills += 1
                    else:
                        await asyncio.to_thread(stage.cluster.restart, "immediate")
                        report.restarts += 1

            raging = asyncio.create_task(rage())
            await run_to_the_end(stage, report, storm=raging)
        await judge(stage, report)
    return report


async def rolling(size: int, *, workers: int = 3, rounds: int = 1) -> Report:
    """Run it while the workers are stopped and started anew, one after another."""
    report = Report(f"{rounds} rolling restarts of {workers} workers")
    async with a_stage(size) as stage:
        # Leases outlive the run: what a worker left behind would never be rescued.
        order = replace(stage.order, environment=with_leases(600))
        with a_crew(order, workers) as crew:

            async def roll() -> None:
                for _ in range(rounds * workers):
                    await asyncio.sleep(0.5)
                    report.at_work += await stage.desk.is_busy()
                    report.unclean += await asyncio.to_thread(crew.restart_oldest)
                    report.restarts += 1

            rolling = asyncio.create_task(roll())
            await run_to_the_end(stage, report, storm=rolling)
        await judge(stage, report)
    return report


async def run_to_the_end(
    stage: Stage, report: Report, *, storm: "asyncio.Task[None] | None" = None
) -> None:
    """Search, work, validate; a run is over when the storm is and nothing is open."""
    began = time.monotonic()
    await stage.desk.search()
    if storm is not None:
        await storm
    report.finished = await stage.desk.until_done(240)
    await stage.desk.validate()
    report.finished &= await stage.desk.until_done(120)
    report.seconds = time.monotonic() - began


async def judge(stage: Stage, report: Report) -> None:
    """Read what really happened, with no help from any worker."""
    desk = stage.desk
    report.contacts = await desk.contacts()
    ((report.not_over,),) = await desk.rows(MUST_BE_OVER)
    ((report.not_handed_over,),) = await desk.rows(HANDED_OVER)
    report.deaths = await desk.rows(
        "SELECT stage, kind, tries, why FROM curation.dead_letter"
    )
    compared = await desk.compare(stage.town.endpoint)
    report.missing = [each for score in compared.scores for each in score.missed]
    report.missed = len(report.missing)
    report.wrong = sum(len(score.wrong) for score in compared.scores)
    records = [r for r in await stage.town.records() if r.site.endswith(".bv")]
    gaps = [r.shortest_gap for r in records if r.shortest_gap is not None]
    report.too_fast = sum(record.overlaps for record in records)
    report.too_fast += sum(gap < DELAY - SLACK for gap in gaps)
    report.shortest_gap = min(gaps, default=DELAY)
