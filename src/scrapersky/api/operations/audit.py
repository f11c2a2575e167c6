"""A line in the audit log for what operators do."""

from typing import Any

from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.curation.decision import Actor
from scrapersky.models import AuditEntry


async def note(
    engine: AsyncEngine,
    actor: Actor,
    action: str,
    subject: str,
    details: dict[str, Any] | None = None,
) -> None:
    """Write down who did what."""
    async with engine.begin() as connection:
        await connection.execute(
            insert(AuditEntry).values(
                tenant_id=actor.tenant_id,
                created_by=actor.user_id,
                actor=actor.name,
                action=action,
                subject=subject,
                details=details,
                request_id=actor.request_id,
            )
        )
