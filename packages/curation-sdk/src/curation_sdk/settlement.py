"""Settlements: what a result means for its item, decided without the database."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from curation_sdk.claim import ClaimedItem, ClaimedKey
from curation_sdk.outcome import Done, GiveUp, Later, Outcome, Retry, Skip
from curation_sdk.queue import Queue
from curation_sdk.stage import Stage

MAX_REASON_CHARS = 20_000
MAX_TRACEBACK_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class Returned:
    """The work was not finished, through no fault of the item."""

    why: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The item met a failure of the whole stage, which must pause.

    `is_local`: only this worker stops, the stage is not paused for others.
    """

    why: str
    resume_after: timedelta | None = None
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class Crashed(Retry):
    """The work raised an unexpected exception; the item is tried again."""

    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class Settlement:
    """What the settling statement writes about one item."""

    outcome: str
    status: str
    why: str | None
    error: str | None = None
    wait: float | None = None
    refund_attempt: bool = False
    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """The work has settled its item in its own transaction: as done, unless given."""

    settlement: Settlement | None = None


Result = Outcome | Returned | Broken | Committed


def settlement_of(
    stage: Stage[Any, Any], queue: Queue, held: ClaimedItem | ClaimedKey, result: Result
) -> Settlement:
    """Decide what a result means for the item that had it."""
    match result:
        case Committed(settlement=settlement):
            return settlement or Settlement("done", queue.done, None)
        case Done(empty_because=why):
            return Settlement("done", queue.done, clean(why))
        case Skip(status=status, why=why):
            return Settlement("skipped", status, clean(why))
        case Retry(why=why, after=after):
            text = clean(why)
            trace = traceback_in(result)
            if held.tries >= stage.max_attempts:
                return Settlement(
                    "exhausted", queue.failed, text, error=text, traceback=trace
                )
            wait = after if after is not None else stage.backoff.pause(held.tries)
            return Settlement(
                "retried",
                queue.processing,
                text,
                error=text,
                wait=max(wait.total_seconds(), 0.0),
                traceback=trace,
            )
        case Later(why=why, after=after):
            wait = after if after is not None else stage.backoff.pause(1)
            seconds = max(wait.total_seconds(), 0.0)
            return Settlement(
                "postponed",
                queue.processing,
                clean(why),
                wait=seconds,
                refund_attempt=True,
            )
        case GiveUp(why=why):
            text = clean(why)
            return Settlement("gave_up", queue.failed, text, error=text)
        case Returned(why=why) | Broken(why=why):
            if held.tries <= 1 and held.crashes == 0:
                return Settlement(
                    "returned", queue.queued, clean(why), refund_attempt=True
                )
            # Its attempts and crashes must be kept: the claim row stays, due at once.
            return Settlement(
                "returned", queue.processing, clean(why), wait=0.0, refund_attempt=True
            )


def columns_of(settlements: Sequence[Settlement]) -> tuple[list[Any], ...]:
    """Return settlements as the arrays the settling statement takes."""
    return (
        [s.outcome for s in settlements],
        [s.status for s in settlements],
        [s.why for s in settlements],
        [s.error for s in settlements],
        [s.wait for s in settlements],
        [int(s.refund_attempt) for s in settlements],
        [s.traceback for s in settlements],
    )


def result_of_error(error: BaseException) -> Result:
    """Decide what an exception raised by work means."""
    text = text_of(error)
    if getattr(error, "pauses_stage", None) is True:
        return Broken(text, getattr(error, "resume_after", None))
    match getattr(error, "retryable", None):
        case False:
            return GiveUp(text)
        case True:
            # Some errors know when to try again, because a server said so.
            return Retry(text, getattr(error, "retry_after", None))
    return Crashed(f"crashed: {described(error)}", traceback=traceback_of(error))


def text_of(error: BaseException) -> str:
    """Return an exception's message, or its class if it has none that can be read."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - its own `__str__`
        return type(error).__name__


def described(value: object) -> str:
    """Return what `repr` does, or the name of the class if that raises."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - its own `__repr__`
        return type(value).__name__


def traceback_in(result: Result) -> str | None:
    """Return the traceback that a result has, if an unexpected exception led to it."""
    if isinstance(result, Committed):
        return result.settlement.traceback if result.settlement else None
    return result.traceback if isinstance(result, Crashed) else None


def traceback_of(error: BaseException) -> str:
    """Return an exception's traceback, the end of it if it is too long to keep."""
    text = "".join(traceback.format_exception(error))
    if len(text) > MAX_TRACEBACK_CHARS:
        text = f"[...]\n{text[-MAX_TRACEBACK_CHARS:]}"
    return clean(text) or ""


def clean(text: str | None) -> str | None:
    """Return a text as PostgreSQL can store it, of bounded length."""
    if text is None:
        return None
    return (
        str(text)[:MAX_REASON_CHARS]
        .replace("\x00", "\N{REPLACEMENT CHARACTER}")
        .encode("utf-8", "replace")
        .decode()
    )
