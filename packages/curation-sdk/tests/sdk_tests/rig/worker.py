"""One worker process of the orchard, as a fault run starts and kills them."""

import asyncio
import importlib
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from curation_sdk import Worker
from sdk_tests.rig.connect import connect
from sdk_tests.rig.orchard import Weather, stages


@dataclass(frozen=True, slots=True)
class Order:
    """Everything a worker process needs to know; it travels by pickle."""

    url: str
    log: str
    lease: float = 3.0
    pooler: bool = False
    listen_dsn: str | None = None
    weather: Weather = field(default_factory=Weather)
    options: dict[str, Any] = field(default_factory=dict)
    mutant: str | None = None
    skew: float = 0.0


def work(order: Order, ready: Event) -> None:
    """Run a worker until it is stopped; its output goes to the log."""
    with Path(order.log).open("a", buffering=1) as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
        if order.mutant is not None:
            mutants = importlib.import_module("sdk_tests.mutants.mutant")
            mutants.MUTANTS[order.mutant]()
        if order.skew:
            real = time.time
            time.time = lambda: real() + order.skew
        asyncio.run(serve(order, ready))


async def serve(order: Order, ready: Event) -> None:
    """Drain both stages until SIGTERM."""
    database = connect(order.url, pooler=order.pooler, pool_size=3)
    worker = Worker(
        database,
        stages(lease=timedelta(seconds=order.lease), **order.options),
        tools=order.weather,
        listen_dsn=order.listen_dsn,
    )
    stopping: list[asyncio.Task[None]] = []
    asyncio.get_running_loop().add_signal_handler(
        signal.SIGTERM,
        lambda: stopping.append(asyncio.ensure_future(worker.stop())),
    )
    try:
        await worker.start()
        ready.set()
        await worker.run()
    finally:
        await database.dispose()
