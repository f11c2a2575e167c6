"""`scrapersky demo`."""

import asyncio
import shutil
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

from fastapi import FastAPI
from rich.console import Console
from sqlalchemy import insert, text
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.api.app import create_app
from scrapersky.api.server import Server
from scrapersky.cli.pipeline import PipelineRun, default_tenant, show_run
from scrapersky.cli.prepare import prepare
from scrapersky.cli.signals import run_stoppable, stop_on_signals
from scrapersky.cli.table import PlainTable, plain_console
from scrapersky.cli.up import a_listener, say
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target, connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres, running_postmaster
from scrapersky.demo.apart import town_apart
from scrapersky.demo.log import HostRecord
from scrapersky.demo.source import DemoSource
from scrapersky.demo.town import Invitation
from scrapersky.demo.truth import Comparison, Finding, FindingKind
from scrapersky.errors import AlreadyRunning
from scrapersky.observability.log import configure_logs
from scrapersky.pipeline.mail_server import DnsMailServers
from scrapersky.records import PlaceSearch
from scrapersky.records.audit import Actor
from scrapersky.scheduler.app import World
from scrapersky.settings import Settings

SOON = 10.0
"""Seconds. Sites that hang are part of the show, but nobody wants to wait for them."""
FOUND = """
SELECT d.domain, 'email', c.email FROM contacts c JOIN domains d ON d.id = c.domain_id
WHERE c.email IS NOT NULL
UNION SELECT d.domain, 'phone', k FROM contacts c JOIN domains d ON d.id = c.domain_id,
  jsonb_object_keys(c.phones) AS k
"""


def demo(*, size: int = 300, seed: int = 1, once: bool = False) -> int:
    """Build the town, run the pipeline over it, and compare with the truth."""
    settings = load_settings().settings
    configure_logs("ERROR", settings.log_format)
    console = plain_console()
    home = settings.data_dir / "demo"
    exact = False
    with stop_on_signals(), a_listener(settings.host, settings.port) as listener:
        forget_last_demo(home)
        with EmbeddedPostgres(home, report=say) as server:
            target = parse_target(server.url, pooler=False)
            run_stoppable(prepare(target, settings, say))
            exact = asyncio.run(
                show_town(
                    settings,
                    target,
                    listener,
                    console,
                    size=size,
                    seed=seed,
                    stay=not once,
                )
            )
    return 0 if exact else 1


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
) -> bool:
    """Run the pipeline over a town in this process; say whether all was found."""
    async with (
        town_apart(size=size, seed=seed) as town,
        town.invitation.source() as source,
    ):
        invitation = town.invitation
        app = create_app(settings, target, world=town_world(invitation, source))
        engine = connect(target, name="scrapersky-demo")
        try:
            async with serving(app, listener, settings) as server:
                started = time.monotonic()
                search_run = await begin(engine, settings, source.name)
                await show_run(search_run, console, lambda: not server.should_exit)
                seconds = time.monotonic() - started
                compared = invitation.truth.compare(await findings(engine))
                show_result(console, compared, await town.records(), seconds)
                if stay and not server.should_exit:
                    address = f"http://{settings.host}:{settings.port}"
                    console.print(f"The page stays open at {address}. Ctrl-C ends.")
                    while not server.should_exit:  # noqa: ASYNC110 - uvicorn has no event
                        await asyncio.sleep(0.1)
        finally:
            await engine.dispose()
    return all(not tally.wrong for tally in compared.tallies)


def town_world(invitation: Invitation, source: DemoSource) -> World:
    """Describe the town as the world of a whole process."""
    return World(
        policy=invitation.policy(),
        resolver=invitation.resolver,
        sources={source.name: source},
        mail_servers=DnsMailServers(("127.0.0.1",), invitation.dns_port),
    )


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


async def begin(engine: AsyncEngine, settings: Settings, source: str) -> PipelineRun:
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
                source=source,
            )
            .returning(PlaceSearch.id)
        )
        search_id = UUID(str(result.scalar_one()))
    await curation_sdk.wake(engine, "place_search")
    return PipelineRun(engine, Actor(tenant, user, "demo"), search_id, soon=SOON)


async def findings(engine: AsyncEngine) -> list[Finding]:
    """Read what the pipeline has found, in the form of the truth."""
    async with engine.connect() as connection:
        rows = (await connection.execute(text(FOUND))).all()
    return [Finding(domain, FindingKind(kind), value) for domain, kind, value in rows]


def show_result(
    console: Console,
    compared: Comparison,
    records: Sequence[HostRecord],
    seconds: float,
) -> None:
    """Print what was found, missed and wrong, and how politely."""
    table = PlainTable("", "true", "found", "missed", "wrong", "share")
    for tally in compared.tallies:
        if tally.kind not in {FindingKind.EMAIL, FindingKind.PHONE}:
            continue
        table.add_row(
            tally.kind.value,
            str(tally.true),
            str(tally.found),
            str(len(tally.missed)),
            str(len(tally.wrong)),
            f"{tally.share:.1%}",
        )
    console.print(table)
    gaps = [r.shortest_gap for r in records if r.shortest_gap is not None]
    console.print(
        f"{seconds:.1f} s. {sum(r.requests for r in records)} requests to {len(records)} sites: "
        f"{sum(r.overlaps for r in records)} at the same time, "
        f"never less than {min(gaps, default=0) * 1000:.0f} ms apart."
    )
