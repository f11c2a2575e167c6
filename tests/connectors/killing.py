"""Kill the process at any of its steps, as nothing else would be noticed by the next one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from scrapersky.changes.subscriber import Lease
from scrapersky.connectors.session import CrmSession


class Killed(BaseException):
    """The process is gone."""


class Executioner:
    """Kills the process at its n-th step: before or after a call, before or after a commit."""

    def __init__(self, at: int) -> None:
        self.at, self.step = at, 0

    def tick(self) -> None:
        self.step += 1
        if self.step == self.at:
            raise Killed

    def arm(self, monkeypatch: pytest.MonkeyPatch) -> None:
        ask, transaction = CrmSession.ask, Lease.transaction

        async def killed_ask(session: CrmSession, call: Any) -> Any:
            self.tick()
            answer = await ask(session, call)
            self.tick()
            return answer

        @asynccontextmanager
        async def killed_transaction(
            lease: Lease, changes: Any = None
        ) -> AsyncIterator[Any]:
            async with transaction(lease, changes or {}) as connection:
                yield connection
                self.tick()
            self.tick()

        monkeypatch.setattr(CrmSession, "ask", killed_ask)
        monkeypatch.setattr(Lease, "transaction", killed_transaction)
