"""A stage of the pipeline: its queue, its work, and everything people see of it.

One call of `@stage` says it all. The schedule, the settings, the dashboards, the command
line, the page and the reference are made from these declarations.
"""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeVar

import curation_sdk
from curation_sdk import Outcome, Stage
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.records.work_queue import WorkQueue

ItemT = TypeVar("ItemT")
WORKFLOW = re.compile(r"(wf\d+)_")


class Lane(StrEnum):
    """The three parts of the pipeline, as people see them."""

    FIND = "Find businesses"
    MAP = "Map their websites"
    HARVEST = "Harvest contacts"


@dataclass(frozen=True, slots=True)
class StageJob:
    """The job of the schedule that drains a stage: its id, and the name people read."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Endings:
    """How the work on an item can end other than with a result, in words."""

    empty: str | None = None
    """What is done, though there was nothing to find."""
    fails: str | None = None
    """What is never tried again."""
    retries: str | None = None
    """What is tried again later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineStage(Stage[ItemT, Tools]):
    """A stage of the SDK, and what people see of it."""

    title: str
    does: str
    """What it does, in a few words that follow its title."""
    hands_over: str
    """What stands in the database when it is done."""
    makes: type[Any] | None = None
    """The records it makes, if it makes any."""
    lane: Lane
    job: StageJob
    settings: SettingsSection[StageSettings]
    endings: Endings = field(default_factory=Endings)

    @property
    def workflow(self) -> str | None:
        """The workflow it belongs to, by the name of its file: `wf7`."""
        return workflow_of(self.work)


AnyPipelineStage = PipelineStage[Any]


def workflow_of(work: Callable[..., Any]) -> str | None:
    """Return the workflow that a function belongs to, by the name of its file."""
    found = WORKFLOW.match(work.__module__.rpartition(".")[2])
    return found[1] if found else None


def stage(
    name: str,
    *,
    queue: WorkQueue,
    title: str,
    does: str,
    hands_over: str,
    lane: Lane,
    job: StageJob,
    settings: SettingsSection[StageSettings],
    makes: type[Any] | None = None,
    feeds: tuple[str, ...] = (),
    endings: Endings | None = None,
) -> Callable[[Callable[[ItemT, Tools], Awaitable[Outcome]]], PipelineStage[ItemT]]:
    """Declare a stage of the pipeline; what is decorated works one of its items."""
    numbers = settings.defaults

    def declare(
        work: Callable[[ItemT, Tools], Awaitable[Outcome]],
    ) -> PipelineStage[ItemT]:
        made: Stage[ItemT, Tools] = curation_sdk.stage(
            name,
            claims=queue.column,
            error=queue.error,
            tenant=queue.record.tenant_id,
            priority=queue.priority,
            queued=queue.queued,
            processing=queue.processing,
            done=queue.done,
            failed=queue.failed,
            feeds=feeds,
            batch=numbers.batch_size,
            concurrency=numbers.concurrency,
            timeout=numbers.timeout,
            lease=numbers.lease,
            max_attempts=numbers.max_attempts,
            # `scrapersky.wf7.page_curation`: a level may be given to a whole workflow.
            logger=".".join(filter(None, ("scrapersky", workflow_of(work), name))),
        )(work)
        return PipelineStage(
            **{each.name: getattr(made, each.name) for each in fields(made)},
            title=title,
            does=does,
            hands_over=hands_over,
            makes=makes,
            lane=lane,
            job=job,
            settings=settings,
            endings=endings or Endings(),
        )

    return declare
