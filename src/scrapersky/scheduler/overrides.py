"""Settings of stages that operators change while processes run, for all of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError
from sqlalchemy import delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.db.transaction import Database, transaction
from scrapersky.errors import InvalidStageSettings
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.stage_settings import StageSettings
from scrapersky.records import StageOverride
from scrapersky.settings import SECTIONS, Settings


@dataclass(frozen=True, slots=True)
class SettingChange:
    """What one setting of a stage was changed to, by whom and when."""

    value: Any
    by: str | None
    """As the audit log calls them; None if a version wrote it that did not say."""
    at: datetime

    @property
    def origin(self) -> str:
        """Where the value comes from, in words."""
        who = f" by {self.by}" if self.by else ""
        return f"changed{who} on {self.at:%Y-%m-%d}"


Changes = Mapping[str, Any]
"""Values by the names of settings without the prefix; None takes a change back."""
StageChanges = Mapping[str, SettingChange]
"""What was changed of one stage, by the names of settings without the prefix."""

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


async def stored_changes(database: Database) -> dict[str, StageChanges]:
    """Return what was changed, by stage."""
    async with transaction(database) as connection:
        rows = (await connection.execute(select(StageOverride))).all()
    return {row.stage: read_changes(row) for row in rows}


def read_changes(row: Any) -> StageChanges:  # noqa: ANN401 - a row of StageOverride
    """Read what was changed of one stage; a version before this one names nobody."""
    found = {}
    for name, value in row.changes.items():
        origin = row.origins.get(name)
        at = datetime.fromisoformat(origin["at"]) if origin else row.changed_at
        found[name] = SettingChange(value, origin["by"] if origin else None, at)
    return found


async def change_settings(
    connection: AsyncConnection,
    settings: Settings,
    stage: str,
    changes: Changes,
    *,
    by: str,
) -> StageChanges:
    """Store changes of one stage and return all that are stored for it now.

    None takes a change back. Every process applies them within seconds.
    """
    await connection.execute(
        text("LOCK TABLE stage_overrides IN SHARE ROW EXCLUSIVE MODE")
    )
    before = (await stored_changes(connection)).get(stage, {})
    if unknown := changes.keys() - before.keys() - set(CHANGEABLE):
        raise InvalidStageSettings(
            f"{', '.join(sorted(unknown))} cannot be changed without a restart.",
            hint=f"What can be: {', '.join(CHANGEABLE)}.",
        )
    now = utc_now()
    asked = {name: SettingChange(value, by, now) for name, value in changes.items()}
    merged = {**before, **asked}
    held = {name: one for name, one in merged.items() if one.value is not None}
    refuse_contradiction(stage, settings.stages[stage], before=before, after=held)
    if not held:
        await clear_settings(connection, stage)
        return held
    values = {
        "changes": {name: one.value for name, one in held.items()},
        "origins": {
            name: {"by": one.by, "at": one.at.isoformat()} for name, one in held.items()
        },
        "changed_at": text("clock_timestamp()"),
    }
    await connection.execute(
        insert(StageOverride)
        .values(stage=stage, **values)
        .on_conflict_do_update(index_elements=[StageOverride.stage], set_=values)
    )
    return held


async def clear_settings(connection: AsyncConnection, stage: str) -> bool:
    """Take back all that was changed of a stage, known or not; say whether anything was."""
    rows = await connection.execute(
        delete(StageOverride)
        .where(StageOverride.stage == stage)
        .returning(StageOverride.stage)
    )
    return rows.first() is not None


def refuse_contradiction(
    stage: str, given: StageSettings, *, before: StageChanges, after: StageChanges
) -> None:
    """Raise InvalidStageSettings if a change does not hold, or keeps an older one from it.

    What was stored before and did not hold then is no reason to refuse another change.
    """
    _, wrong = apply_changes(given, after)
    _, known = apply_changes(given, before)
    new = {
        name: reason
        for name, reason in wrong.items()
        if name not in known or after[name] != before[name]
    }
    if new:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in new.items())
        raise InvalidStageSettings(
            f"The settings of {stage} cannot be changed so: {reasons}.", wrong=new
        )


def apply_changes(
    given: StageSettings, changes: StageChanges
) -> tuple[StageSettings, dict[str, str]]:
    """Return the settings of a stage with its changes, and why some of them do not hold."""
    wrong: dict[str, str] = {}
    while True:
        refused: dict[str, str] = {}
        for name in wrong or changes:
            try:
                given = with_change(given, name, changes[name].value)
            except ValueError as error:
                refused[name] = reason_of(error)
        # One that holds may make room for another: a higher mark for a larger batch.
        if not refused or refused.keys() == wrong.keys():
            return given, refused
        wrong = refused


def with_change(given: StageSettings, name: str, value: object) -> StageSettings:
    """Return the settings of a stage with one of them changed, or raise ValueError."""
    if name not in CHANGEABLE:
        raise ValueError("it cannot be changed without a restart")
    return type(given).model_validate({**given.model_dump(), name: value})


def reason_of(error: ValueError) -> str:
    """Say why a value is refused."""
    if isinstance(error, ValidationError):
        said = (one["msg"].removeprefix("Value error, ") for one in error.errors())
        return "; ".join(said)
    return str(error)


def changeable(settings: Settings, stage: str) -> dict[str, Any]:
    """Return what holds for a stage of all that can be changed without a restart."""
    given = settings.stages[stage].model_dump(include=set(CHANGEABLE))
    return {**given, "pace": settings.pace_of(stage)}


def with_changes(settings: Settings, changes: Mapping[str, StageChanges]) -> Settings:
    """Return the settings with what was changed of them, as far as it holds."""
    stages = {
        stage: apply_changes(given, changes.get(stage, {}))[0]
        for stage, given in settings.stages.items()
    }
    return settings.model_copy(update={"stages": stages})


def origins_of_changes(
    settings: Settings, changes: Mapping[str, StageChanges]
) -> dict[str, str]:
    """Say of each variable that was changed, and holds so, by whom and when."""
    return {
        f"{SECTIONS['stages', stage].prefix}_{name.upper()}": changed[name].origin
        for stage, changed in changes.items()
        if stage in settings.stages
        for name in changed.keys() - apply_changes(settings.stages[stage], changed)[1]
    }


def useless_changes(
    settings: Settings, changes: Mapping[str, StageChanges]
) -> Iterator[str]:
    """Say of each change that does not hold why not, and how to take it back."""
    for stage, changed in changes.items():
        if stage not in settings.stages:
            names = ", ".join(f"{name} ({one.origin})" for name, one in changed.items())
            yield (
                f"Settings of {stage} have no effect, since there is no such stage in this "
                f"version: {names}. `scrapersky stages reset {stage}` clears them."
            )
            continue
        _, wrong = apply_changes(settings.stages[stage], changed)
        for name, reason in wrong.items():
            yield (
                f"{name}={changed[name].value} of {stage} ({changed[name].origin}) has no "
                f"effect: {reason}. `scrapersky stages reset {stage} {name}` clears it."
            )
