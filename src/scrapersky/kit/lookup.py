"""Answers that are believed for a moment, and asked for once however many want them."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from datetime import timedelta
from typing import Generic, TypeVar

from cachetools import TTLCache

KeyT = TypeVar("KeyT", bound=Hashable)
FoundT = TypeVar("FoundT")


class LookupCache(Generic[KeyT, FoundT]):
    """What was looked up a moment ago; what was not found is asked for again."""

    def __init__(
        self,
        *,
        lasts: timedelta,
        most: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._kept: TTLCache[KeyT, FoundT] = TTLCache(
            most, lasts.total_seconds(), timer=self._now
        )
        self._asked: dict[KeyT, asyncio.Future[FoundT | None]] = {}
        self._cleared = 0

    async def get(
        self, key: KeyT, look_up: Callable[[], Awaitable[FoundT | None]]
    ) -> FoundT | None:
        """Return what is known under a key, from memory if it is fresh."""
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        asked = self._asked.get(key)
        if asked is None:
            # A burst of one caller asks once; who leaves does not stop the others.
            asked = asyncio.ensure_future(look_up())
            self._asked[key] = asked
            asked.add_done_callback(lambda _done: self._asked.pop(key, None))
        before = self._cleared
        found = await asyncio.shield(asked)
        if found is not None and before == self._cleared:
            self._kept[key] = found
        return found

    def clear(self) -> None:
        """Forget everything, also what is being looked up just now."""
        self._cleared += 1
        self._kept.clear()
        self._asked.clear()

    def _now(self) -> float:
        return self._clock()
