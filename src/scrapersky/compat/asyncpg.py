"""What we use of asyncpg that it does not document.

How its transactions begin, how it finds out about the types of a database, and its socket.
"""

import socket
from collections.abc import Collection
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import asyncpg
from typing_extensions import override

if TYPE_CHECKING:
    Connection = asyncpg.Connection[Any]
else:
    Connection = asyncpg.Connection


ENUMS = """
SELECT t.oid, n.nspname AS ns, t.typname AS name, t.typtype AS kind,
  nullif(t.typelem, 0) AS elemtype, t.typdelim AS elemdelim,
  NULL AS basetype, NULL AS range_subtype, NULL AS attrtypoids, NULL AS attrnames
FROM pg_catalog.pg_type AS e, unnest(ARRAY[e.oid, e.typarray]) AS one
JOIN pg_catalog.pg_type AS t ON t.oid = one
JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
WHERE e.typtype = 'e'
ORDER BY t.typelem
"""
"""Every enum and then, since they are made of them, the arrays of enums."""


class EnumCachingConnection(Connection):
    """A connection that knows the enums which others of its engine have asked about.

    The driver asks about every type of every connection apart, with a query that costs
    more than most of ours. Enums are asked about all at once, and once per engine; what
    can change under its number, such as the columns of a row type, is not kept.
    """

    _enums: ClassVar[dict[int, Any]]

    @classmethod
    def for_engine(cls) -> "type[EnumCachingConnection]":
        """Return a class whose connections share what they know."""
        return type(cls.__name__, (cls,), {"_enums": {}})

    # Not in its published types.
    async def _introspect_types(
        self,
        typeoids: Collection[int],
        timeout: float | None,
    ) -> tuple[list[Any], Any]:
        wanted = set(typeoids)
        if not self._enums.keys() >= wanted:
            found, _ = await self._Connection__execute(  # type: ignore[attr-defined]
                ENUMS, (), 0, timeout, ignore_custom_codec=True
            )
            self._enums.update({row["oid"]: row for row in found})
        if self._enums.keys() >= wanted:
            # A statement with a name: none of the driver's has to be prepared again.
            return [*self._enums.values()], SimpleNamespace(name="kept")
        return await super()._introspect_types(wanted, timeout)  # type: ignore[misc,no-any-return]


def socket_of(connection: Connection) -> socket.socket | None:
    """Return the socket of a connection, for its options; None if it has none."""
    transport = connection._transport  # type: ignore[attr-defined] # noqa: SLF001
    found: socket.socket | None = transport.get_extra_info("socket")
    return found


class PrefacedConnection(EnumCachingConnection):
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
