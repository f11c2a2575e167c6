"""`scrapersky stages`."""

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal

import orjson
from cyclopts import App
from sqlalchemy.ext.asyncio import AsyncEngine

import curation_sdk
from scrapersky.cli.database import a_database
from scrapersky.cli.operator import note_operation, operator_name
from scrapersky.cli.options import CARE, AsJson, StageName
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.cli.table import PlainTable, print_done, print_table
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target, connect
from scrapersky.errors import InvalidStageSettings
from scrapersky.kit.clock import utc_now
from scrapersky.reporting.stage_counts import count_stages
from scrapersky.reporting.stage_stats import full_queues, waiting_for_anyone
from scrapersky.scheduler.overrides import (
    Changes,
    change_settings,
    clear_settings,
    stored_changes,
    useless_changes,
    with_changes,
)
from scrapersky.stages import stage_named

stage_commands = App(
    name="stages",
    group=CARE,
    help="""\
Print depth, rate, oldest item, failures and pauses of every stage.

`scrapersky stages pause NAME` and `resume NAME` stop a stage and let it go on.
""",
)


@dataclass(frozen=True, slots=True)
class StageLine:
    """One stage as an operator sees it."""

    stage: str
    queued: int
    working: int
    done: int
    failed: int
    per_second: float
    oldest_seconds: float | None
    pace: str
    held_back: str | None
    paused: str | None
    changed: Changes
    origins: Mapping[str, str]


@stage_commands.default
def show(*, json: AsJson = False) -> None:
    """Print depth, rate, oldest item, failures, limits and pauses of every stage."""
    lines, useless = on_database(look)
    for why in useless:
        print(f"Warning: {why}", file=sys.stderr)
    if json:
        print(orjson.dumps([asdict(line) for line in lines]).decode())
        return
    table = PlainTable(
        "stage", "queued", "working", "done", "failed", "per second", "oldest", "pace",
        "held back", "paused",
    )  # fmt: skip
    for line in lines:
        oldest = f"{line.oldest_seconds:.0f} s" if line.oldest_seconds else ""
        numbers = (line.queued, line.working, line.done, line.failed)
        table.add_row(
            line.stage,
            *(str(number) for number in numbers),
            f"{line.per_second:.1f}",
            oldest,
            pace_and_changes(line),
            line.held_back or "",
            line.paused or "",
        )
    print_table(table, whole=("stage",))


def pace_and_changes(line: StageLine) -> str:
    """Say when a stage works, and what was changed of it without a restart."""
    changed = ", ".join(
        f"{name}={value} {line.origins[name]}" for name, value in line.changed.items()
    )
    return f"{line.pace} ({changed})" if changed else line.pace


@stage_commands.command
def pause(
    stage: StageName, *, why: str = "paused by hand", json: AsJson = False
) -> None:
    """Stop a stage from taking more work, in every process.

    Parameters
    ----------
    why
        The reason that everyone sees.
    """

    async def act(engine: AsyncEngine) -> None:
        await curation_sdk.control.pause(engine, stage, why)
        await note_operation(engine, "paused", f"stage {stage}", {"reason": why})

    on_database(act)
    print_done(f"{stage} is paused.", {"stage": stage, "paused": why}, as_json=json)


@stage_commands.command
def resume(stage: StageName, *, json: AsJson = False) -> None:
    """Let a paused stage go on."""

    async def act(engine: AsyncEngine) -> None:
        await curation_sdk.control.resume(engine, stage)
        await note_operation(engine, "resumed", f"stage {stage}", {})

    on_database(act)
    facts = {"stage": stage, "paused": None}
    print_done(f"{stage} is running again.", facts, as_json=json)


