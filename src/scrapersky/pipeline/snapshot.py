"""Pages are kept as they were read, so that every value can be shown to follow from one.

The bytes are packed while no transaction is open; against the first page of their site, with
which they share most. A hash is kept of every page, the bytes where the tenant has room.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol
from uuid import UUID

from cachetools import TTLCache
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from contact_extraction.reader import reader_version
from curation_sdk import Transaction
from scrapersky.kit.delta import pack, unpack_or_nothing
from scrapersky.records.snapshot import VoidReason

MAX_PAGE_BYTES: Final = 2 * 1024 * 1024
"""Bytes of the longest page that is kept; few businesses have one of more than 500 KB."""
MAX_BASE_BYTES: Final = 16 * 1024 * 1024
"""Bytes of first pages that a process remembers."""
BASE_SECONDS: Final = 300.0
"""How long it does: one that was removed with somebody whom it names is not in use for long."""
FIND_BASE: Final = text("""
SELECT c.hash, c.content, c.size FROM page_snapshots s
JOIN page_contents c ON c.tenant_id = s.tenant_id AND c.hash = s.hash
WHERE s.domain_id = :domain AND c.base IS NULL ORDER BY s.id LIMIT 1
""")
# Whoever was on the list of the tenant when the page was read is in no bytes that we keep.
STORE_SNAPSHOTS: Final = """
INSERT INTO page_snapshots AS s (tenant_id, domain_id, page_id, hash, url, encoding, country,
  is_rendered, reader, seen_at, voided_at, void_reason)
SELECT tenant_id, domain_id, page_id, hash, url, encoding, country, is_rendered, reader,
  seen_at, voided_at, void_reason
FROM json_populate_recordset(NULL::page_snapshots, $1) ORDER BY page_id
ON CONFLICT (page_id, hash) DO UPDATE SET url = excluded.url, encoding = excluded.encoding,
  country = excluded.country, is_rendered = excluded.is_rendered, reader = excluded.reader,
  seen_at = excluded.seen_at, voided_at = excluded.voided_at,
  void_reason = excluded.void_reason
RETURNING id, page_id
"""
# A base that is being removed is waited for, and then not there: its bytes are not kept.
STORE_CONTENTS: Final = """
WITH g AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[])
    AS g (tenant_id, hash, base, size, content)
), bases AS MATERIALIZED (
  SELECT c.tenant_id, c.hash FROM page_contents c
  WHERE (c.tenant_id, c.hash) IN (SELECT tenant_id, base FROM g) FOR KEY SHARE
)
INSERT INTO page_contents (tenant_id, hash, base, size, content)
SELECT g.tenant_id, g.hash, g.base, g.size, g.content FROM g
WHERE g.base IS NULL OR EXISTS (SELECT FROM bases b
  WHERE (b.tenant_id, b.hash) = (g.tenant_id, g.base))
ORDER BY g.tenant_id, g.hash
ON CONFLICT DO NOTHING RETURNING tenant_id, octet_length(content) AS packed
"""
SEEN_AGAIN: Final = """
UPDATE page_snapshots s SET seen_at = clock_timestamp()
WHERE s.id IN (SELECT DISTINCT ON (page_id) id FROM page_snapshots
  WHERE page_id = ANY($1) ORDER BY page_id, seen_at DESC)
"""


@dataclass(frozen=True, slots=True)
class PackedPage:
    """The bytes of a page, ready to be kept."""

    size: int
    content: bytes
    base: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotDraft:
    """A page that was read, as it is going to be kept."""

    hash: bytes
    url: str
    encoding: str
    country: str | None
    is_rendered: bool
    reader: str = field(default_factory=reader_version)
    packed: PackedPage | None = None
    """None where the tenant has no room, wants none, or the page is too long."""


@dataclass(slots=True)
class SiteBases:
    """The first pages of sites, which others are packed against."""

    reader: AsyncEngine
    _held: TTLCache[UUID, tuple[bytes, bytes]] = field(
        default_factory=lambda: TTLCache(
            MAX_BASE_BYTES, BASE_SECONDS, getsizeof=lambda held: len(held[1])
        )
    )

    async def get(self, domain_id: UUID) -> tuple[bytes, bytes] | None:
        """Return hash and bytes of a site's first page, once there is one."""
        if (held := self._held.get(domain_id)) is not None:
            return held
        async with self.reader.connect() as connection:
            rows = await connection.execute(FIND_BASE, {"domain": domain_id})
            row = rows.one_or_none()
        if row is None:
            return None
        body = await asyncio.to_thread(unpack_or_nothing, bytes(row.content), row.size)
        if hashlib.sha256(body).digest() != bytes(row.hash):
            return None  # damaged: what is packed against it could not be read
        found = self._held[domain_id] = bytes(row.hash), body
        return found


async def pack_page(
    body: bytes, domain_id: UUID, bases: SiteBases
) -> tuple[bytes, PackedPage]:
    """Return the hash of a page and its bytes as they are kept."""
    base = await bases.get(domain_id)
    return await asyncio.to_thread(packed_against, body, base)


def packed_against(
    body: bytes, base: tuple[bytes, bytes] | None
) -> tuple[bytes, PackedPage]:
    """Pack a page against the first of its site, which itself stands alone."""
    digest = hashlib.sha256(body).digest()
    if base is None or base[0] == digest:
        return digest, PackedPage(len(body), pack(body), None)
    return digest, PackedPage(len(body), pack(body, base[1]), base[0])


class SnapshotPage(Protocol):
    """Whose the snapshot is."""

    @property
    def id(self) -> UUID: ...  # noqa: D102
    @property
    def tenant_id(self) -> UUID: ...  # noqa: D102
    @property
    def domain_id(self) -> UUID: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class SnapshotToStore:
    """A snapshot of a page, and whether its bytes may be kept."""

    page: SnapshotPage
    draft: SnapshotDraft
    url: str
    seen_at: Any
    may_keep: bool

    @property
    def row(self) -> dict[str, Any]:
        """Write it as its table has it."""
        draft = self.draft
        return {
            "tenant_id": self.page.tenant_id,
            "domain_id": self.page.domain_id,
            "page_id": self.page.id,
            "hash": f"\\x{draft.hash.hex()}",
            "url": self.url,
            "encoding": draft.encoding,
            "country": draft.country,
            "is_rendered": draft.is_rendered,
            "reader": draft.reader,
            "seen_at": self.seen_at,
            "voided_at": None if self.may_keep else self.seen_at,
            "void_reason": None if self.may_keep else VoidReason.SUPPRESSED,
        }


async def store_contents(
    transaction: Transaction, kept: Sequence[SnapshotToStore]
) -> int:
    """Keep the bytes of pages; return how many that are."""
    packed = {
        (one.page.tenant_id, one.draft.hash): one.draft.packed
        for one in kept
        if one.may_keep and one.draft.packed is not None
    }
    if not packed:
        return 0
    rows = await transaction.fetch(
        STORE_CONTENTS,
        [tenant for tenant, _ in packed],
        [digest for _, digest in packed],
        [one.base for one in packed.values()],
        [one.size for one in packed.values()],
        [one.content for one in packed.values()],
    )
    return sum(row["packed"] for row in rows)
