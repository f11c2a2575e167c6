"""The Curation SDK: any status column of any SQLAlchemy model becomes a crash-safe queue."""

from scrapersky.engine import dead_letters, events
from scrapersky.engine.control import (
    depth,
    install,
    oldest,
    pause,
    purge,
    rate,
    resume,
    states,
    wake,
)
from scrapersky.engine.job_loop import run_job_loop
from scrapersky.engine.outcome import (
    Done,
    Effect,
    GiveUp,
    Later,
    Outcome,
    Retry,
    Skip,
)
from scrapersky.engine.reap import Reaped, reap
from scrapersky.engine.registry import Registry, queue_index
from scrapersky.engine.stage import Backoff, Stage, stage
from scrapersky.engine.story import Attempt, Story, story
from scrapersky.engine.transaction import Transaction
from scrapersky.engine.worker import Worker
from scrapersky.errors import StageBroken

__all__ = [
    "Attempt",
    "Backoff",
    "Done",
    "Effect",
    "GiveUp",
    "Later",
    "Outcome",
    "Reaped",
    "Registry",
    "Retry",
    "Skip",
    "Stage",
    "StageBroken",
    "Story",
    "Transaction",
    "Worker",
    "dead_letters",
    "depth",
    "events",
    "install",
    "oldest",
    "pause",
    "purge",
    "queue_index",
    "rate",
    "reap",
    "resume",
    "run_job_loop",
    "stage",
    "states",
    "story",
    "wake",
]
