"""Records in CRMs of people who objected: an erasure that comes later still finds them.

Of whoever objects nothing stays here but an entry of the suppression list, which is a hash. With
the same hash the number of their record in a CRM is kept: it is to be left alone there, until the
person asks for more.
"""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.privacy.key import Keys
from scrapersky.privacy.subject import Subject, SubjectKind
from scrapersky.records.sync import SyncState

KNOWN_BY: Final = "known_by"
LINKED: Final = text(
    """SELECT r.id, x.email FROM sync_records r JOIN contacts x ON x.id = r.record_id
    WHERE r.tenant_id = :tenant AND r.kind = 'person' AND r.their_id IS NOT NULL
      AND NOT r.is_shared AND x.email = ANY(:emails)"""
)
REMEMBER: Final = text(
    f"""UPDATE sync_records r SET snapshot = jsonb_build_object('{KNOWN_BY}', one.hash)
    FROM unnest(CAST(:ids AS uuid[]), CAST(:hashes AS text[])) one(id, hash)
    WHERE r.id = one.id AND r.state = '{SyncState.UNLINKED}'"""  # noqa: S608 - our own labels
)
ERASE: Final = text(
    f"""WITH meant AS (UPDATE sync_records r SET snapshot = '{{}}', attempts = 0,
        state = '{SyncState.ERASING}', next_at = clock_timestamp()
      WHERE r.tenant_id = :tenant AND r.state = '{SyncState.UNLINKED}'
        AND r.snapshot ->> '{KNOWN_BY}' = ANY(:hashes) RETURNING r.connection_id)
    UPDATE sync_connections c SET next_at = clock_timestamp() FROM meant m
    WHERE c.id = m.connection_id"""  # noqa: S608 - our own labels
)


async def linked_records(
    connection: AsyncConnection, tenant_id: UUID, subjects: Sequence[Subject]
) -> dict[UUID, str]:
    """Return the address of each record in a CRM that one of these addresses has."""
    emails = [one.value for one in subjects if one.kind is SubjectKind.EMAIL]
    if not emails:
        return {}
    asked = {"tenant": tenant_id, "emails": emails}
    rows = (await connection.execute(LINKED, asked)).all()
    return {row.id: row.email for row in rows}


async def remember_records(
    connection: AsyncConnection, keys: Keys, linked: dict[UUID, str]
) -> None:
    """Keep whose records these are, by a hash, after their contacts have gone."""
    if not linked:
        return
    hashes = [
        keys.write(Subject(SubjectKind.EMAIL, one)).hex() for one in linked.values()
    ]
    await connection.execute(REMEMBER, {"ids": list(linked), "hashes": hashes})


async def erase_remembered(
    connection: AsyncConnection,
    tenant_id: UUID,
    keys: Keys,
    subjects: Sequence[Subject],
) -> None:
    """Queue for erasure in their CRMs the records of people who had objected before."""
    hashes = [
        hashed.hex()
        for one in subjects
        if one.kind is SubjectKind.EMAIL
        for hashed in keys.read(one.kind, one.value)
    ]
    if hashes:
        await connection.execute(ERASE, {"tenant": tenant_id, "hashes": hashes})
