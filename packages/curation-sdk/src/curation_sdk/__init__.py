"""The Curation SDK: any status column of any SQLAlchemy model becomes a crash-safe queue."""

from curation_sdk import dead_letters, events
from curation_sdk.connection import Transaction
from curation_sdk.control import (
    depth,
    oldest,
    pause,
    purge,
    rate,
    resume,
    states,
    wake,
)
from curation_sdk.errors import (
    ClaimLost,
    ContractViolation,
    CurationSdkError,
    InvalidStage,
    Permanent,
    StageBroken,
    Transient,
    UnknownItem,
    UnknownStage,
)
from curation_sdk.history import Attempt, History, history
from curation_sdk.job_loop import run_job_loop
from curation_sdk.migrations import migrate
from curation_sdk.outcome import (
    Done,
    Effect,
    GiveUp,
    Later,
    Outcome,
    Retry,
    Skip,
)
from curation_sdk.process import is_dead, sign
from curation_sdk.quarantine import is_working_alone
from curation_sdk.queue import Queue
from curation_sdk.reap import Reaped, reap
from curation_sdk.registry import AnyStage, Registry, queue_index
from curation_sdk.stage import Backoff, Stage, stage
from curation_sdk.worker import Worker
from curation_sdk.working import WorkingItem, uncounted_wait, working_item

__all__ = [
    "AnyStage",
    "Attempt",
    "Backoff",
    "ClaimLost",
    "ContractViolation",
    "CurationSdkError",
    "Done",
    "Effect",
    "GiveUp",
    "History",
    "InvalidStage",
    "Later",
    "Outcome",
    "Permanent",
    "Queue",
    "Reaped",
    "Registry",
    "Retry",
    "Skip",
    "Stage",
    "StageBroken",
    "Transaction",
    "Transient",
    "UnknownItem",
    "UnknownStage",
    "Worker",
    "WorkingItem",
    "dead_letters",
    "depth",
    "events",
    "history",
    "is_dead",
    "is_working_alone",
    "migrate",
    "oldest",
    "pause",
    "purge",
    "queue_index",
    "rate",
    "reap",
    "resume",
    "run_job_loop",
    "sign",
    "stage",
    "states",
    "uncounted_wait",
    "wake",
    "working_item",
]
