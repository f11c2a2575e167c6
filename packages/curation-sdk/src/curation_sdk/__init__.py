"""The Curation SDK: any status column of any SQLAlchemy model becomes a crash-safe queue.

What every program needs is here; the rest is one module deeper: `control` (pause, depth,
cancel, queue_once), `dead_letters`, `dashboard`, `errors`, `events`, `periodic`, `reap`,
`registry`, `testing`, `working`.
"""

from curation_sdk import control, dead_letters
from curation_sdk.connection import Transaction
from curation_sdk.errors import (
    ContractViolation,
    CurationSdkError,
    Permanent,
    StageBroken,
    Transient,
)
from curation_sdk.history import history
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
from curation_sdk.quickstart import QueueMixin, run_worker
from curation_sdk.registry import Registry, queue_index
from curation_sdk.stage import Backoff, Stage, in_thread, stage
from curation_sdk.worker import Worker

__all__ = [
    "Backoff",
    "ContractViolation",
    "CurationSdkError",
    "Done",
    "Effect",
    "GiveUp",
    "Later",
    "Outcome",
    "Permanent",
    "QueueMixin",
    "Registry",
    "Retry",
    "Skip",
    "Stage",
    "StageBroken",
    "Transaction",
    "Transient",
    "Worker",
    "control",
    "dead_letters",
    "history",
    "in_thread",
    "migrate",
    "queue_index",
    "run_job_loop",
    "run_worker",
    "stage",
]
