"""Batches: domains, sitemaps or pages submitted together, and how far they are.

A batch keeps no count and no status of its own. Both are derived from its items, so it
cannot say complete while one of them is pending, whatever crashed in between.
"""

from scrapersky.curation.batch.control import (
    cancel_batch,
    pause_batch,
    resume_batch,
    retry_failed,
)
from scrapersky.curation.batch.progress import (
    BatchProgress,
    Overview,
    overviews,
    progress,
)
from scrapersky.curation.batch.submission import SubmissionResult, submit

__all__ = [
    "BatchProgress",
    "Overview",
    "SubmissionResult",
    "cancel_batch",
    "overviews",
    "pause_batch",
    "progress",
    "resume_batch",
    "retry_failed",
    "submit",
]
