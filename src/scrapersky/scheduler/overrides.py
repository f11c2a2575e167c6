"""Settings of stages that operators change while processes run, for all of them."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.db.transaction import Database, transaction
from scrapersky.errors import InvalidStageSettings
from scrapersky.pipeline.stage_settings import StageSettings
from scrapersky.records import StageOverride
from scrapersky.settings import Settings

Changes = Mapping[str, Any]
"""Settings by their names without the prefix."""

CHANGEABLE: Final = (
    "pace",
    "interval_minutes",
    "batch_size",
    "max_instances",
    "concurrency",
    "rate_per_minute",
    "high_water",
)
"""What can be changed without a restart."""


async def stored_changes(database: Database) -> dict[str, Changes]:
    """Return what was changed, by stage."""
    query = select(StageOverride.stage, StageOverride.changes)
    async with transaction(database) as connection:
        rows = (await connection.execute(query)).all()
    return {row.stage: row.changes for row in rows}


async def change_settings(
    connection: AsyncConnection, settings: Settings, stage: str, changes: Changes
) -> Changes:
    """Store changes of one stage and return all that hold for it now.

    None takes a change back. Every process applies them within seconds.
    """
    await connection.execute(
        text("LOCK TABLE stage_overrides IN SHARE ROW EXCLUSIVE MODE")
    )
    before = (await stored_changes(connection)).get(stage, {})
    merged = {**before, **changes}
    held = {name: value for name, value in merged.items() if value is not None}
    changed(stage, settings.stages[stage], held)
    if held:
        await connection.execute(
            insert(StageOverride)
            .values(stage=stage, changes=held)
            .on_conflict_do_update(
                index_elements=[StageOverride.stage],
                set_={"changes": held, "changed_at": text("clock_timestamp()")},
            )
        )
    else:
        await connection.execute(
            delete(StageOverride).where(StageOverride.stage == stage)
        )
    return held


def changed(stage: str, given: StageSettings, changes: Changes) -> StageSettings:
    """Return the settings of a stage with some of them changed, or say why not."""
    try:
        return type(given).model_validate({**given.model_dump(), **changes})
    except ValidationError as error:
        wrong = {
            ".".join(map(str, one["loc"])): one["msg"].removeprefix("Value error, ")
            for one in error.errors()
        }
        reasons = "; ".join(f"{name}: {reason}" for name, reason in wrong.items())
        raise InvalidStageSettings(
            f"The settings of {stage} cannot be changed so: {reasons}.", wrong=wrong
        ) from error


def changeable(settings: Settings, stage: str) -> dict[str, Any]:
    """Return what holds for a stage of all that can be changed without a restart."""
    given = settings.stages[stage].model_dump(include=set(CHANGEABLE))
    return {**given, "pace": settings.pace_of(stage)}


def with_changes(
    settings: Settings,
    changes: Mapping[str, Changes],
    *,
    refused: Callable[[InvalidStageSettings], None] = lambda _: None,
) -> Settings:
    """Return the settings with what was changed.

    A change that contradicts what this process was started with is left out and
    given to `refused`.
    """
    stages = dict(settings.stages)
    for stage in stages.keys() & changes.keys():
        try:
            stages[stage] = changed(stage, stages[stage], changes[stage])
        except InvalidStageSettings as error:
            refused(error)
    return settings.model_copy(update={"stages": stages})
