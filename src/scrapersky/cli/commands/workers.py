"""The processes that serve and work."""

from cyclopts import App

from scrapersky.cli.commands.options import CARE, AsJson, ProcessName
from scrapersky.cli.garbage import without_collector

workers = App(
    name="workers",
    group=CARE,
    help="""\
List the processes that serve and work: host, version, last sign of life, why one rests.

`scrapersky workers drain NAME` lets one finish what it has and claim nothing more;
`resume NAME` lets it claim again.
""",
)


@workers.default
def show_workers(*, json: AsJson = False) -> None:
    """List the processes that serve and work on the database."""
    with without_collector():
        from scrapersky.cli.workers import show as work

    work(json=json)


@workers.command
def drain(name: ProcessName) -> None:
    """Let one process finish what it has in work, and claim nothing more."""
    with without_collector():
        from scrapersky.cli.workers import drain as work

    work(name)


@workers.command(name="resume")
def resume_worker(name: ProcessName) -> None:
    """Let a process that was asked to drain claim again."""
    with without_collector():
        from scrapersky.cli.workers import resume as work

    work(name)
