"""Who must be notified by when that we hold their data, and keeping whom we have notified.

People whose data was not got from themselves must be informed within a month where it came
from (GDPR, article 14). The database keeps for every contact when that month ends.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.db.transaction import (
    Database,
    commit_chunk,
    run_in_transaction,
    transaction,
)
from scrapersky.errors import InvalidNotice
from scrapersky.records.audit import Actor, note
from scrapersky.records.notice import LegalBasis

CONTACTS_PER_TRANSACTION: Final = 2_000
"""Contacts marked in one transaction."""
CLOCK_TOLERANCE: Final = timedelta(minutes=5)
"""How far another machine's clock may be ahead; the database's own is what is kept."""


@dataclass(frozen=True, slots=True)
class NoticeResult:
    """What marking contacts came to."""

    changed: int
    unchanged: int
    """They were marked so before, or are not there (any more)."""


@dataclass(frozen=True, slots=True)
class NoticeDetails:
    """How people were notified, when, and why their data may be held."""

    informed_at: datetime | None = None
    """Without it: now, by the database's clock."""
    how: str | None = None
    legal_basis: LegalBasis | None = None


async def mark_informed(
    database: Database, actor: Actor, contacts: Sequence[UUID], given: NoticeDetails
) -> NoticeResult:
    """Keep that these were notified; who was notified before keeps that date."""
    values = {
        "at": given.informed_at,
        "by": actor.user_id,
        "how": given.how,
        "basis": given.legal_basis,
    }
    return await mark(
        database, actor, contacts, action="informed", statement=INFORM, values=values
    )


async def mark_all_informed(
    database: Database, actor: Actor, obtained_before: datetime, given: NoticeDetails
) -> NoticeResult:
    """Keep that everyone was notified whose data we had by then, some at a time."""
    total = 0
    query = text(OPEN_BEFORE)
    while True:
        async with transaction(database) as connection:
            found = await connection.scalars(
                query,
                {
                    "tenant": actor.tenant_id,
                    "before": obtained_before,
                    "most": CONTACTS_PER_TRANSACTION,
                },
            )
            contacts = found.all()
        if not contacts:
            return NoticeResult(total, 0)
        total += (await mark_informed(database, actor, contacts, given)).changed
        await commit_chunk(database)


async def mark_open(
    database: Database, actor: Actor, contacts: Sequence[UUID]
) -> NoticeResult:
    """Take it back that these were notified."""
    return await mark(
        database, actor, contacts, action="reopened", statement=REOPEN, values={}
    )


async def mark(
    database: Database,
    actor: Actor,
    contacts: Sequence[UUID],
    *,
    action: str,
    statement: str,
    values: dict[str, Any],
) -> NoticeResult:
    """Change the notices of contacts, a chunk at a time, each with its audit entry."""
    wanted = list(dict.fromkeys(contacts))
    changed = 0
    for start in range(0, len(wanted), CONTACTS_PER_TRANSACTION):
        chunk = wanted[start : start + CONTACTS_PER_TRANSACTION]

        async def act(
            connection: AsyncConnection, chunk: Sequence[UUID] = chunk
        ) -> int:
            done = await connection.execute(
                text(statement),
                {"tenant": actor.tenant_id, "contacts": chunk, **values},
            )
            if done.rowcount:
                details = {"contacts": done.rowcount}
                await note(connection, actor, action, "notices", details)
            return int(done.rowcount)

        changed += await run_in_transaction(database, act)
    return NoticeResult(changed, len(wanted) - changed)


async def merge_notices(
    connection: AsyncConnection, into: UUID, others: Sequence[UUID]
) -> None:
    """Let one contact answer for several: the earliest date counts, and who was notified.

    To be called while the others are still there.
    """
    await connection.execute(text(MERGE), {"into": into, "others": list(others)})


def refuse_future(informed_at: datetime | None, now: datetime) -> None:
    """Raise InvalidNotice for what has not happened yet."""
    if informed_at is not None and informed_at > now + CLOCK_TOLERANCE:
        raise InvalidNotice(
            "Nobody can have been informed in the future.",
            hint="Leave `informed_at` out for now.",
        )


# Locked in the order of their ids, so that two who mark the same wait for each other.
INFORM: Final = """
UPDATE contact_notices n SET
  informed_at = least(CAST(:at AS timestamptz), clock_timestamp()),
  informed_by = :by, how = :how,
  legal_basis = coalesce(CAST(:basis AS text), n.legal_basis)
FROM (SELECT contact_id FROM contact_notices WHERE tenant_id = :tenant
  AND contact_id = ANY(:contacts) AND informed_at IS NULL
  ORDER BY contact_id FOR UPDATE) AS wanted
WHERE n.contact_id = wanted.contact_id
"""
REOPEN: Final = """
UPDATE contact_notices n SET informed_at = NULL, informed_by = NULL, how = NULL
FROM (SELECT contact_id FROM contact_notices WHERE tenant_id = :tenant
  AND contact_id = ANY(:contacts) AND informed_at IS NOT NULL
  ORDER BY contact_id FOR UPDATE) AS wanted
WHERE n.contact_id = wanted.contact_id
"""
# No month has more than 31 days: so the index by the due date bounds what is read.
OPEN_BEFORE: Final = """
SELECT contact_id FROM contact_notices
WHERE tenant_id = :tenant AND informed_at IS NULL
  AND obtained_at <= CAST(:before AS timestamptz)
  AND due_at <= CAST(:before AS timestamptz) + interval '31 days'
ORDER BY due_at, contact_id LIMIT :most
"""
MERGE: Final = """
UPDATE contact_notices n SET obtained_at = least(n.obtained_at, o.obtained_at),
  informed_at = coalesce(n.informed_at, o.informed_at),
  informed_by = CASE WHEN n.informed_at IS NULL THEN o.informed_by
    ELSE n.informed_by END,
  how = CASE WHEN n.informed_at IS NULL THEN o.how ELSE n.how END
FROM (SELECT min(obtained_at) AS obtained_at, min(informed_at) AS informed_at,
    (array_agg(informed_by ORDER BY informed_at) FILTER
      (WHERE informed_at IS NOT NULL))[1] AS informed_by,
    (array_agg(how ORDER BY informed_at) FILTER
      (WHERE informed_at IS NOT NULL))[1] AS how
  FROM contact_notices WHERE contact_id = ANY(:others)) AS o
WHERE n.contact_id = :into AND o.obtained_at IS NOT NULL
"""
