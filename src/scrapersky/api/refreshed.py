"""Values that many ask for and that are expensive to find out: found out once for all."""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final, Generic, TypeVar

ValueT = TypeVar("ValueT")

MIN_AGE_SECONDS: Final = 1.0
"""Seconds for which a value is good, however cheap it was."""
AGE_PER_READ: Final = 20
"""A value is good for so many times as long as it takes to find: 5 % of the time at most."""
YOUNG_SECONDS: Final = 3.0
"""Seconds for which a value is given at once, even while a new one is looked up."""
WAIT_SECONDS: Final = 0.25
"""Seconds to wait for a new value while an older one is there."""
FIRST_TIMEOUT_SECONDS: Final = 0.5
"""Seconds to wait for the first value where a guess is to be had."""


class RefreshedValue(Generic[ValueT]):
    """A value that is looked up so seldom that looking costs little.

    Any number may ask at once: one look-up serves all. Who asks while one runs gets the
    value of before: at once if it is young, otherwise if the look-up is slow. Where there
    never was one, `guess` stands in for a slow one. Look-ups that share a `turn` run one
    after the other.
    """

    def __init__(
        self,
        look_up: Callable[[], Awaitable[ValueT]],
        guess: Callable[[], Awaitable[ValueT]] | None = None,
        turn: AbstractAsyncContextManager[object] | None = None,
    ) -> None:
        self._look_up = look_up
        self._guess = guess
        self._turn = turn or nullcontext()
        self._took = 0.0
        self._began_at = 0.0
        self._found: list[ValueT] = []
        self._found_at = -math.inf
        self._good_until = 0.0
        self._looking: asyncio.Task[None] | None = None

    async def get(self) -> ValueT:
        """Return the value; raise what the look-up raised if there never was one."""
        looking = self.prepare()
        now = time.monotonic()
        if looking is not None and now - self._found_at > YOUNG_SECONDS:
            timeout = WAIT_SECONDS if self._found else None
            if not self._found and self._guess is not None:
                timeout = max(self._began_at + FIRST_TIMEOUT_SECONDS - now, 0.0)
            await asyncio.wait({looking}, timeout=timeout)
            if looking.done() and not self._found:
                looking.result()
            if not self._found and self._guess is not None:
                return await self._guess()
        return self._found[0]

    def prepare(self) -> "asyncio.Task[None] | None":
        """Begin to look for a new value if it is time; return the look-up that runs."""
        if time.monotonic() < self._good_until:
            return None
        return self._looking or self._begin()

    def forget(self) -> None:
        """Look again when next asked."""
        self._good_until = 0.0
        self._found_at = -math.inf

    async def close(self) -> None:
        """End a look-up that still runs."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait({self._looking})

    def _begin(self) -> asyncio.Task[None]:
        self._began_at = time.monotonic()
        self._looking = asyncio.create_task(self._look(), name="look-up")
        self._looking.add_done_callback(self._ended)
        return self._looking

    async def _look(self) -> None:
        async with self._turn:
            started = time.monotonic()
            value = await self._look_up()
            ended = time.monotonic()
        took, self._took = self._took, ended - started
        self._found, self._found_at = [value], ended
        # One slow look-up may be the machine's, as while a process starts; two are not.
        self._good_until = ended + max(
            MIN_AGE_SECONDS, AGE_PER_READ * min(took, self._took)
        )

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._looking = None
        if not task.cancelled():
            # Whoever asks next tries again; an old value stays good meanwhile.
            task.exception()