@stage_commands.command(name="set")
def change(
    stage: StageName,
    *,
    pace: Literal["eager", "interval"] | None = None,
    interval_minutes: float | None = None,
    batch_size: int | None = None,
    max_instances: int | None = None,
    concurrency: int | None = None,
    rate_per_minute: int | None = None,
    high_water: int | None = None,
    json: AsJson = False,
) -> None:
    """Change the pace and the limits of a stage in every process, without a restart.

    Parameters
    ----------
    pace
        When it works: the moment a row is queued, or only when its job runs.
    interval_minutes
        Minutes between two runs of its job.
    batch_size
        Rows claimed at once; at the pace `interval`, in one run.
    max_instances
        Runs of its job at the same time.
    concurrency
        Items that one process works on at once.
    rate_per_minute
        Items begun within any 60 seconds at most.
    high_water
        Rows that may be queued for it; 0 means no limit.
    """
    asked = {
        "pace": pace,
        "interval_minutes": interval_minutes,
        "batch_size": batch_size,
        "max_instances": max_instances,
        "concurrency": concurrency,
        "rate_per_minute": rate_per_minute,
        "high_water": high_water,
    }
    changes = {name: value for name, value in asked.items() if value is not None}
    if not changes:
        raise InvalidStageSettings(
            "Nothing was given to change.", hint="`scrapersky stages set --help`"
        )
    store(stage, changes)
    said = f"{stage} is changed; every process follows within seconds."
    print_done(said, {"stage": stage, "changed": changes}, as_json=json)


@stage_commands.command
def reset(stage: StageName, *settings: str, json: AsJson = False) -> None:
    """Take back what was changed by `set`: each process has its own settings again.

    Parameters
    ----------
    settings
        Only these, such as `batch_size`; without any, all of them.
    """
    if settings:
        names = (name.lower().replace("-", "_") for name in settings)
        store(stage, dict.fromkeys(names))
    else:
        on_database(partial(clear, stage))
    what = f"{', '.join(settings)} of {stage}" if settings else stage
    said = f"{what} is again as its processes were started."
    print_done(said, {"stage": stage, "reset": settings or None}, as_json=json)


async def clear(stage: str, engine: AsyncEngine) -> None:
    """Take back all that was changed of a stage, also of one that is gone."""
    async with engine.begin() as connection:
        if not await clear_settings(connection, stage):
            stage_named(stage)
    await note_operation(engine, "changed", f"stage {stage}", {"reset": True})


def store(stage: str, changes: Changes) -> None:
    """Store changes of a stage's settings, with who made them."""
    stage_named(stage)

    async def act(engine: AsyncEngine) -> list[str]:
        settings = load_settings().settings
        async with engine.begin() as connection:
            held = await change_settings(
                connection, settings, stage, changes, by=operator_name()
            )
        await note_operation(engine, "changed", f"stage {stage}", dict(changes))
        return [*useless_changes(settings, {stage: held})]

    for why in on_database(act):
        print(f"Warning: {why}", file=sys.stderr)


async def look(engine: AsyncEngine) -> tuple[list[StageLine], list[str]]:
    """Gather what there is to say about every stage, and of changes that do not hold."""
    changes = await stored_changes(engine)
    started_with = load_settings().settings
    settings = with_changes(started_with, changes)
    known = {state.name: state for state in await curation_sdk.control.states(engine)}
    marks = {name: given.high_water for name, given in settings.stages.items()}
    held_back = full_queues(await waiting_for_anyone(engine), marks)
    lines = []
    for count in await count_stages(engine):
        state, changed = known.get(count.stage), changes.get(count.stage, {})
        waits = (
            await curation_sdk.control.oldest(engine, count.stage) if state else None
        )
        speed = await curation_sdk.control.rate(engine, count.stage) if state else 0.0
        lines.append(
            StageLine(
                stage=count.stage,
                queued=count.queued,
                working=count.working,
                done=count.done,
                failed=count.failed,
                per_second=speed,
                oldest_seconds=age(waits),
                pace=settings.pace_in_words(count.stage),
                held_back=held_back.get(count.stage),
                paused=state.paused_why if state and state.paused else None,
                changed={name: one.value for name, one in changed.items()},
                origins={name: one.origin for name, one in changed.items()},
            )
        )
    return lines, [*useless_changes(started_with, changes)]


def age(moment: object) -> float | None:
    """Return how long ago a moment was, in seconds."""
    if not isinstance(moment, datetime):
        return None
    return max((utc_now() - moment).total_seconds(), 0.0)


def on_database(act: Any) -> Any:  # noqa: ANN401 - whatever the action returns
    """Do something with the database, whether ScraperSky is running or not."""
    settings = load_settings().settings
    with raised_signals(), a_database(settings) as target:
        return run_stoppable(with_engine(target, act))


async def with_engine(target: Target, act: Any) -> Any:  # noqa: ANN401 - as above
    """Open an engine for one action."""
    engine = connect(target, name="scrapersky-cli", pool_size=1)
    try:
        return await act(engine)
    finally:
        await engine.dispose()
