"""Whether the process lives, and whether it can do its work."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal

import structlog
from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.api.dependency import PUBLIC
from scrapersky.db.connection import explain_state, sqlstate_of
from scrapersky.db.failure import explain
from scrapersky.db.schema import differences
from scrapersky.errors import DatabaseProblem, ScraperSkyError
from scrapersky.kit.build import full_version
from scrapersky.kit.duty_cycle import DutyCycle
from scrapersky.records import METADATA
from scrapersky.records.check import check_writing
from scrapersky.scheduler.alert_monitor import free_disk
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.schedule import JobSchedule
from scrapersky.scheduler.self_check import MIN_DISK_BYTES, SelfCheck

log = structlog.get_logger(__name__)
router = APIRouter(prefix="/health", tags=["health"], dependencies=[PUBLIC])

CHECK_SECONDS = 3.0
"""Seconds a check may take before it counts as failed."""

REST_SHARE = 20
"""A costly check is not made again for so many times as long as it took: anyone may ask."""

Check = Callable[[], Awaitable[str | None]]
"""Returns what is wrong, or None."""


class Liveness(BaseModel):
    """The process answers."""

    status: Literal["alive"] = "alive"
    version: str = Field(default_factory=full_version, examples=["0.4.0+1c9ae3f2"])


class Readiness(BaseModel):
    """Each thing the process needs, and whether it is there."""

    status: Literal["ready", "not ready"]
    checks: dict[str, str]
    version: str = Field(default_factory=full_version, examples=["0.4.0+1c9ae3f2"])


def checks_of(request: Request) -> Mapping[str, Check]:
    """Give the checks this application was built with."""
    found: Mapping[str, Check] = request.app.state.checks
    return found


@router.get("/live", operation_id="is_alive")
async def live() -> Liveness:
    """Report that the process lives; asks nobody else."""
    return Liveness()


@router.get("/ready", operation_id="is_ready", responses={503: {"model": Readiness}})
async def ready(
    response: Response, checks: Annotated[Mapping[str, Check], Depends(checks_of)]
) -> Readiness:
    """Say whether the process can do its work: 200, or 503 with what is missing."""
    found = await asyncio.gather(*(outcome(check) for check in checks.values()))
    results = dict(zip(checks, found, strict=True))
    if all(result == "ok" for result in found):
        return Readiness(status="ready", checks=results)
    log.warning("health.not_ready", **results)
    response.status_code = 503
    return Readiness(status="not ready", checks=results)


async def outcome(check: Check) -> str:
    """Run one check; whatever it does, there is an answer soon."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await check() or "ok"
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:.0f} seconds"
    except (OSError, SQLAlchemyError, ScraperSkyError) as error:
        log.warning("health.check_failed", error=str(error))
        why = reason_of(error)
        return f"failed: {why}" if why else "failed; the log has the reason"


def reason_of(error: Exception) -> str | None:
    """Say what state the database is in, without what only operators may know."""
    cause = error.__cause__ if isinstance(error, ScraperSkyError) else error
    if not isinstance(cause, Exception):
        return None
    # A transaction of ours that only reads is no reason for this check to fail.
    state = explain_state(sqlstate_of(cause)) or explain(cause)
    return str(state).rstrip(".") if isinstance(state, DatabaseProblem) else None


def database_checks(engine: AsyncEngine) -> dict[str, Check]:
    """Check that the database answers and holds the schema this code needs."""

    async def database() -> str | None:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT 1"))
        return None

    seldom, found = DutyCycle(REST_SHARE), 0

    async def migrations() -> str | None:
        nonlocal found
        with seldom.turn() as is_due:
            if is_due:
                async with engine.connect() as connection:
                    found = len(await connection.run_sync(differences, METADATA))
        return f"{found} differences; run `scrapersky doctor`" if found else None

    rest = DutyCycle(REST_SHARE)
    refusal: str | None = None

    async def writing() -> str | None:
        nonlocal refusal
        with rest.turn() as is_due:
            if is_due:
                refusal = await write_refusal(engine)
        return refusal

    return {"database": database, "migrations": migrations, "writing": writing}


async def write_refusal(engine: AsyncEngine) -> str | None:
    """Try to write a row; return what is wrong, without what only operators may know."""
    try:
        await check_writing(engine)
    except ScraperSkyError as error:
        log.warning("health.cannot_write", error=str(error))
        why = reason_of(error)
        return (
            f"no row can be written{f': {why}' if why else ''}; run `scrapersky doctor`"
        )
    return None


def disk_checks(data_dir: Path) -> dict[str, Check]:
    """Check that there is room where the data is: a database without any cannot write."""

    async def disk() -> str | None:
        free = free_disk(data_dir)
        return None if free >= MIN_DISK_BYTES else f"only {free >> 20} MiB are free"

    return {"disk": disk}


def scheduler_checks(schedule: JobSchedule) -> dict[str, Check]:
    """Check that the scheduler ticks and that every job could be registered."""

    async def scheduler() -> str | None:
        if schedule.problems:
            return f"not registered: {', '.join(schedule.problems)}"
        return None if schedule.is_running else "it does not tick"

    return {"scheduler": scheduler}


def worker_checks(background: Background) -> dict[str, Check]:
    """Check that this process is fit to work; one that is asked to drain still is."""

    async def machine() -> str | None:
        check = background.tools.health
        return check.why if isinstance(check, SelfCheck) else None

    return {"machine": machine}
