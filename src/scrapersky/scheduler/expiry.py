"""Content that a source lends only for a while: forgotten when its time is over."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

CHUNK = 5_000
"""Rows in one transaction: short enough that nobody waits for it."""
FORGET = text("""
UPDATE places_staging SET name = NULL, address = NULL, latitude = NULL,
  longitude = NULL, rating = NULL, reviews_count = NULL, price_level = NULL,
  categories = '{}', website = NULL, phone = NULL, business_status = NULL,
  moved_to = NULL, raw = NULL, seen_at = NULL, expires_at = NULL
WHERE id IN (SELECT id FROM places_staging WHERE expires_at <= clock_timestamp()
  ORDER BY expires_at LIMIT :chunk FOR UPDATE SKIP LOCKED)
""")


async def forget_expired_places(engine: AsyncEngine) -> int:
    """Clear what a source told about places whose time is over; return how many.

    Their ids, their links to searches and people's decisions stay; a deep scan asks
    the source anew.
    """
    total = 0
    while True:
        async with engine.begin() as connection:
            cleared = (await connection.execute(FORGET, {"chunk": CHUNK})).rowcount
        total += cleared
        if cleared < CHUNK:
            return total
