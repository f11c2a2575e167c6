"""From what work returned to what is written: pure decisions, no database."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from scrapersky.engine.claim import Held
from scrapersky.engine.outcome import Done, GiveUp, Later, Outcome, Retry, Skip
from scrapersky.engine.queue import Queue
from scrapersky.engine.stage import Stage
from scrapersky.errors import ScraperSkyError, StageBroken

LONGEST_WHY = 20_000


@dataclass(frozen=True, slots=True)
class Returned:
    """The item was not worked to an end through no fault of its own."""

    why: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The item met a failure of the whole stage, which must pause."""

    why: str
    resume_after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """The work has settled its item itself, in its own transaction."""


Result = Outcome | Returned | Broken | Committed


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the settling statement writes about one item."""

    outcome: str
    status: str
    why: str | None
    error: str | None = None
    wait: float | None = None
    spare: int = 0


def verdict_of(
    stage: Stage[Any, Any], queue: Queue, held: Held, result: Result
) -> Verdict:
    """Decide what a result means for the item that had it."""
    match result:
        case Committed():
            return Verdict("done", queue.done, None)
        case Done(nothing=why):
            return Verdict("done", queue.done, clean(why))
        case Skip(status=status, why=why):
            return Verdict("skipped", status, clean(why))
        case Retry(why=why, after=after):
            text = clean(why)
            if held.tries >= stage.max_attempts:
                return Verdict("exhausted", queue.failed, text, error=text)
            wait = after if after is not None else stage.backoff.pause(held.tries)
            seconds = max(wait.total_seconds(), 0.0)
            return Verdict("retried", queue.processing, text, error=text, wait=seconds)
        case Later(why=why, after=after):
            wait = after if after is not None else stage.backoff.pause(1)
            seconds = max(wait.total_seconds(), 0.0)
            return Verdict(
                "postponed", queue.processing, clean(why), wait=seconds, spare=1
            )
        case GiveUp(why=why):
            text = clean(why)
            return Verdict("gave_up", queue.failed, text, error=text)
        case Returned(why=why) | Broken(why=why):
            if held.tries <= 1 and held.deaths == 0:
                return Verdict("returned", queue.queued, clean(why), spare=1)
            # It has a history to keep: the claim row stays, due at once.
            return Verdict("returned", queue.processing, clean(why), wait=0.0, spare=1)


def result_of_error(error: BaseException) -> Result:
    """Decide what an exception raised by work means."""
    match error:
        case StageBroken():
            return Broken(error.why, error.resume_after)
        case ScraperSkyError():
            text = str(error) or type(error).__name__
            if not error.retryable:
                return GiveUp(text)
            # Some errors know when it is worth trying again: a server said so.
            return Retry(text, getattr(error, "retry_after", None))
    return Retry(f"crashed: {error!r}")


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
