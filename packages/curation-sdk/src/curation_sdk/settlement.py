"""Settlements: what a result means for its item, decided without the database."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from curation_sdk.claim import Claim, ClaimedItem
from curation_sdk.outcome import Done, GiveUp, Later, Outcome, Retry, Skip
from curation_sdk.queue import Queue
from curation_sdk.stage import Stage

LONGEST_WHY = 20_000
LONGEST_TRACEBACK = 8_000


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
    spare: int = 0
    traceback: str | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """The work has settled its item in its own transaction: as done, unless given."""

    settlement: Settlement | None = None


Result = Outcome | Returned | Broken | Committed


def settlement_of(
    stage: Stage[Any, Any], queue: Queue, held: ClaimedItem | Claim, result: Result
) -> Settlement:
    """Decide what a result means for the item that had it."""
    match result:
        case Committed(settlement=settlement):
            return settlement or Settlement("done", queue.done, None)
        case Done(nothing=why):
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
                "postponed", queue.processing, clean(why), wait=seconds, spare=1
            )
        case GiveUp(why=why):
            text = clean(why)
            return Settlement("gave_up", queue.failed, text, error=text)
        case Returned(why=why) | Broken(why=why):
            if held.tries <= 1 and held.crashes == 0:
                return Settlement("returned", queue.queued, clean(why), spare=1)
            # Its attempts and crashes must be kept: the claim row stays, due at once.
            return Settlement(
                "returned", queue.processing, clean(why), wait=0.0, spare=1
            )


def columns_of(settlements: Sequence[Settlement]) -> tuple[list[Any], ...]:
    """Return settlements as the arrays the settling statement takes."""
    return (
        [s.outcome for s in settlements],
        [s.status for s in settlements],
        [s.why for s in settlements],
        [s.error for s in settlements],
        [s.wait for s in settlements],
        [s.spare for s in settlements],
        [s.traceback for s in settlements],
    )


def result_of_error(error: BaseException) -> Result:
    """Decide what an exception raised by work means."""
    text = str(error) or type(error).__name__
    if getattr(error, "pauses_stage", None) is True:
        return Broken(text, getattr(error, "resume_after", None))
    match getattr(error, "retryable", None):
        case False:
            return GiveUp(text)
        case True:
            # Some errors know when to try again, because a server said so.
            return Retry(text, getattr(error, "retry_after", None))
    return Crashed(f"crashed: {error!r}", traceback=traceback_of(error))


def traceback_in(result: Result) -> str | None:
    """Return the traceback that a result has, if an unexpected exception led to it."""
    if isinstance(result, Committed):
        return result.settlement.traceback if result.settlement else None
    return result.traceback if isinstance(result, Crashed) else None


def traceback_of(error: BaseException) -> str:
    """Return an exception's traceback, the end of it if it is too long to keep."""
    text = "".join(traceback.format_exception(error))
    if len(text) > LONGEST_TRACEBACK:
        text = f"[...]\n{text[-LONGEST_TRACEBACK:]}"
    return clean(text) or ""


def clean(text: str | None) -> str | None:
    """Return a text as PostgreSQL can store it, of bounded length."""
    if text is None:
        return None
    return (
        str(text)[:LONGEST_WHY]
        .replace("\x00", "\N{REPLACEMENT CHARACTER}")
        .encode("utf-8", "replace")
        .decode()
    )
