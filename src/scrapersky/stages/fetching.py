"""What a failed fetch means for the item it was made for."""

from scrapersky.engine import GiveUp, Later, Outcome, Retry
from scrapersky.errors import FetchError, HostBusy, HostPaused


def outcome_of(error: FetchError) -> Outcome:
    """Decide: wait without blame, try again, or give up.

    An item that only waited for its host's turn has not failed.
    """
    why = f"{error.outcome}: {error}"
    if isinstance(error, HostBusy | HostPaused):
        return Later(why, error.retry_after)
    if error.retryable:
        return Retry(why, error.retry_after)
    return GiveUp(why)
