"""A line in the audit log for what operators do."""

from typing import Any

from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.records.audit import Actor, note


async def note_alone(
    engine: AsyncEngine,
    actor: Actor,
    action: str,
    subject: str,
    details: dict[str, Any] | None = None,
) -> None:
    """Write down who did what, in a transaction of its own."""
    async with engine.begin() as connection:
        await note(connection, actor, action, subject, details)
