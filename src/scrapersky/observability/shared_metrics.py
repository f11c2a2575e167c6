"""Figures of a process and its children, read in one place."""

import asyncio
from pathlib import Path
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from scrapersky.compat.prometheus import collect_shared
from scrapersky.kit.build import build, version
from scrapersky.observability.metrics import Metrics

SAMPLE_SECONDS: Final = 5.0


class SharedMetrics:
    """What the children count below this folder, added up, and this process itself."""

    def __init__(self, folder: Path) -> None:
        registry = self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        Info("scrapersky", "What runs here.", registry=registry).info(
            {"version": version(), "build": build()}
        )
        collect_shared(folder, registry)

    def written(self) -> bytes:
        """Write every figure in the text format of Prometheus."""
        return generate_latest(self._registry)


async def keep_sampling(metrics: Metrics) -> None:
    """Look up again and again what nobody asks this process for."""
    while True:
        metrics.sample()
        await asyncio.sleep(SAMPLE_SECONDS)
