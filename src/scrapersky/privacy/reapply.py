"""What was erased after a backup is erased again when the backup is restored.

The list keeps keyed hashes only, so what it means is found by hashing what the restored tables
hold: first the columns made for addresses, numbers, names and domains, then every text.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress as ignoring
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import ColumnElement, Table, insert, inspect, select, text, true
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from typing_extensions import override

from scrapersky.errors import InvalidSubject
from scrapersky.kit.canonical import mailbox_of
from scrapersky.privacy.key import Keys, keys_of
from scrapersky.privacy.subject import (
    Subject,
    SubjectKind,
    domain_subject,
    email_subject,
    names_above,
    person_subject,
    phone_subject,
)
from scrapersky.privacy.suppression import suppress_here
from scrapersky.privacy.suppression_filter import SuppressionFilter
from scrapersky.privacy.sweep import (
    Hit,
    SearchTerm,
    by_key,
    by_place,
    changes_of,
    scrub,
    searched_tables,
)
from scrapersky.records import Suppression, SuppressionKey
from scrapersky.records.audit import Actor, note

REASON: Final = "erased before the backup was restored"
SUBJECTS_PER_TRANSACTION: Final = 200
HELD_VALUES: Final = {
    SubjectKind.EMAIL: """SELECT email FROM contacts WHERE tenant_id = :tenant
      UNION SELECT email FROM people WHERE tenant_id = :tenant
      UNION SELECT unnest(emails) FROM domains WHERE tenant_id = :tenant""",
    SubjectKind.PHONE: """SELECT phone FROM contacts WHERE tenant_id = :tenant
      UNION SELECT jsonb_object_keys(phones) FROM contacts
        WHERE tenant_id = :tenant AND jsonb_typeof(phones) = 'object'
      UNION SELECT phone FROM people WHERE tenant_id = :tenant
      UNION SELECT unnest(phones) FROM domains WHERE tenant_id = :tenant
      UNION SELECT phone FROM local_businesses WHERE tenant_id = :tenant
      UNION SELECT phone FROM places_staging WHERE tenant_id = :tenant""",
    SubjectKind.DOMAIN: "SELECT domain FROM domains WHERE tenant_id = :tenant",
    SubjectKind.PERSON: """SELECT p.name || '@' || d.domain FROM people p
      JOIN domains d ON d.id = p.domain_id WHERE p.tenant_id = :tenant""",
}


@dataclass(frozen=True, slots=True)
class SuppressionSnapshot:
    """The suppression list of a database that is about to be replaced."""

    keys: Sequence[dict[str, Any]] = ()
    entries: Sequence[dict[str, Any]] = ()


class FullSweep(SearchTerm):
    """Matches every row: what is meant cannot be looked for by its letters."""

    @override
    def is_in(self, table: Table) -> ColumnElement[bool]:
        return true()


async def read_snapshot(connection: AsyncConnection) -> SuppressionSnapshot:
    """Read the list of a database, if it has one."""

    def tables(sync: Any) -> set[str]:  # noqa: ANN401 - a connection
        return set(inspect(sync).get_table_names())

    if Suppression.__tablename__ not in await connection.run_sync(tables):
        return SuppressionSnapshot()
    keys = await connection.execute(select(SuppressionKey.__table__))
    # It may be of an older version, and have fewer columns.
    entries = await connection.execute(text("SELECT * FROM suppressions"))
    return SuppressionSnapshot(
        [dict(row) for row in keys.mappings()],
        [{**row, "created_by": None} for row in entries.mappings()],
    )


async def restore_entries(
    connection: AsyncConnection, kept: SuppressionSnapshot
) -> list[dict[str, Any]]:
    """Add the entries that a restored list lacks, and return them."""
    if kept.keys:
        await connection.execute(
            upsert(SuppressionKey).on_conflict_do_nothing(), list(kept.keys)
        )
    tenants = set(await connection.scalars(text("SELECT id FROM tenants")))
    known = {
        (row.tenant_id, row.kind, bytes(row.value_hash))
        for row in await connection.execute(
            select(Suppression.tenant_id, Suppression.kind, Suppression.value_hash)
        )
    }
    missing = [
        entry
        for entry in kept.entries
        if entry["tenant_id"] in tenants
        and (entry["tenant_id"], entry["kind"], bytes(entry["value_hash"])) not in known
    ]
    if missing:
        await connection.execute(insert(Suppression), missing)
    return missing


async def erase_again(engine: AsyncEngine, missing: Iterable[dict[str, Any]]) -> int:
    """Erase what these entries mean from every table; return how many values it was."""
    by_tenant: dict[UUID, set[bytes]] = {}
    for entry in missing:
        hashes = by_tenant.setdefault(entry["tenant_id"], set())
        hashes |= {
            bytes(entry[name]) for name in ("value_hash", "tail_hash") if entry[name]
        }
    found = 0
    for tenant_id, hashes in by_tenant.items():
        async with engine.connect() as connection:
            keys = await keys_of(connection)
        actor = Actor(tenant_id, None, "restore")
        subjects = [
            one async for one in matching_subjects(engine, tenant_id, keys, hashes)
        ]
        found += len(subjects)
        for start in range(0, len(subjects), SUBJECTS_PER_TRANSACTION):
            async with engine.begin() as connection:
                chunk = subjects[start : start + SUBJECTS_PER_TRANSACTION]
                await suppress_here(connection, actor, chunk, REASON)
        swept = await sweep(
            engine, tenant_id, SuppressionFilter(keys, frozenset(hashes))
        )
        async with engine.begin() as connection:
            details = {"values": len(subjects), "rows cleaned": swept}
            await note(connection, actor, "erased again", "suppressions", details)
    return found


async def matching_subjects(
    engine: AsyncEngine, tenant_id: UUID, keys: Keys, hashes: set[bytes]
) -> AsyncIterator[Subject]:
    """Yield what of the values that are held these hashes mean."""
    for kind, query in HELD_VALUES.items():
        async with engine.connect() as connection:
            rows = await connection.stream(text(query), {"tenant": tenant_id})
            async for (value,) in rows:
                for subject in subjects_of(kind, value) if value else ():
                    if any(one in hashes for one in keys.read(kind, subject.value)):
                        yield subject


def subjects_of(kind: SubjectKind, value: str) -> list[Subject]:
    """Return what a value may be on the list as."""
    with ignoring(InvalidSubject):
        match kind:
            case SubjectKind.EMAIL:
                spelt = email_subject(value)
                return [spelt, Subject(kind, mailbox_of(spelt.value))]
            case SubjectKind.PHONE:
                return [phone_subject(value)]
            case SubjectKind.DOMAIN:
                names = names_above(domain_subject(value).value)
                return [Subject(kind, name) for name in names]
            case SubjectKind.PERSON:
                name, _, domain = value.rpartition("@")
                return [person_subject(name, each) for each in names_above(domain)]
    return []


async def sweep(
    engine: AsyncEngine, tenant_id: UUID, suppressions: SuppressionFilter
) -> int:
    """Strike what is on the list out of every text; return how many rows had any."""
    cleaned = 0
    for table in searched_tables():
        rows = by_key if table.primary_key.columns else by_place
        async for row in rows(engine, table, tenant_id, FullSweep("")):
            if changes_of(table, row, suppressions.strike_out):
                async with engine.begin() as connection:
                    hit = Hit(table, row)
                    cleaned += await scrub(connection, hit, suppressions.strike_out)
    return cleaned
