"""When a message is posted again that was not taken, and when we stop."""

import random
from datetime import timedelta
from typing import Final

from scrapersky.webhooks.sender import GONE_STATUS, DeliveryAttempt

PAUSES: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    *(timedelta(hours=hours) for hours in (2, 5, 10, 14, 20, 24)),
)
"""After the first attempt, which is made at once: three days and a half in all."""
REFUSAL_PAUSES: Final = PAUSES[:4]
"""The same for a message that its receiver refuses (400, 422): two hours and a half."""
JITTER_SHARE: Final = 0.2
PASSING_STATUSES: Final = frozenset({401, 403, 404, 408, 409, 421, 423, 425, 429})
"""Those of 4xx that say nothing of the message: keys, routes and proxies come back."""
MAX_FAILED_IN_A_ROW: Final = 20
"""So many messages refused one after the other are no matter of the messages."""


def is_refusal(attempt: DeliveryAttempt) -> bool:
    """Say whether the receiver does not want this very message."""
    status = attempt.status or 0
    return 400 <= status < 500 and status not in PASSING_STATUSES | {GONE_STATUS}  # noqa: PLR2004


def next_pause(attempts: int, attempt: DeliveryAttempt) -> timedelta | None:
    """Return how long to wait after so many attempts; None if that was the last."""
    pauses = REFUSAL_PAUSES if is_refusal(attempt) else PAUSES
    if attempts > len(pauses):
        return None
    # Not all endpoints of a receiver that comes back are there at the same moment.
    jitter = random.uniform(1 - JITTER_SHARE, 1 + JITTER_SHARE)  # noqa: S311 - no secret
    pause = pauses[attempts - 1] * jitter
    return max(pause, attempt.retry_after or timedelta())
