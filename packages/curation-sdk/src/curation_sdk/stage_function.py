"""A stage's function: what it is called with, and what its answer means."""

from dataclasses import replace
from typing import Any

from sqlalchemy import Dialect
from sqlalchemy.exc import TimeoutError as PoolTimeout

from curation_sdk.claim import ClaimedItem, ClaimedKey, Claimer, maker_of
from curation_sdk.errors import CurationSdkError
from curation_sdk.outcome import Done, GiveUp, Later, Retry, Skip
from curation_sdk.queue import Queue, stored
from curation_sdk.settlement import (
    Broken,
    Committed,
    Result,
    described,
    result_of_error,
)
from curation_sdk.stage import Stage


class StageFunction:
    """Makes the items that a stage's function takes, and a result of what it does."""

    def __init__(
        self, stage: Stage[Any, Any], queue: Queue, claimer: Claimer, dialect: Dialect
    ) -> None:
        self._stage = stage
        self._queue = queue
        self._claimer = claimer
        self._dialect = dialect
        self._make = maker_of(stage, dialect)

    def item_of(self, held: ClaimedItem) -> Any:  # noqa: ANN401 - an instance of the model
        """Return the row of a claimed item as a detached model instance."""
        if self._stage.load == "claim":
            key = self._claimer.key(held)
            return ClaimedKey(key, held.item, held.fence, held.tries, held.crashes)
        item = self._make(held.row)
        held.row = None
        return item

    def result_of(self, outcome: object) -> Result:
        """Return what the function returned, or what is wrong with it."""
        if isinstance(outcome, Skip):
            return self._checked_skip(outcome)
        if isinstance(outcome, (Done, Retry, Later, GiveUp, Committed, Broken)):
            effect = getattr(outcome, "effect", None)
            if effect is None or callable(effect):
                return outcome
            return self.violation(
                f"returned an effect that cannot be called: {described(effect)}"
            )
        return self.violation(
            f"returned {described(outcome)} instead of an outcome "
            "(Done, Retry, Later, GiveUp or Skip)"
        )

    def result_of_error(self, error: BaseException) -> Result:
        """Return what it means that the function raised this."""
        if is_wrong_call(error):
            return self.violation(f"cannot be awaited with an item and tools: {error}")
        if not isinstance(error, Exception):
            raised = described(error)
            return self.violation(f"raised {raised}, which is not an Exception")
        if isinstance(error, PoolTimeout):
            # Others hold its connections: no item is at fault.
            return Later(f"no connection of the engine's pool was free: {error}")
        return result_of_error(error)

    def violation(self, what: str) -> Broken:
        """Pause the stage for a bug of its function; no item is condemned for it."""
        why = f"{self._stage.name} {what}"
        self._queue.log.error("stage.contract_violation", why=why)
        return Broken(why)

    def _checked_skip(self, skip: Skip) -> Result:
        try:
            status = stored(self._stage, skip.status, self._dialect)
        except (CurationSdkError, LookupError) as error:
            return GiveUp(str(error))
        if status in {self._queue.queued, self._queue.processing}:
            return GiveUp(f"Skip({status!r}) would not leave the queue")
        return replace(skip, status=status)


def is_wrong_call(error: BaseException) -> bool:
    """Return whether a function could not be called or awaited at all.

    Then the error comes from the line that calls it, and from nowhere deeper.
    """
    where = error.__traceback__
    return isinstance(error, TypeError) and where is not None and where.tb_next is None
