"""`scrapersky run`."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Literal
from uuid import UUID

from rich.console import Console
from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.cli.database import a_database
from scrapersky.cli.operator import operator
from scrapersky.cli.options import AsJson, PathOrStream
from scrapersky.cli.pipeline import (
    SOON_SECONDS,
    PipelineRun,
    default_tenant,
    show_run,
)
from scrapersky.cli.signals import SIGNALS, raised_signals, run_stoppable
from scrapersky.cli.table import plain_console, print_json
from scrapersky.cli.up import say
from scrapersky.companies.matching import match_tenant
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target
from scrapersky.errors import ConfigurationError, SearchFailed
from scrapersky.export.contacts import STANDARD_OUTPUT, write_csv
from scrapersky.observability.log import configure_logs
from scrapersky.providers.source import Estimate, PlaceQuery
from scrapersky.records import PlaceSearch
from scrapersky.records.audit import Actor, note
from scrapersky.records.status import TaskStatus
from scrapersky.reporting.search_end import finish_searches
from scrapersky.scheduler.app import work
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.prepare import prepare
from scrapersky.scheduler.tools import ExternalServices
from scrapersky.settings import Settings

Source = Literal["osm", "google", "file"]
WHATEVER_COMES = 1e9
"""Seconds: longer than any pause before another try."""


def run(
    search: str,
    *,
    source: Source = "osm",
    limit: int | None = None,
    budget: Decimal | None = None,
    out: PathOrStream = Path("contacts.csv"),
    file: str | None = None,
    wait: bool = False,
    json: AsJson = False,
) -> int:
    """Search, follow every place to its contacts, and write them to a file.

    `scrapersky run "dentists in Austin, TX"` does it all without a person. Ctrl-C keeps what is
    done, and the same command goes on.

    Parameters
    ----------
    search
        What and where: "dentists in Austin, TX".
    source
        Where places come from.
    limit
        At most this many places.
    budget
        Spend at most this much, in US dollars; Google needs it.
    out
        The CSV file to write; - is standard output.
    file
        The file of places, in the data directory's `imports`, for `--source file`.
    wait
        Wait also for what could not be had now and is tried again later, in minutes or hours.
    """
    settings = load_settings().settings
    configure_logs("ERROR", settings.log_format)
    query = read_query(search, source, limit, file)
    with raised_signals(), a_database(settings, say) as target:
        return run_stoppable(
            travel(
                settings,
                target,
                query,
                source=source,
                budget=budget,
                out=out,
                as_json=json,
                soon=WHATEVER_COMES if wait else SOON_SECONDS,
            )
        )


def read_query(
    search: str, source: Source, limit: int | None, file: str | None
) -> PlaceQuery:
    """Split "dentists in Austin, TX" into what and where."""
    what, found, where = search.rpartition(" in ")
    if not found:
        what, where = search, ""
    if source == "file" and not file:
        raise ConfigurationError("--source file needs --file.")
    if source != "file" and not where.strip():
        raise ConfigurationError(
            f"'{search}' does not say where.",
            hint='Write it as "dentists in Austin, TX".',
        )
    return PlaceQuery(
        business_type=what.strip(),
        location=where.strip() or None,
        limit=limit,
        file=file,
    )


async def travel(
    settings: Settings,
    target: Target,
    query: PlaceQuery,
    *,
    source: str,
    budget: Decimal | None,
    out: Path,
    as_json: bool = False,
    soon: float = SOON_SECONDS,
    services: ExternalServices | None = None,
) -> int:
    """Run the pipeline for one search until it is over or someone stops it."""
    await prepare(target, settings, say)
    # What a program reads comes alone.
    console = plain_console(stderr=as_json or str(out) == STANDARD_OUTPUT)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
    async with work(settings, target, services=services) as background:
        engine = background.engine
        show_estimate(console, await background.tools.sources[source].estimate(query))
        if source == "google" and budget is None:
            raise ConfigurationError(
                "Google charges for every request.", hint="Say how much with --budget."
            )
        tenant = await default_tenant(engine)
        actor = operator(tenant, settings.scheduler_system_user_id)
        search_id = await begin(background, actor, query, source, budget)
        search_run = PipelineRun(engine, actor, search_id, soon=soon)
        await show_run(search_run, console, lambda: not stop.is_set())
        # No schedule may have come round to it since the last contact was stored.
        await match_tenant(engine, tenant)
        await finish_searches(engine)
        count = await write_csv(engine, tenant, out, search_id)
        state = await state_of(engine, search_id)
    console.print(f"{count} contacts written to {out}.")
    if as_json:
        print_json(
            {
                "search_id": search_id,
                "status": state.status.value,
                "error": state.error,
                "is_finished": state.followed_at is not None,
                "waiting": search_run.waiting,
                "contacts": count,
                "file": str(out),
            }
        )
    if stop.is_set():
        console.print("Stopped; what is done is kept. The same command goes on.")
    if state.error:
        raise SearchFailed(state.error)
    return 0


def show_estimate(console: Console, estimate: Estimate) -> None:
    """Say what the search will take before it starts."""
    likely = estimate.requests_likely
    requests = (
        f"about {likely}" if likely is not None else f"{estimate.requests_low} or more"
    )
    price = estimate.price_likely
    cost = "free" if not price else f"about {price:.2f} {estimate.currency}"
    console.print(f"{requests} requests, {cost}.")


async def begin(
    background: Background,
    actor: Actor,
    query: PlaceQuery,
    source: str,
    budget: Decimal | None,
) -> UUID:
    """Queue the search, or take up the same one where it stopped."""
    params = query.to_json()
    values = {
        "business_type": params.pop("business_type", ""),
        "location": params.pop("location", None),
        "params": params,
        "source": source,
        "budget": budget,
    }
    known = select(PlaceSearch.id, PlaceSearch.status).where(
        PlaceSearch.tenant_id == actor.tenant_id,
        PlaceSearch.business_type == values["business_type"],
        PlaceSearch.location.is_not_distinct_from(values["location"]),
        PlaceSearch.params == params,
        PlaceSearch.source == source,
    )
    async with background.engine.begin() as connection:
        found = (
            await connection.execute(known.order_by(PlaceSearch.created_at.desc()))
        ).first()
        if found is None:
            result = await connection.execute(
                insert(PlaceSearch)
                .values(tenant_id=actor.tenant_id, created_by=actor.user_id, **values)
                .returning(PlaceSearch.id)
            )
            search_id = UUID(str(result.scalar_one()))
            details = {"search_id": str(search_id)}
            await note(connection, actor, "searched", "searches", details)
        else:
            search_id = found.id
            if found.status is TaskStatus.ERROR:
                await connection.execute(
                    update(PlaceSearch)
                    .where(PlaceSearch.id == search_id)
                    .values(status=TaskStatus.QUEUED, error=None, budget=budget)
                )
    await curation_sdk.control.wake(background.engine, "place_search")
    return search_id


async def state_of(engine: AsyncEngine, search_id: UUID) -> PlaceSearch:
    """Return the search as it stands."""
    async with engine.connect() as connection:
        row = await connection.execute(
            select(PlaceSearch).where(PlaceSearch.id == search_id)
        )
    return row.one()  # type: ignore[return-value]
