"""A process that works stages, with its log lines, figures and traces."""

from collections.abc import Iterator
from contextlib import contextmanager

from scrapersky.observability.metrics import Metrics
from scrapersky.observability.stage_log import StageLog
from scrapersky.observability.trace import open_traces
from scrapersky.records.process import ProcessRole
from scrapersky.scheduler.background import Background
from scrapersky.settings import Settings


@contextmanager
def observed(background: Background, settings: Settings) -> Iterator[Metrics]:
    """Log, count and trace what the stages of a worker do while the block lasts."""
    StageLog(background.events)
    metrics = Metrics(background.events)
    metrics.follow(background, settings)
    traces = open_traces(settings, role=ProcessRole.WORKER)
    if traces is not None:
        traces.follow(background)
    try:
        yield metrics
    finally:
        metrics.forget()
        if traces is not None:
            traces.close()
