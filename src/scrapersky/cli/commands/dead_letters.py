"""Items that failed for good."""

from cyclopts import App

from scrapersky.cli.commands.options import CARE, AsJson
from scrapersky.cli.garbage import without_collector

dead_letters = App(
    name="dead-letters",
    group=CARE,
    help="""\
List the items that failed for good; inspect, replay or discard them.
""",
)


@dead_letters.default
def show_dead_letters(
    stage: str | None = None, *, limit: int = 50, json: AsJson = False
) -> None:
    """List the items that failed for good, the latest first.

    Parameters
    ----------
    stage
        Only of this stage.
    limit
        How many at the most.
    """
    with without_collector():
        from scrapersky.cli.dead_letters import show as work

    work(stage, limit=limit, json=json)


@dead_letters.command
def inspect(stage: str, item: str) -> None:
    """Show the whole history of one dead letter.

    Parameters
    ----------
    stage
        The stage it died in.
    item
        Its id.
    """
    with without_collector():
        from scrapersky.cli.dead_letters import inspect as work

    work(stage, item)


@dead_letters.command
def replay(stage: str, *items: str) -> None:
    """Queue dead letters again with all their attempts; none named: the stage's all.

    Parameters
    ----------
    stage
        The stage they died in.
    items
        Their ids.
    """
    with without_collector():
        from scrapersky.cli.dead_letters import replay as work

    work(stage, *items)


@dead_letters.command
def discard(stage: str, *items: str) -> None:
    """Dismiss failed records from the list; they keep their failed status.

    Parameters
    ----------
    stage
        The stage they died in.
    items
        Their ids; none named: the stage's all.
    """
    with without_collector():
        from scrapersky.cli.dead_letters import discard as work

    work(stage, *items)
