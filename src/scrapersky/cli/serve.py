"""`scrapersky serve`."""

from scrapersky.cli.up import run
from scrapersky.records.process import ProcessRole


def serve() -> None:
    """Serve the API and the page; the stages run elsewhere."""
    run(ProcessRole.SERVE)
