"""The stages: how they stand, how fast they are, what goes wrong; pause and resume."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

import curation_sdk
from scrapersky.api.dependency import (
    Operator,
    Reader,
    SystemTransaction,
    actor_of,
    after_commit,
)
from scrapersky.api.operations.state import Operations
from scrapersky.api.schema import NOT_FOUND, RequestModel, Word
from scrapersky.api.stage_stats import (
    MAX_MINUTES,
    MOST_CAUSES,
    Counts,
    StageView,
)
from scrapersky.api.title import Line
from scrapersky.pipeline.stage_settings import SchedulerPace
from scrapersky.records.audit import note
from scrapersky.reporting.stage_stats import COUNTED_ROWS
from scrapersky.scheduler.overrides import change_settings
from scrapersky.stages import PIPELINE, STAGES, stage_named

router = APIRouter(prefix="/api/v3/stages", tags=["stages"])
ESTIMATED = f"More than {COUNTED_ROWS:,} is an estimate."


class StageSettingsOut(BaseModel):
    """The settings of a stage that can be changed without a restart."""

    pace: SchedulerPace
    interval_minutes: float = Field(examples=[5])
    batch_size: int = Field(examples=[10])
    max_instances: int = Field(examples=[1])
    concurrency: int = Field(examples=[10])
    rate_per_minute: int | None = Field(None, description="Null is no limit.")
    high_water: int = Field(description="0 is no limit.", examples=[10000])


class StageOverrideOut(BaseModel):
    """A setting of a stage that was changed while processes run."""

    setting: str = Field(examples=["rate_per_minute"])
    value: Any = Field(examples=[30])
    changed_by: str | None = Field(
        description="As the audit log calls them; null if it was changed by a version "
        "that did not write it down.",
        examples=["anna@agency.example"],
    )
    changed_at: datetime
    no_effect: str | None = Field(
        description="Why it does not hold, although it is stored; null if it does.",
        examples=["a batch takes 50 rows, so as many must be allowed to wait"],
    )


class StageOut(BaseModel):
    """One stage of the pipeline, as it stands for this tenant."""

    stage: str = Field(examples=["page_curation"])
    title: str = Field(examples=["Page curation"])
    does: str = Field(examples=["extracts the contacts"])
    lane: str = Field(
        description="The part of the pipeline that it belongs to.",
        examples=["Harvest contacts"],
    )
    kind: str = Field(description="The records it works on.", examples=["pages"])
    makes: str | None = Field(
        None, description="The records it makes.", examples=["contacts"]
    )
    field: str = Field(
        description="The status field that it claims.",
        examples=["page_processing_status"],
    )
    queued_status: str = Field(
        description="The value of that field that queues a record.",
        examples=["Queued"],
    )
    queued: int = Field(examples=[12], description=ESTIMATED)
    working: int = Field(description="In a worker's hands now.", examples=[3])
    waiting_retry: int = Field(
        description="Failed for now; tried again later.", examples=[2]
    )
    held: int = Field(description="Held back with their paused batch.", examples=[0])
    done: int = Field(examples=[240], description=ESTIMATED)
    failed: int = Field(examples=[1], description=ESTIMATED)
    oldest_seconds: float | None = Field(
        None, description="How long the head of the queue has waited.", examples=[4.2]
    )
    rate_per_minute: float = Field(
        description="Settled per minute, over this minute and the last.",
        examples=[60.0],
    )
    eta_seconds: float | None = Field(
        None, description="Until the queue is empty at this rate.", examples=[15.0]
    )
    errors_last_hour: int = Field(
        description="Attempts that failed, also those tried again.", examples=[4]
    )
    paused: str | None = Field(
        None, description="Why it is paused.", examples=["the key is refused"]
    )
    pace: str = Field(
        description="When it works.",
        examples=["at once", "at most 10 every 5 minutes"],
    )
    rate_limit: int | None = Field(
        None,
        description="Items begun a minute at most, over all processes.",
        examples=[30],
    )
    high_water: int | None = Field(
        None,
        description="How many may be queued for it, of all tenants together.",
        examples=[10000],
    )
    held_back: str | None = Field(
        None,
        description="Why it waits although records are queued: a queue it feeds is full.",
        examples=["Page curation has no room: at most 10,000 may wait for it"],
    )
    changed: dict[str, Any] = Field(
        {},
        description="Settings that were changed while processes run, and hold instead of "
        "those they were started with.",
        examples=[{"rate_per_minute": 30}],
    )
    overrides: list[StageOverrideOut] = Field(
        [], description="The same, with who changed each setting and when."
    )
    settings: StageSettingsOut = Field(description="What holds now.")
    started_with: StageSettingsOut = Field(
        description="What would hold without changes: the settings this process was started with."
    )
    next: list[str] = Field(
        description="Stages it hands its results to.", examples=[["contact_validation"]]
    )


class MinuteOut(BaseModel):
    """What a stage settled in one minute."""

    at: datetime
    done: int
    failed: int


class ThroughputOut(BaseModel):
    """One stage's minutes, the oldest first."""

    stage: str
    title: str
    minutes: list[MinuteOut]


