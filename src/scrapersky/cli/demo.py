"""`scrapersky demo`."""

import asyncio
import os
import shutil
import socket
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from cyclopts import Parameter
from fastapi import FastAPI
from rich.console import Console
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.api.app import create_app
from scrapersky.api.server import Server
from scrapersky.cli.options import AsJson
from scrapersky.cli.pipeline import PipelineRun, default_tenant, show_run
from scrapersky.cli.signals import run_stoppable, stop_on_signals
from scrapersky.cli.table import PlainTable, plain_console, print_json
from scrapersky.cli.up import a_listener, say
from scrapersky.cli.worker_processes import end_with
from scrapersky.companies.matching import match_tenant
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target, connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres, running_postmaster
from scrapersky.demo.services import town_services
from scrapersky.demo.source import NAME as SOURCE
from scrapersky.errors import AlreadyRunning
from scrapersky.observability.log import configure_logs
from scrapersky.records import PlaceSearch
from scrapersky.records.audit import Actor
from scrapersky.scheduler.prepare import prepare
from scrapersky.settings import Settings
from simulated_town.log import HostRecord
from simulated_town.process import town_process
from simulated_town.truth import FactKind, FactScore, SiteFact, TruthComparison

SOON_SECONDS = 4.0
"""Seconds. Sites that hang are part of the show, but nobody wants to wait for them."""
FOUND = """
SELECT d.domain, 'email', c.email FROM contacts c JOIN domains d ON d.id = c.domain_id
WHERE c.email IS NOT NULL
UNION SELECT d.domain, 'phone', k FROM contacts c JOIN domains d ON d.id = c.domain_id,
  jsonb_object_keys(c.phones) AS k
"""


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the pipeline has found in the town, and how politely."""

    compared: TruthComparison
    records: Sequence[HostRecord]
    seconds: float

    @property
    def is_exact(self) -> bool:
        """Say whether nothing that was found is wrong."""
        return all(not score.wrong for score in self.compared.scores)

    @property
    def scores(self) -> list[FactScore]:
        """Return how it did on what contacts are made of."""
        shown = {FactKind.EMAIL, FactKind.PHONE}
        return [score for score in self.compared.scores if score.kind in shown]

    def as_json(self) -> dict[str, Any]:
        """Return it as `--json` prints it."""
        gaps = [r.shortest_gap for r in self.records if r.shortest_gap is not None]
        return {
            "seconds": round(self.seconds, 1),
            "scores": {
                score.kind.value: {
                    "true": score.true,
                    "found": score.found,
                    "missed": len(score.missed),
                    "wrong": len(score.wrong),
                }
                for score in self.scores
            },
            "sites": len(self.records),
            "requests": sum(r.requests for r in self.records),
            "at_the_same_time": sum(r.overlaps for r in self.records),
            "shortest_gap_ms": round(min(gaps, default=0) * 1000, 1),
        }


def demo(
    *,
    size: int = 150,
    seed: int = 1,
    end: Annotated[bool, Parameter(name=("--exit", "--once"))] = False,
    stay: bool = False,
    json: AsJson = False,
) -> int:
    """Run the whole pipeline over a simulated town, and compare with the truth.

    Business websites of many kinds on this machine's loopback; no internet, no key. The
    application stays open on the result until Ctrl-C, or until the terminal is closed. Where nobody
    sits at a terminal it ends with the result. Every demo begins with an empty database of its
    own: what was done in the last one is gone.

    Parameters
    ----------
    size
        How many businesses the town has.
    seed
        Another number is another town.
    end
        End with the result, instead of keeping the application open on it.
    stay
        Keep it open though this is no terminal.
    """
    end_with(os.getppid())
    settings = load_settings().settings
    configure_logs("ERROR", settings.log_format)
    console = plain_console(stderr=json)
    home = settings.data_dir / "demo"
    is_exact = False
    with stop_on_signals(), a_listener(settings.host, settings.port) as listener:
        forget_last_demo(home)
        with EmbeddedPostgres(home, report=say) as server:
            target = parse_target(server.url, pooler=False)
            run_stoppable(prepare(target, settings, say))
            result = asyncio.run(
                show_town(
                    settings,
                    target,
                    listener,
                    console,
                    size=size,
                    seed=seed,
                    stay=stay or (sys.stdout.isatty() and not end),
                )
            )
            is_exact = result.is_exact
            if json:
                print_json(result.as_json())
    return 0 if is_exact else 1


def forget_last_demo(home: Path) -> None:
    """Begin with an empty database; refuse while another demo uses it."""
    if running_postmaster(home / "postgres") is not None:
        probe = EmbeddedPostgres(home)
        probe.start()
        is_orphan = probe.is_owner
        probe.stop()
        if not is_orphan:
            raise AlreadyRunning(
                "Another demo is running.",
                hint="Stop it first (Ctrl-C in its terminal).",
            )
    shutil.rmtree(home, ignore_errors=True)


async def show_town(
    settings: Settings,
    target: Target,
    listener: socket.socket,
    console: Console,
    *,
    size: int,
    seed: int,
    stay: bool,
) -> DemoResult:
    """Run the pipeline over a town in this process; return what was found."""
    async with (
        town_process(size=size, seed=seed) as town,
        town_services(town.endpoint) as services,
    ):
        app = create_app(settings, target, services=services)
        engine = connect(target, name="scrapersky-demo")
        try:
            async with serving(app, listener, settings) as server:
                started = time.monotonic()
                search_run = await begin(engine, settings)
                await show_run(search_run, console, lambda: not server.should_exit)
                seconds = time.monotonic() - started
                # Whoever opens the list now finds what the last contacts have made of it.
                await match_tenant(engine, search_run.actor.tenant_id)
                compared = town.endpoint.truth.compare(await found_facts(engine))
                result = DemoResult(compared, await town.records(), seconds)
                show_result(console, result)
                if stay and not server.should_exit:
                    address = f"http://{settings.host}:{settings.port}"
                    console.print(f"The page stays open at {address}. Ctrl-C ends.")
                    while not server.should_exit:  # noqa: ASYNC110 - uvicorn has no event
                        await asyncio.sleep(0.1)
        finally:
            await engine.dispose()
    return result


@asynccontextmanager
async def serving(
    app: FastAPI, listener: socket.socket, settings: Settings
) -> AsyncIterator[Server]:
    """Serve the application beside other work."""
    server = Server(app, grace=settings.shutdown_grace_seconds)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started and not running.done():  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.02)
        yield server
    finally:
        server.should_exit = True
        await running


async def begin(engine: AsyncEngine, settings: Settings) -> PipelineRun:
    """Queue the search for everything the town has."""
    tenant = await default_tenant(engine)
    user = settings.scheduler_system_user_id
    async with engine.begin() as connection:
        result = await connection.execute(
            insert(PlaceSearch)
            .values(
                tenant_id=tenant,
                created_by=user,
                business_type="",
                location="Seven Quays",
                source=SOURCE,
            )
            .returning(PlaceSearch.id)
        )
        search_id = UUID(str(result.scalar_one()))
    await curation_sdk.control.wake(engine, "place_search")
    return PipelineRun(
        engine, Actor(tenant, user, "demo"), search_id, soon=SOON_SECONDS
    )


async def found_facts(engine: AsyncEngine) -> list[SiteFact]:
    """Read what the pipeline has found, in the form of the truth."""
    async with engine.connect() as connection:
        rows = (await connection.execute(text(FOUND))).all()
    return [SiteFact(domain, FactKind(kind), value) for domain, kind, value in rows]


def show_result(console: Console, result: DemoResult) -> None:
    """Print what was found, missed and wrong, and how politely."""
    table = PlainTable("", "true", "found", "missed", "wrong", "share")
    for score in result.scores:
        table.add_row(
            score.kind.value,
            str(score.true),
            str(score.found),
            str(len(score.missed)),
            str(len(score.wrong)),
            f"{score.share:.1%}",
        )
    console.print(table)
    figures = result.as_json()
    console.print(
        f"{result.seconds:.1f} s. {figures['requests']} requests to {figures['sites']} sites: "
        f"{figures['at_the_same_time']} at the same time, "
        f"never less than {figures['shortest_gap_ms']:.0f} ms apart."
    )
