"""Pages as they were read, taken from where they are kept."""

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.kit.delta import unpack_or_nothing

COLUMNS: Final = """s.id, s.tenant_id, s.domain_id, s.page_id, s.hash, s.url, s.encoding,
  s.country, s.is_rendered, s.reader, s.seen_at, s.void_reason, c.content, c.size, c.base"""
BY_HASH: Final = text(f"""
SELECT {COLUMNS} FROM page_snapshots s
LEFT JOIN page_contents c ON c.tenant_id = s.tenant_id AND c.hash = s.hash
WHERE s.tenant_id = :tenant AND s.hash = ANY(:hashes)
""")  # noqa: S608 - our names
BASES: Final = text("""
SELECT hash, content, size FROM page_contents
WHERE tenant_id = :tenant AND hash = ANY(:hashes)
""")


@dataclass(frozen=True, slots=True)
class StoredPage:
    """One page as it was at a time; `body` is None where its bytes are not kept."""

    id: UUID
    tenant_id: UUID
    domain_id: UUID
    page_id: UUID
    hash: bytes
    url: str
    encoding: str
    country: str | None
    is_rendered: bool
    reader: str
    seen_at: datetime
    void_reason: str | None
    body: bytes | None

    @property
    def is_intact(self) -> bool:
        """Whether the bytes are those that were read."""
        return self.body is not None and hashlib.sha256(self.body).digest() == self.hash


async def pages_by_hash(
    connection: AsyncConnection, tenant_id: UUID, hashes: Collection[bytes]
) -> list[StoredPage]:
    """Return every snapshot with one of these hashes."""
    if not hashes:
        return []
    values = {"tenant": tenant_id, "hashes": [*hashes]}
    rows = (await connection.execute(BY_HASH, values)).all()
    return await unpacked(connection, tenant_id, rows)


async def unpacked(
    connection: AsyncConnection, tenant_id: UUID, rows: Sequence[Any]
) -> list[StoredPage]:
    """Unpack the bytes of snapshots, with those that they were packed against."""
    named = {bytes(row.base) for row in rows if row.base is not None}
    packed: Sequence[Any] = ()
    if named:
        values = {"tenant": tenant_id, "hashes": [*named]}
        packed = (await connection.execute(BASES, values)).all()
    return await asyncio.to_thread(unpack_all, rows, packed)


def unpack_all(rows: Sequence[Any], packed: Sequence[Any]) -> list[StoredPage]:
    """Unpack pages, each base once."""
    bases = {bytes(b.hash): unpack_or_nothing(bytes(b.content), b.size) for b in packed}
    return [
        StoredPage(
            row.id, row.tenant_id, row.domain_id, row.page_id, bytes(row.hash), row.url,
            row.encoding, row.country, row.is_rendered, row.reader, row.seen_at,
            row.void_reason, body_of(row, bases),
        )
        for row in rows
    ]  # fmt: skip


def body_of(row: Any, bases: dict[bytes, bytes]) -> bytes | None:  # noqa: ANN401 - a row
    """Unpack one page; None where its bytes are not kept."""
    if row.content is None or row.void_reason is not None:
        return None
    base = None if row.base is None else bases.get(bytes(row.base))
    if row.base is not None and base is None:
        return None
    return unpack_or_nothing(bytes(row.content), row.size, base)
