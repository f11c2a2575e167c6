"""What a failed fetch, or a refusing answer, means for the item it was made for."""

from curation_sdk import GiveUp, Later, Outcome, Retry
from scrapersky.crawler import FetchResult
from scrapersky.errors import FetchError, HostBusy, HostPaused

SERVER_ERROR = 500
GONE = (404, 410)


def outcome_of(error: FetchError) -> Outcome:
    """Decide: wait without blame, try again, or give up.

    An item that only waited for its host's turn has not failed.
    """
    why = f"{error.outcome}: {error}"
    if isinstance(error, HostBusy | HostPaused):
        return Later(why, error.retry_after)
    if error.retryable:
        return Retry(why, error.retry_after, cause=error)
    return GiveUp(why, cause=error)


def failure_of(fetched: FetchResult) -> Outcome | None:
    """Decide what an answer that is not a success means; None if it is one.

    What a server says while it is in trouble (5xx) may be different later.
    """
    if fetched.is_success:
        return None
    why = f"the server answered {fetched.status}"
    return Retry(why) if fetched.status >= SERVER_ERROR else GiveUp(why)


def is_gone(fetched: FetchResult) -> bool:
    """Say whether the server answered that there is no such page."""
    return fetched.status in GONE
