"""ScraperSky on Celery: `celery -A scrapersky.celery worker --beat`.

A message is a hint that a stage has something to do, never the work itself. Rows wait in
PostgreSQL, and whoever gets a hint claims them there as every worker does: a hint that is
lost, late or doubled changes nothing but the time. There are no results to keep.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import AsyncExitStack
from typing import Any, Final, TypeVar

from celery import Celery
from celery.signals import (
    setup_logging,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
)
from kombu.entity import Queue

from scrapersky.celery.status import CeleryStatus, target_of
from scrapersky.configuration import load_settings
from scrapersky.kit.background import in_background
from scrapersky.observability.log import configure_logs
from scrapersky.observability.observed import observed
from scrapersky.observability.shared_metrics import keep_sampling
from scrapersky.reporting.stage_stats import due
from scrapersky.scheduler.app import work_on_demand
from scrapersky.scheduler.background import Background
from scrapersky.scheduler.overview import HOUSEKEEPING
from scrapersky.scheduler.prepare import prepare
from scrapersky.settings import Settings
from scrapersky.stages import PIPELINE, STAGES

QUEUE: Final = "scrapersky"
"""What belongs to no stage, and the beginning of the name of every stage's queue."""
LOOK: Final = "scrapersky.look"
MOST_HINTS: Final = 16
"""Hints for one stage at one look; each lets one worker process drain it."""
STOP_SECONDS: Final = 30.0
"""Seconds beyond its own grace after which a process no longer waits for its thread."""
ResultT = TypeVar("ResultT")


def broker_of(given: Settings) -> str:
    """Return the address of the broker: what is set, or the Redis of this machine."""
    named = given.celery_broker_url
    return "redis://127.0.0.1:6379/0" if named is None else named.get_secret_value()


settings = load_settings().settings
queue: Any = Queue  # which is not typed
app = Celery("scrapersky", broker=broker_of(settings), set_as_current=False)


class Runtime:
    """The background work of this process, in a thread of its own.

    It starts with the first task: a process that Celery has just forked must answer at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ready: Future[tuple[Background, asyncio.AbstractEventLoop]] = Future()
        self._end = asyncio.Event()

    def run(
        self, work: Callable[[Background], Coroutine[Any, Any, ResultT]]
    ) -> ResultT:
        """Do something with the background work, and wait for what it comes to."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._ready, self._end = Future(), asyncio.Event()
                self._thread = threading.Thread(target=self._live, name=QUEUE)
                self._thread.start()
        background, loop = self._ready.result()
        return asyncio.run_coroutine_threadsafe(work(background), loop).result()

    def stop(self, **_signal: object) -> None:
        """Finish what is in hand, or hand it back."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is None or not thread.is_alive():
            return
        _, loop = self._ready.result()
        loop.call_soon_threadsafe(self._end.set)
        thread.join(settings.shutdown_grace_seconds + STOP_SECONDS)

    def _live(self) -> None:
        try:
            asyncio.run(self._open())
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
                return
            raise

    async def _open(self) -> None:
        target = target_of(settings)
        await prepare(target, settings, print)
        async with AsyncExitStack() as stack:
            background = await stack.enter_async_context(
                work_on_demand(settings, target, address=status.address)
            )
            metrics = stack.enter_context(observed(background, settings))
            await stack.enter_async_context(
                in_background(keep_sampling(metrics), name="figures")
            )
            self._ready.set_result((background, asyncio.get_running_loop()))
            await self._end.wait()


runtime = Runtime()
status = CeleryStatus(settings)
worker_init.connect(status.open, weak=False)
worker_ready.connect(status.serve, weak=False)
worker_process_init.connect(status.join, weak=False)
worker_process_shutdown.connect(runtime.stop, weak=False)
worker_process_shutdown.connect(status.leave, weak=False)
worker_shutdown.connect(runtime.stop, weak=False)
worker_shutdown.connect(status.close, weak=False)


def log_as_everywhere(**_signal: object) -> None:
    """Write the lines that every process of ScraperSky writes."""
    configure_logs(
        settings.log_level,
        settings.log_format,
        settings.levels_by_logger,
        idle_runs=settings.log_idle_runs,
    )


setup_logging.connect(log_as_everywhere, weak=False)


def look() -> dict[str, int]:
    """Send hints for the stages that have something to do; return how many for each."""

    async def ask(background: Background) -> dict[str, int]:
        return await due(background.engine)

    sent = {
        stage: hints_for(count, settings.stages[stage].batch_size)
        for stage, count in runtime.run(ask).items()
        if settings.stages[stage].enabled
    }
    for stage, hints in sent.items():
        for _ in range(hints):
            app.send_task(f"{QUEUE}.{stage}", expires=lifetime(settings))
    return sent


def hints_for(items: int, batch: int) -> int:
    """Return how many processes are worth waking for so many items."""
    return min(MOST_HINTS, -(-items // batch))


def lifetime(given: Settings) -> float:
    """Return after how many seconds a hint is worth nothing: the next look sends another."""
    return 2 * given.celery_look_seconds


def run_job(job_id: str) -> int:
    """Run a job of the schedule once; return how many items it picked."""

    async def tick(background: Background) -> int:
        return await background.schedule.tick(job_id)

    picked = runtime.run(tick)
    if picked:
        # What one stage has done is what the next one waits for.
        app.send_task(LOOK, expires=lifetime(settings))
    return picked


def make_task(name: str, job_id: str) -> None:
    """Let Celery know the task that runs a job."""

    def run() -> int:
        return run_job(job_id)

    app.task(run, name=f"{QUEUE}.{name}")


app.task(look, name=LOOK)
for declared in PIPELINE:
    make_task(declared.name, declared.job.id)
for housekeeping_job in HOUSEKEEPING:
    make_task(housekeeping_job, housekeeping_job)
app.conf.update(
    task_ignore_result=True,
    task_default_queue=QUEUE,
    # A worker that is given no queue serves all of them.
    task_queues=[
        queue(name, routing_key=name)
        for name in (QUEUE, *(f"{QUEUE}.{stage}" for stage in STAGES))
    ],
    task_routes={f"{QUEUE}.{name}": {"queue": f"{QUEUE}.{name}"} for name in STAGES},
    # One hint at a time: those that wait in a busy process are missing in an idle one.
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    beat_schedule={
        "look": {
            "task": LOOK,
            "schedule": settings.celery_look_seconds,
            "options": {"expires": lifetime(settings)},
        },
        **{
            name: {
                "task": f"{QUEUE}.{name}",
                "schedule": getattr(settings, section).interval,
                "options": {
                    "expires": getattr(settings, section).interval.total_seconds()
                },
            }
            for name, (_, section) in HOUSEKEEPING.items()
            if getattr(settings, section).enabled
        },
    },
)
