"""What we use of asyncpg that it does not document: how its transactions begin."""

from typing import TYPE_CHECKING, Any

import asyncpg
from typing_extensions import override

if TYPE_CHECKING:
    Connection = asyncpg.Connection[Any]
else:
    Connection = asyncpg.Connection


class PrefacedConnection(Connection):
    """A connection whose transactions begin with statements of ours, in one round trip."""

    def preface(self) -> str:
        """Return the statements that follow BEGIN; what it raises is the caller's."""
        raise NotImplementedError

    @override
    async def execute(
        self, query: str, *args: object, timeout: float | None = None
    ) -> str:
        if query.startswith("BEGIN"):
            query = f"{query} {self.preface()}"
        return await super().execute(query, *args, timeout=timeout)
