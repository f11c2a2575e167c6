"""A clock that stands still until somebody waits."""

import asyncio
from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 18, 9, 0, tzinfo=UTC)


class StillClock:
    """Time for a server and for its client: it goes on only where one of them waits."""

    def __init__(self, start: datetime = START) -> None:
        self.started = start
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def now(self) -> datetime:
        return self._now

    @property
    def seconds(self) -> float:
        """How long it has gone since it was made."""
        return (self._now - self.started).total_seconds()

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        """Wait without any time going by in the world; a drop-in for `asyncio.sleep`."""
        self.advance(max(seconds, 0))
        await asyncio.sleep(0)

    def until_midnight(self) -> float:
        tomorrow = self._now.replace(hour=0, minute=0, second=0, microsecond=0)
        return (tomorrow + timedelta(days=1) - self._now).total_seconds()
