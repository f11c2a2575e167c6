"""What we use of Prometheus' client that it does not document: figures of a family of processes.

Its own way of sharing them names files by process id, and keeps those of every process that ever
was. Named by place, the next process in a place counts on from where the last one was.
"""

import os
from collections.abc import Callable
from pathlib import Path

from prometheus_client import CollectorRegistry, values
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead


def share_figures(folder: Path, place: Callable[[], str]) -> None:
    """Keep the figures that are made from now on in files below this folder.

    `place` names the process that asks; no two that live at once may have the same name.
    """
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(place)  # type: ignore[no-untyped-call]


def collect_shared(folder: Path, registry: CollectorRegistry) -> None:
    """Add the figures of all places to those of a registry."""
    MultiProcessCollector(registry, str(folder))  # type: ignore[no-untyped-call]


def forget_gauges(folder: Path, place: str) -> None:
    """Let what a process said of itself end with it; what it counted stays."""
    mark_process_dead(place, str(folder))  # type: ignore[no-untyped-call]
