"""Who sits at the command line, and what the audit log keeps of what they change."""

import getpass
import os
from typing import Any
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.records.audit import Actor, note

HOME = text("SELECT id FROM tenants ORDER BY created_at, id LIMIT 1")


def operator_name() -> str:
    """Name the command line and the user of the machine who typed it."""
    try:
        return f"cli ({getpass.getuser()})"
    except (KeyError, OSError):
        # A container's user need not have a name.
        return f"cli (user {os.getuid()})"


def operator(tenant_id: UUID, user_id: UUID | None = None) -> Actor:
    """Return who acts, in the data of one tenant."""
    return Actor(tenant_id, user_id, operator_name())


async def note_operation(
    engine: AsyncEngine, action: str, subject: str, details: dict[str, Any]
) -> None:
    """Write down what touches all tenants, in the log of the installation's own."""
    async with engine.begin() as connection:
        home = UUID(str(await connection.scalar(HOME)))
        await note(connection, operator(home), action, subject, details)
