"""Stages: how they stand, pause and pace."""

from typing import Literal

from cyclopts import App

from scrapersky.cli.commands.options import CARE, AsJson, StageName
from scrapersky.cli.garbage import without_collector

stages = App(
    name="stages",
    group=CARE,
    help="""\
Print depth, rate, oldest item, failures and pauses of every stage.

`scrapersky stages pause NAME` and `resume NAME` stop a stage and let it go on.
""",
)


@stages.default
def show_stages(*, json: AsJson = False) -> None:
    """Print depth, rate, oldest item, failures, limits and pauses of every stage."""
    with without_collector():
        from scrapersky.cli.stages import show as work

    work(json=json)


@stages.command
def pause(stage: StageName, *, why: str = "paused by hand") -> None:
    """Stop a stage from taking more work, in every process.

    Parameters
    ----------
    why
        The reason that everyone sees.
    """
    with without_collector():
        from scrapersky.cli.stages import pause as work

    work(stage, why=why)


@stages.command
def resume(stage: StageName) -> None:
    """Let a paused stage go on."""
    with without_collector():
        from scrapersky.cli.stages import resume as work

    work(stage)


@stages.command(name="set")
def change_stage(
    stage: StageName,
    *,
    pace: Literal["eager", "interval"] | None = None,
    interval_minutes: float | None = None,
    batch_size: int | None = None,
    max_instances: int | None = None,
    concurrency: int | None = None,
    rate_per_minute: int | None = None,
    high_water: int | None = None,
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
    with without_collector():
        from scrapersky.cli.stages import change as work

    work(
        stage,
        {
            "pace": pace,
            "interval_minutes": interval_minutes,
            "batch_size": batch_size,
            "max_instances": max_instances,
            "concurrency": concurrency,
            "rate_per_minute": rate_per_minute,
            "high_water": high_water,
        },
    )


@stages.command
def reset(stage: StageName, *settings: str) -> None:
    """Take back what was changed by `set`: each process has its own settings again.

    Parameters
    ----------
    settings
        Only these, such as `batch_size`; without any, all of them.
    """
    with without_collector():
        from scrapersky.cli.stages import reset as work

    work(stage, settings)
