"""Many new pages at once, in the form in which PostgreSQL's binary COPY takes them.

COPY stores a row for half the work of an INSERT, and while it does the next rows are
written here. What most rows share (whose they are, their rating, their times) is
written once and repeated.
"""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from struct import Struct
from uuid import UUID

from contact_extraction.page_list import PageList
from contact_extraction.page_type import PageRating

COLUMNS = (
    "id",
    *("tenant_id", "created_by", "domain_id", "sitemap_file_id"),
    *("url", "lastmod"),
    *("page_type", "contact_likelihood", "likelihood_reasons"),
    *("page_processing_status", "priority", "created_at", "updated_at"),
)
ROWS_PER_PIECE = 1_000
"""Rows written in one go: short enough that nothing else waits for it."""
FILTERED = "Filtered"

HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
END = b"\xff\xff"
NULL = b"\xff\xff\xff\xff"
SHORT, LENGTH, LONG, REAL = Struct("!h"), Struct("!i"), Struct("!q"), Struct("!d")
ID_HALF = Struct("!Q")
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
TEXT_TYPE = 25
SECOND_HALF = bytes(0x80 | byte & 0x3F for byte in range(256))
"""How the first byte of the second half of a UUID begins: by its variant."""
CLOCKS_DIFFER = timedelta(days=1)
"""How far ahead of ours a site's clock and time zone may be."""


@dataclass(frozen=True, slots=True)
class SitemapOwner:
    """Whose the pages are, and when they were found."""

    tenant_id: UUID
    user_id: UUID
    domain_id: UUID
    sitemap_file_id: UUID
    now: datetime


async def page_rows(
    pages: PageList, chosen: Sequence[int], owner: SitemapOwner
) -> AsyncIterator[bytes]:
    """Write these pages as the rows of one COPY, piece by piece."""
    yield HEAD
    for piece in pieces(pages, chosen, owner):
        yield piece
    yield END


def pieces(
    pages: PageList, chosen: Sequence[int], owner: SitemapOwner
) -> Iterator[bytes]:
    """Write the rows themselves."""
    first = SHORT.pack(len(COLUMNS)) + LENGTH.pack(16)
    whose = b"".join(
        field(key.bytes)
        for key in (
            owner.tenant_id, owner.user_id, owner.domain_id, owner.sitemap_file_id,
        )
    )  # fmt: skip
    times = 2 * field(time_bytes(owner.now))
    ratings = [rating_fields(rating) + times for rating in pages.ratings]
    lastmods: dict[str | None, bytes] = {None: NULL}
    keys = ordered_ids(owner.now, len(chosen))
    for start in range(0, len(chosen), ROWS_PER_PIECE):
        rows: list[bytes] = []
        for at, key in zip(chosen[start : start + ROWS_PER_PIECE], keys, strict=False):
            url, written = pages.urls[at].encode(), pages.lastmods[at]
            if (lastmod := lastmods.get(written)) is None:
                lastmod = lastmods[written] = lastmod_field(written, owner.now)
            size = LENGTH.pack(len(url))
            rows += (first, key, whose, size, url, lastmod, ratings[pages.rated[at]])
        yield b"".join(rows)


def ordered_ids(now: datetime, count: int) -> Iterator[bytes]:
    """Make so many UUIDs of version 7: rows stored together lie together in the index.

    They begin with the time, go on with where in the list the row stands, and end with
    62 bits of chance.
    """
    begun = int(now.timestamp() * 1000) << 16 | 0x7000
    starts, rests = os.urandom(count).translate(SECOND_HALF), os.urandom(7 * count)
    for at in range(count):
        half = ID_HALF.pack(begun | at * 4096 // count)
        yield half + starts[at : at + 1] + rests[7 * at : 7 * at + 7]


def rating_fields(rating: PageRating) -> bytes:
    """Write what a rating fills: its columns are the same for many pages."""
    status = field(FILTERED.encode()) if rating.filtered else NULL
    return (
        field(rating.type.value.encode())
        + field(REAL.pack(rating.score))
        + field(text_array(rating.reasons))
        + status
        + field(SHORT.pack(urgency(rating.score)))
    )


def urgency(score: float) -> int:
    """Let every site's best page go before any site's second best."""
    return round(score * 100)


def lastmod_field(written: str | None, now: datetime) -> bytes:
    """Write a time that the parser wrote."""
    when = moment(written, now)
    return NULL if when is None else field(time_bytes(when))


def moment(written: str | None, now: datetime) -> datetime | None:
    """Read a time the parser wrote; a change that is still to come is none."""
    when = datetime.fromisoformat(written) if written else None
    return None if when is None or when > now + CLOCKS_DIFFER else when


def field(data: bytes) -> bytes:
    """Put the length before a value."""
    return LENGTH.pack(len(data)) + data


def time_bytes(moment: datetime) -> bytes:
    """Write a time as microseconds since 2000."""
    span = moment - EPOCH
    micros = (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds
    return LONG.pack(micros)


def text_array(texts: Sequence[str]) -> bytes:
    """Write a list of texts."""
    head = LENGTH.pack(int(bool(texts))) + LENGTH.pack(0) + LENGTH.pack(TEXT_TYPE)
    if not texts:
        return head
    shape = LENGTH.pack(len(texts)) + LENGTH.pack(1)
    return head + shape + b"".join(field(text.encode()) for text in texts)
