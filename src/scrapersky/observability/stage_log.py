"""Log lines about items, under the name of their workflow."""

from typing import Any

import structlog

from curation_sdk.events import (
    DeadLettered,
    Event,
    Events,
    Paused,
    Resumed,
    Retried,
    Settled,
)
from scrapersky.stages import STAGES


class StageLog:
    """Listens to the workers of this process and writes what happens to items.

    `INFO` reports every item that failed for good, `DEBUG` every item.
    """

    def __init__(self, events: Events[Event]) -> None:
        self._logs: dict[str, Any] = {
            name: structlog.get_logger(stage.logger_name)
            for name, stage in STAGES.items()
        }
        events.listen(self.hear)

    def hear(self, event: Event) -> None:
        """Write the line of an event, if it has one."""
        log = self._logs.get(getattr(event, "stage", ""))
        if log is None:
            return
        match event:
            case Settled():
                ms = round(event.took.total_seconds() * 1000, 1)
                log.debug("item.settled", outcome=event.outcome, ms=ms, **about(event))
            case Retried():
                wait = round(event.wait.total_seconds(), 1)
                log.debug(
                    "item.retried", attempt=event.tries, wait=wait, **about(event)
                )
            case DeadLettered():
                log.info("item.failed", kind=event.kind, **about(event))
            case Paused():
                log.warning("stage.paused", stage=event.stage, why=event.why)
            case Resumed():
                log.info("stage.resumed", stage=event.stage)
            case _:
                pass


def about(event: Settled | Retried | DeadLettered) -> dict[str, object]:
    """Return what every line about an item says."""
    return {
        "stage": event.stage,
        "item": event.item,
        "why": event.why,
        "correlation_id": event.correlation_id,
    }
