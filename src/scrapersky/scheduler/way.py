"""How long work that can wait makes way for the stages."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

REST_FOR_WORK: Final = 4.0
"""Seconds of rest for a second of work: a fifth of one core is left to take from the stages."""


@dataclass(frozen=True, slots=True)
class GiveWay:
    """Rests after work as long as the stages of this process have items in hand.

    Where they have none there is nobody to make way for, and it goes on at once. A stop
    ends a rest.
    """

    in_hand: Callable[[], int]
    stopping: asyncio.Event

    async def __call__(self, worked: float) -> None:
        """Rest for so many seconds of work."""
        if self.in_hand():
            with suppress(TimeoutError):
                async with asyncio.timeout(worked * REST_FOR_WORK):
                    await self.stopping.wait()
