"""`scrapersky worker`."""

import asyncio
import signal

from scrapersky.cli.database import a_database
from scrapersky.cli.prepare import prepare
from scrapersky.cli.signals import stop_on_signals
from scrapersky.cli.up import say
from scrapersky.db.connection import Target
from scrapersky.observability.log import configure_logs
from scrapersky.observability.stage_log import StageLog
from scrapersky.scheduler.app import background_work
from scrapersky.settings import Settings, load_settings


def worker() -> None:
    """Run the stages and the scheduler, without the application."""
    loaded = load_settings()
    settings = loaded.settings
    configure_logs(settings.log_level, settings.log_format, settings.levels_by_logger)
    for warning in loaded.warnings:
        say(f"Warning: {warning}")
    with stop_on_signals(), a_database(settings, say) as target:
        asyncio.run(work(settings, target))
    say("Stopped.")


async def work(settings: Settings, target: Target) -> None:
    """Work until asked to stop; what is in hand is finished or handed back."""
    await prepare(target, settings, say)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    async with background_work(settings, target) as background:
        StageLog(background.events)
        say(f"Worker {background.worker.name} is running. Ctrl-C stops it.")
        await stop.wait()
        say("Stopping: finishing what is in hand.")