class TroubleOut(BaseModel):
    """One cause of failures, lately."""

    stage: str = Field(examples=["domain_metadata"])
    title: str = Field(examples=["Domain metadata"])
    cause: str = Field(examples=["the name does not exist or has no address"])
    count: int = Field(description="Attempts that failed of it.", examples=[17])
    items: int = Field(description="Records it happened to.", examples=[12])
    final: int = Field(description="Attempts that were the last.", examples=[3])
    example: str | None = Field(None, description="One of them in full.")
    first_at: datetime
    last_at: datetime


class PauseIn(RequestModel):
    """Why a stage is paused."""

    reason: Line = Field("paused by hand", examples=["the provider is down"])


class StageSettingsIn(RequestModel):
    """Settings to change; null takes a change back."""

    pace: SchedulerPace | None = None
    interval_minutes: float | None = Field(None, examples=[5])
    batch_size: int | None = Field(None, examples=[10])
    max_instances: int | None = None
    concurrency: int | None = None
    rate_per_minute: int | None = Field(None, examples=[30])
    high_water: int | None = None


@router.get("", operation_id="list_stages")
async def list_stages(who: Reader, operations: Operations) -> list[StageOut]:
    """Report how every stage stands, in the order of the pipeline."""
    views = await operations.stats.stages(who.tenant_id)
    return [StageOut.model_validate(asdict(view)) for view in views]


@router.get("/throughput", operation_id="stage_throughput")
async def throughput(
    who: Reader,
    operations: Operations,
    minutes: Annotated[int, Query(ge=1, le=MAX_MINUTES)] = 60,
) -> list[ThroughputOut]:
    """Report what each stage settled in each of the last minutes."""
    found = await operations.stats.throughput(who.tenant_id, minutes)
    return [
        ThroughputOut(
            stage=stage.name,
            title=stage.title,
            minutes=[minute(at, counts, stage.name) for at, counts in found.items()],
        )
        for stage in PIPELINE
    ]


@router.get("/errors", operation_id="stage_errors")
async def errors(
    who: Reader,
    operations: Operations,
    limit: Annotated[int, Query(ge=1, le=MOST_CAUSES)] = 20,
) -> list[TroubleOut]:
    """Report what failed in the last hour, in words, grouped by cause."""
    found = await operations.stats.trouble(who.tenant_id)
    return [
        TroubleOut(title=STAGES[trouble.stage].title, **asdict(trouble))
        for trouble in found[:limit]
    ]


@router.post(
    "/{stage}/{command}",
    operation_id="control_stage",
    responses=NOT_FOUND,
)
async def control(
    *,
    stage: Word,
    command: Literal["pause", "resume"],
    who: Operator,
    request: Request,
    connection: SystemTransaction,
    operations: Operations,
    body: PauseIn | None = None,
) -> StageOut:
    """Stop a stage from claiming, in every worker at once, or let it claim again.

    What is in hand is finished. A stage works for every tenant, so this is for
    operators only.
    """
    stage_named(stage)
    reason = (body or PauseIn()).reason
    if command == "pause":
        await curation_sdk.control.pause(connection, stage, reason)
    else:
        await curation_sdk.control.resume(connection, stage)
    details = {"reason": reason} if body is not None else None
    actor = actor_of(who, request)
    await note(connection, actor, f"{command}d", f"stage {stage}", details)
    after_commit(request, operations.stats.forget_control)
    # The stats does not see yet what this transaction has done.
    now = {stage: reason if command == "pause" else None}
    return only(stage, await operations.stats.stages(who.tenant_id, now))


@router.patch("/{stage}", operation_id="change_stage", responses=NOT_FOUND)
async def change_stage(
    *,
    stage: Word,
    who: Operator,
    request: Request,
    connection: SystemTransaction,
    operations: Operations,
    body: StageSettingsIn,
) -> StageOut:
    """Change the pace and the limits of a stage in every process, without a restart.

    They hold within seconds, also after a restart, until they are changed again; null
    gives back what each process was started with. What contradicts itself is refused.
    """
    stage_named(stage)
    asked = body.model_dump(mode="json", exclude_unset=True)
    actor = actor_of(who, request)
    held = await change_settings(
        connection, operations.settings, stage, asked, by=actor.name
    )
    await note(connection, actor, "changed", f"stage {stage}", asked)
    after_commit(request, operations.stats.forget_control)
    now = {stage: held}
    return only(stage, await operations.stats.stages(who.tenant_id, changes=now))


def only(stage: str, views: list[StageView]) -> StageOut:
    """Report one stage among all."""
    return StageOut.model_validate(
        asdict(next(view for view in views if view.stage == stage))
    )


def minute(at: datetime, counts: Counts, stage: str) -> MinuteOut:
    """Say what one stage settled in one minute."""
    found = counts.get(stage)
    return MinuteOut(
        at=at,
        done=found.done if found else 0,
        failed=found.failed if found else 0,
    )
