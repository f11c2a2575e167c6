"""The demo town beside the running system: for the first look at an empty page."""

from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from sqlalchemy import insert, select
from sqlalchemy.ext.asyncio import AsyncConnection
from starlette.exceptions import HTTPException

import curation_sdk
from scrapersky.api.auth.identity import Identity, Permission
from scrapersky.api.dependency import Transaction, actor_of, allow
from scrapersky.api.operations.state import Operations, OperationsState
from scrapersky.api.problem import Problem
from scrapersky.api.records.schema import Strict
from scrapersky.curation.condition import Comparison, Condition
from scrapersky.curation.rule import save_rule
from scrapersky.demo.locale import LOCALES, load_locale
from scrapersky.demo.source import NAME as SOURCE
from scrapersky.demo.town import DEFAULT_SIZE
from scrapersky.records import PlaceSearch
from scrapersky.records.audit import Actor, note
from scrapersky.records.status import TaskStatus
from scrapersky.scheduler.annex import ENDING

router = APIRouter(prefix="/api/v3/demo", tags=["demo"])

PLACE: Final = "Seven Quays"
REFUSALS: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": Problem, "description": "It may not be started here, or not by you"},
    409: {
        "model": Problem,
        "description": "Another process of this system has the town open",
    },
}
OPEN: Final = (TaskStatus.QUEUED, TaskStatus.IN_PROGRESS, TaskStatus.PAUSED)


class DemoIn(Strict):
    """How the town shall be."""

    size: int = Field(DEFAULT_SIZE, ge=10, le=1_000, description="Businesses in it.")
    seed: int = Field(1, ge=1, le=1_000_000, description="Another is another town.")
    decide: bool = Field(
        default=False,
        description="Let rules decide what a person would, so that it runs to its end.",
    )


class DemoOut(BaseModel):
    """Whether the town can be visited, and how far its search is."""

    is_available: bool = Field(description="Whether it may be started here.")
    is_running: bool
    place: str = Field(examples=[PLACE])
    size: int | None = None
    seed: int | None = None
    started_at: datetime | None = None
    search_id: UUID | None = None
    search_status: TaskStatus | None = None


@router.get("", operation_id="read_demo")
async def read_demo(
    who: Annotated[Identity, allow(Permission.READ)],
    operations: Operations,
    connection: Transaction,
) -> DemoOut:
    """Tell whether the demo town can be started, runs, and how far its search is."""
    return await state(operations, who, connection)


@router.post("", operation_id="start_demo", responses=REFUSALS)
async def start_demo(
    who: Annotated[Identity, allow(Permission.OPERATE, hidden=True)],
    request: Request,
    operations: Operations,
    connection: Transaction,
    body: DemoIn | None = None,
) -> DemoOut:
    """Open the demo town beside the running system and search it.

    In development and on a laptop only. Nothing else changes: only names of the town
    lead there, and no packet of the town leaves the machine.
    """
    if not may_start(operations, who):
        raise HTTPException(404)
    wanted = body or DemoIn()
    await operations.town.open(wanted.size, wanted.seed)
    actor = actor_of(who, request)
    if wanted.decide:
        for rule in rules():
            await save_rule(connection, actor, **rule)
    if await open_search(connection, who.tenant_id) is None:
        await search_town(connection, actor)
        await note(connection, actor, "started", "demo town", wanted.model_dump())
    return await state(operations, who, connection)


def may_start(operations: OperationsState, who: Identity) -> bool:
    """Tell whether someone may start the town here."""
    is_home = operations.settings.environment.is_development or who.via == "local"
    return is_home and who.may(Permission.OPERATE) and not lives_in_town(operations)


def lives_in_town(operations: OperationsState) -> bool:
    """Tell whether this whole process is a demo, with no real world to be beside."""
    return (
        SOURCE in operations.background.tools.sources
        and operations.town.running is None
    )


async def state(
    operations: OperationsState, who: Identity, connection: AsyncConnection
) -> DemoOut:
    """Tell how the town and its latest search stand."""
    running = operations.town.running
    query = (
        select(PlaceSearch.id, PlaceSearch.status)
        .where(PlaceSearch.tenant_id == who.tenant_id, PlaceSearch.source == SOURCE)
        .order_by(PlaceSearch.created_at.desc())
        .limit(1)
    )
    latest = (await connection.execute(query)).one_or_none()
    return DemoOut(
        is_available=may_start(operations, who),
        is_running=running is not None or lives_in_town(operations),
        place=PLACE,
        size=running.town.invitation.size if running else None,
        seed=running.town.invitation.seed if running else None,
        started_at=running.started_at if running else None,
        search_id=latest.id if latest else None,
        search_status=latest.status if latest else None,
    )


async def open_search(connection: AsyncConnection, tenant_id: UUID) -> UUID | None:
    """Return the search of the town that is not over, if there is one."""
    query = select(PlaceSearch.id).where(
        PlaceSearch.tenant_id == tenant_id,
        PlaceSearch.source == SOURCE,
        PlaceSearch.status.in_(OPEN),
    )
    found: UUID | None = await connection.scalar(query.limit(1))
    return found


async def search_town(connection: AsyncConnection, actor: Actor) -> None:
    """Queue the search for everything the town has."""
    await connection.execute(
        insert(PlaceSearch).values(
            tenant_id=actor.tenant_id,
            created_by=actor.user_id,
            business_type="",
            location=PLACE,
            source=SOURCE,
        )
    )
    await curation_sdk.wake(connection, "place_search")


def rules() -> list[dict[str, Any]]:
    """Say what a person would decide in the town, as rules that anyone can look at."""
    towns = dict.fromkeys(load_locale(name).town for name in LOCALES)
    in_town = Condition(field="url", comparison=Comparison.CONTAINS, value=f"{ENDING}/")
    return [
        {
            "name": "Demo town: every place",
            "kind": "places",
            "status": "Selected",
            "conditions": [Condition(field="source", value=SOURCE)],
        },
        {
            "name": "Demo town: every business",
            "kind": "businesses",
            "status": "Selected",
            "conditions": [
                Condition(field="city", comparison=Comparison.ONE_OF, value=[*towns])
            ],
        },
        {
            "name": "Demo town: every sitemap",
            "kind": "sitemap_files",
            "status": "Selected",
            "conditions": [
                in_town,
                Condition(
                    field="sitemap_type",
                    comparison=Comparison.NOT_EQUAL,
                    value="index",
                ),
            ],
        },
        {
            "name": "Demo town: every page like a contact page",
            "kind": "pages",
            "status": "Selected",
            "conditions": [
                in_town,
                Condition(
                    field="contact_likelihood",
                    comparison=Comparison.AT_LEAST,
                    value=0.3,
                ),
            ],
        },
    ]
