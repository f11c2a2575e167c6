"""The system itself: figures for Prometheus, and what an administrator asks first."""

import platform
import shutil
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Admin, SystemTransaction, allow
from scrapersky.api.operations.schedule import (
    JobOut,
    is_ticking,
    jobs_of,
    problems_of,
)
from scrapersky.api.operations.state import Operations, OperationsState
from scrapersky.configuration import VARIABLES, setting_text
from scrapersky.db.revision import current_revision, revisions
from scrapersky.kit.build import full_version
from scrapersky.scheduler.overrides import (
    StageChanges,
    origins_of_changes,
    stored_changes,
    with_changes,
)
from scrapersky.settings import Environment, Settings

router = APIRouter(tags=["system"])


class DatabaseOut(BaseModel):
    """The connection, as far as it concerns who runs it."""

    version: str = Field(examples=["18.6"])
    revision: str | None = Field(examples=["0041_time_ordered_keys"])
    newest_revision: str
    is_up_to_date: bool
    size_bytes: int
    connections: int
    is_embedded: bool


class DiskOut(BaseModel):
    """The disk that holds our data."""

    path: str
    total_bytes: int
    free_bytes: int


class SettingOut(BaseModel):
    """One setting; secrets are masked."""

    name: str = Field(examples=["DOMAIN_SCHEDULER_BATCH_SIZE"])
    value: str
    is_default: bool
    changed: str | None = Field(
        description="By whom and when it was changed while processes run, in words; null "
        "if it is as this process was started.",
        examples=["changed by anna@agency.example on 2026-11-18"],
    )
    description: str


class InsideOut(BaseModel):
    """What only operators of the installation see."""

    python: str
    platform: str
    started_at: datetime
    event_streams: int
    database: DatabaseOut
    disk: DiskOut
    jobs: list[JobOut]
    problems: dict[str, str] = Field(description="Jobs that could not be registered.")
    settings: list[SettingOut]


class SystemOut(BaseModel):
    """The system as its administrators see it."""

    version: str = Field(
        description="The release, and after a plus which build of it.",
        examples=["0.4.0+1c9ae3f2"],
    )
    environment: Environment
    scheduler_runs: bool = Field(
        description="Whether the scheduler ticks in any process."
    )
    inside: InsideOut | None = Field(None, description="For operators only.")


@router.get("/api/v3/system", operation_id="read_system")
async def read_system(
    who: Admin,
    operations: Operations,
    connection: SystemTransaction,
) -> SystemOut:
    """Report what runs here: version, connection, scheduler, disk, settings."""
    jobs = await jobs_of(operations.settings, connection)
    inside = (
        await look_inside(operations, connection, jobs)
        if who.may(Permission.OPERATE)
        else None
    )
    return SystemOut(
        version=full_version(),
        environment=operations.settings.environment,
        scheduler_runs=is_ticking(jobs),
        inside=inside,
    )


@router.get("/metrics", operation_id="read_metrics", response_class=Response)
async def read_metrics(
    who: Annotated[Identity, allow(Permission.METRICS)],  # noqa: ARG001 - checked
    operations: Operations,
) -> Response:
    """Give the figures of this process, and how stages and database stand, to Prometheus.

    They cover all tenants, so give Prometheus an API key of the installation's own tenant
    with the scope `metrics`: it may read them and nothing else.
    """
    return Response(await operations.figures(), media_type=CONTENT_TYPE_LATEST)


async def look_inside(
    operations: OperationsState, connection: AsyncConnection, jobs: list[JobOut]
) -> InsideOut:
    """Gather what operators want to know."""
    usage = shutil.disk_usage(existing(operations.settings.data_dir))
    return InsideOut(
        python=sys.version.partition(" ")[0],
        platform=platform.platform(),
        started_at=operations.started_at,
        event_streams=operations.broker.streams,
        database=await database_of(connection, operations.settings),
        disk=DiskOut(
            path=str(operations.settings.data_dir),
            total_bytes=usage.total,
            free_bytes=usage.free,
        ),
        jobs=jobs,
        problems=problems_of(jobs),
        settings=settings_of(operations.settings, await stored_changes(connection)),
    )


async def database_of(connection: AsyncConnection, settings: Settings) -> DatabaseOut:
    """Ask the database about itself."""
    query = text(
        "SELECT current_setting('server_version') AS version,"
        " pg_database_size(current_database()) AS size, (SELECT count(*)"
        " FROM pg_stat_activity WHERE datname = current_database()) AS connections"
    )
    row = (await connection.execute(query)).one()
    revision = await connection.run_sync(current_revision)
    newest = revisions()[-1]
    return DatabaseOut(
        version=row.version,
        revision=revision,
        newest_revision=newest,
        is_up_to_date=revision == newest,
        size_bytes=row.size,
        connections=row.connections,
        is_embedded=settings.database_url is None,
    )


def settings_of(
    started_with: Settings, changes: Mapping[str, StageChanges]
) -> list[SettingOut]:
    """Show every setting, secrets masked, with what was changed while processes run."""
    settings = with_changes(started_with, changes)
    origins = origins_of_changes(started_with, changes)
    found = []
    for variable in VARIABLES.values():
        value = variable.value_in(settings)
        found.append(
            SettingOut(
                name=variable.name,
                value=setting_text(value),
                is_default=value == variable.default,
                changed=origins.get(variable.name),
                description=variable.description,
            )
        )
    return found


def existing(path: Path) -> Path:
    """Return the nearest directory above that exists."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path
