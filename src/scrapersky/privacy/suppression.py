"""The list of who must be left alone: add, take off, and remove what is held."""

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, literal, select, text
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.email_type import EmailType
from scrapersky.db.transaction import Database, run_in_transaction, transaction
from scrapersky.errors import InvalidSubject, UnknownSuppression
from scrapersky.privacy.key import Keys, fingerprint, keys_of
from scrapersky.privacy.snapshot import remove_contents, void_pages_of
from scrapersky.privacy.subject import (
    Subject,
    SubjectKind,
    any_subject,
    person_subject,
    spellings_of,
)
from scrapersky.privacy.suppression_filter import (
    LOCK_ALONE,
    SuppressionFilter,
    lock_name,
    suppressions,
)
from scrapersky.privacy.sweep import Hit, scrub
from scrapersky.privacy.synced import linked_records, remember_records
from scrapersky.records import Suppression
from scrapersky.records.audit import Actor, note
from scrapersky.records.base import Base
from scrapersky.records.change import ChangeEvent, removing_because
from scrapersky.records.snapshot import VoidReason
from scrapersky.records.status import (
    MapField,
    PageCurationStatus,
    PageProcessingStatus,
    SitemapImportStatus,
)

SUBJECTS_PER_TRANSACTION = 500
MAX_REFUSALS = 100
MOST_PAGES_AT_ONCE = 500
COLUMN_END = re.compile(r"[,;\t]")


@dataclass(slots=True)
class SuppressionResult:
    """What adding to the list came to."""

    ids: list[UUID] = field(default_factory=list)
    """The new entries."""
    known: int = 0
    """How many were on the list already."""
    contacts_removed: int = 0
    refused: int = 0
    pages: list[bytes] = field(default_factory=list)
    """Hashes of the pages that are not kept any more, for they name one of these."""
    refusals: list[tuple[int, str]] = field(default_factory=list)
    """Line number and reason of the first lines that say nothing we understand."""

    def add(self, other: "SuppressionResult") -> None:
        """Count in what a further part of the list came to."""
        self.ids += other.ids
        self.known += other.known
        self.contacts_removed += other.contacts_removed
        self.refused += other.refused
        self.refusals += other.refusals[: MAX_REFUSALS - len(self.refusals)]


async def suppress(
    database: Database,
    actor: Actor,
    subjects: Sequence[Subject],
    reason: str | None = None,
) -> SuppressionResult:
    """Put these on the tenant's list and remove what is held about them, at once.

    Whoever stores meanwhile has finished, or asks the list afterwards.
    """

    async def act(connection: AsyncConnection) -> SuppressionResult:
        done = await suppress_here(connection, actor, subjects, reason)
        await note(
            connection,
            actor,
            "suppressed",
            "suppressions",
            {
                "added": len(done.ids),
                "kinds": dict(Counter(one.kind.value for one in subjects)),
                "contacts_removed": done.contacts_removed,
            },
        )
        return done

    done = await run_in_transaction(database, act)
    # The rest of many is removed with what is too old.
    some = done.pages[:MOST_PAGES_AT_ONCE]
    await run_in_transaction(database, partial(remove_contents, actor.tenant_id, some))
    return done


async def suppress_here(
    connection: AsyncConnection,
    actor: Actor,
    subjects: Sequence[Subject],
    reason: str | None,
) -> SuppressionResult:
    """Do so inside a transaction of the caller."""
    await connection.execute(LOCK_ALONE, {"name": lock_name(actor.tenant_id)})
    keys = await keys_of(connection)
    named = await people_of(connection, actor.tenant_id, subjects)
    await rewrite(connection, actor.tenant_id, keys, [*subjects, *named])
    added = await add_entries(
        connection, actor, [entry(keys, one, reason) for one in dict.fromkeys(subjects)]
    )
    await add_entries(
        connection,
        actor,
        [
            entry(keys, person, reason) | {"entry_hash": keys.write(address)}
            for person, address in named.items()
        ],
    )
    done = SuppressionResult(ids=added, known=len(subjects) - len(added))
    everybody = [*subjects, *named]
    done.pages = await void_pages_of(
        connection, actor.tenant_id, everybody, VoidReason.SUPPRESSED
    )
    linked = await linked_records(connection, actor.tenant_id, everybody)
    async with removing_because(connection, ChangeEvent.SUPPRESSED):
        done.contacts_removed = await remove(connection, actor.tenant_id, everybody)
    await remember_records(connection, keys, linked)
    return done


def entry(keys: Keys, subject: Subject, reason: str | None) -> dict[str, Any]:
    """Write a subject as the list keeps it."""
    return {
        "kind": subject.kind.value,
        "value_hash": keys.write(subject),
        "tail_hash": keys.write_tail(subject),
        "key_fingerprint": fingerprint(keys.current),
        "reason": reason,
    }


async def rewrite(
    connection: AsyncConnection,
    tenant_id: UUID,
    keys: Keys,
    subjects: Sequence[Subject],
) -> None:
    """Bring entries for these under the current key: only now are their values known."""
    older = {old: one for one in subjects for old in keys.read_others(one)}
    if not older:
        return
    listed = select(Suppression.value_hash).where(
        Suppression.tenant_id == tenant_id,
        Suppression.value_hash == func.any(literal(list(older))),
    )
    found = {older[bytes(one)] for one in await connection.scalars(listed)}
    for one in found:
        values = {
            "tenant": tenant_id,
            "older": [*keys.read_others(one)],
            **entry(keys, one, None),
        }
        for statement in REWRITE:
            await connection.execute(statement, values)


REWRITE = (
    # One of them becomes the new entry, unless there is one; others would be left behind
    # when it is taken off the list.
    text(
        """UPDATE suppressions SET value_hash = :value_hash, tail_hash = :tail_hash,
          key_fingerprint = :key_fingerprint
        WHERE id = (SELECT id FROM suppressions WHERE tenant_id = :tenant AND kind = :kind
            AND value_hash = ANY(:older) ORDER BY created_at LIMIT 1)
          AND NOT EXISTS (SELECT FROM suppressions WHERE tenant_id = :tenant
            AND kind = :kind AND value_hash = :value_hash)"""
    ),
    text(
        """DELETE FROM suppressions
        WHERE tenant_id = :tenant AND kind = :kind AND value_hash = ANY(:older)"""
    ),
    text(
        """UPDATE suppressions SET entry_hash = :value_hash
        WHERE tenant_id = :tenant AND entry_hash = ANY(:older)"""
    ),
)


async def add_entries(
    connection: AsyncConnection, actor: Actor, entries: Sequence[dict[str, Any]]
) -> list[UUID]:
    """Add entries to the list; return those that were not on it."""
    if not entries:
        return []
    whose = {"tenant_id": actor.tenant_id, "created_by": actor.user_id}
    statement = upsert(Suppression).values([one | whose for one in entries])
    added = statement.on_conflict_do_nothing().returning(Suppression.id)
    return [*(await connection.scalars(added)).all()]


async def people_of(
    connection: AsyncConnection, tenant_id: UUID, subjects: Sequence[Subject]
) -> dict[Subject, Subject]:
    """Return whose addresses these are, by name and site, each with the address.

    Another page may name them without it. A mailbox that a company shares is nobody's own.
    """
    asked = [one.value for one in subjects if one.kind is SubjectKind.EMAIL]
    if not asked:
        return {}
    values = {"tenant": tenant_id, "named": asked, "shared": EmailType.SERVICE.value}
    return {
        person_subject(row.name, row.domain): Subject(SubjectKind.EMAIL, row.address)
        for row in await connection.execute(PEOPLE_OF, values)
    }


async def suppress_lines(
    database: Database,
    actor: Actor,
    lines: Iterable[str],
    *,
    reason: str | None = None,
    region: str | None = None,
    first: int = 1,
) -> SuppressionResult:
    """Put a whole list on it, one address, number or domain a line, in small steps.

    Only the first column of a table counts; `first` is the number of the first line.
    """
    total = SuppressionResult()
    numbered = enumerate(lines, start=first)
    # A host in other letters takes a third of a millisecond to read.
    chunks = await asyncio.to_thread(lambda: [*read_lines(numbered, total, region)])
    for chunk in chunks:
        total.add(await suppress(database, actor, chunk, reason))
    return total


def read_lines(
    lines: Iterable[tuple[int, str]], total: SuppressionResult, region: str | None
) -> Iterator[list[Subject]]:
    """Read lines into chunks; what cannot be read is reported with its number."""
    chunk: list[Subject] = []
    for number, line in lines:
        written = COLUMN_END.split(line.lstrip("\ufeff"))[0].strip("\"' \r\n")
        if not written:
            continue
        try:
            chunk.append(any_subject(written, region))
        except InvalidSubject as error:
            total.refused += 1
            if len(total.refusals) < MAX_REFUSALS:
                total.refusals.append((number, str(error)))
        if len(chunk) == SUBJECTS_PER_TRANSACTION:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


async def lift(database: Database, actor: Actor, suppression_id: UUID) -> None:
    """Take one entry off the list; what was removed comes back only if found anew."""
    async with transaction(database) as connection:
        gone = await connection.execute(
            delete(Suppression)
            .where(
                Suppression.id == suppression_id,
                Suppression.tenant_id == actor.tenant_id,
            )
            .returning(Suppression.kind, Suppression.value_hash)
        )
        row = gone.one_or_none()
        if row is None:
            raise UnknownSuppression("There is no such entry.")
        await connection.execute(
            delete(Suppression).where(
                Suppression.tenant_id == actor.tenant_id,
                Suppression.entry_hash == row.value_hash,
            )
        )
        about = {"kind": row.kind}
        await note(connection, actor, "unsuppressed", "suppressions", about)


async def remove(
    connection: AsyncConnection, tenant_id: UUID, subjects: Sequence[Subject]
) -> int:
    """Remove what is held in the columns made for such values; return the contacts."""
    removed = 0
    await strike_out_of_sites(connection, tenant_id, subjects)
    for kind, statements in REMOVE.items():
        named = [one.value for one in subjects if one.kind is kind]
        if not named:
            continue
        values = {
            "tenant": tenant_id,
            "named": named,
            "spelt": spellings(named) if kind is SubjectKind.PHONE else [],
            "under": [f"%.{escape_like(name)}" for name in named],
            "at": [f"%@{escape_like(name)}" for name in named],
            "at_under": [f"%@%.{escape_like(name)}" for name in named],
        }
        for statement in statements:
            result = await connection.execute(text(statement), values)
            if statement.startswith("DELETE FROM contacts"):
                removed += result.rowcount
    return removed


async def strike_out_of_sites(
    connection: AsyncConnection, tenant_id: UUID, subjects: Sequence[Subject]
) -> None:
    """Strike numbers out of the places and businesses that have them, and their sources."""
    named = [one.value for one in subjects if one.kind is SubjectKind.PHONE]
    if named:
        keys = await keys_of(connection)
        found = frozenset(one for who in subjects for one in entry_hashes(keys, who))
        guard = SuppressionFilter(keys, found)
        await scrub_sites(connection, tenant_id, guard, named)


async def scrub_sites(
    connection: AsyncConnection,
    tenant_id: UUID,
    guard: SuppressionFilter,
    numbers: Sequence[str],
) -> None:
    """Strike out what a filter hides, of the places and businesses with these numbers."""
    values = {"tenant": tenant_id, "named": numbers, "spelt": spellings(numbers)}
    for name, statement in SITES.items():
        table = Base.metadata.tables[name]
        found = (await connection.scalars(text(statement), values)).all()
        for row_id in found:
            await scrub(connection, Hit(table, {"id": row_id}), guard.strike_out)


async def hold_back(
    connection: AsyncConnection, tenant_id: UUID, numbers: Iterable[str | None]
) -> SuppressionFilter:
    """Ask the list about stored numbers, and remove those that are on it.

    What was stored before its number had one form is found here when it is read again.
    """
    asked = [*{number for number in numbers if number}]
    guard = await suppressions(connection, tenant_id, asked)
    hidden = [number for number in asked if guard.hides_phone(number)]
    if hidden:
        await scrub_sites(connection, tenant_id, guard, hidden)
    return guard


def entry_hashes(keys: Keys, subject: Subject) -> Iterator[bytes]:
    """Yield what an entry about a subject is found by."""
    yield keys.write(subject)
    if (tail := keys.write_tail(subject)) is not None:
        yield tail


def spellings(numbers: Iterable[str]) -> list[str]:
    """Return the digits that these numbers have where no country is known."""
    known = (one for one in numbers if one.startswith("+"))
    return [*{digits for number in known for digits in spellings_of(number)}]


def escape_like(name: str) -> str:
    """Write a name so that LIKE takes it by the letter."""
    return name.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


PERSON_KEYS = """SELECT d.id, split_part(n, '@', 1) FROM unnest(CAST(:named AS text[])) AS n
  JOIN domains d ON d.tenant_id = :tenant AND d.domain = split_part(n, '@', 2)"""

REMOVE_OTHER_VALUES = """UPDATE pages SET other_values = (
    SELECT coalesce(jsonb_agg(o), '[]') FROM jsonb_array_elements(other_values) AS o
    WHERE o->>'value' <> ALL(:named))
  WHERE tenant_id = :tenant AND other_values <> '[]' AND other_values @> ANY(
    SELECT jsonb_build_array(jsonb_build_object('value', n))
    FROM unnest(CAST(:named AS text[])) AS n)"""

HAS_NUMBER = """tenant_id = :tenant
  AND (phone = ANY(:named) OR phone_digits(phone) = ANY(:spelt))"""

SITES = {
    name: f"SELECT id FROM {name} WHERE {HAS_NUMBER}"  # noqa: S608
    for name in ("places_staging", "local_businesses")
}
"""Where a source's own answer is kept beside the number."""

OF_DOMAIN = """domain_id IN (SELECT id FROM domains WHERE tenant_id = :tenant
  AND (domain = ANY(:named) OR domain LIKE ANY(:under)))"""

PEOPLE_OF = text(
    """SELECT p.name, d.domain, n.address
    FROM unnest(CAST(:named AS text[])) AS n(address)
    JOIN people p ON p.tenant_id = :tenant AND mailbox_of(p.email) = mailbox_of(n.address)
    JOIN domains d ON d.id = p.domain_id
    WHERE strpos(p.name, ' ') > 0 AND NOT EXISTS (SELECT FROM contacts c
      WHERE c.domain_id = p.domain_id AND c.email = p.email
        AND c.email_type::text = :shared)"""
)

FORGET_SAMPLED = """UPDATE sampled_values SET value = NULL, url = NULL, snippet = NULL
  WHERE tenant_id = :tenant AND value = ANY(:named)"""

REMOVE: dict[SubjectKind, tuple[str, ...]] = {
    SubjectKind.EMAIL: (
        "DELETE FROM contacts WHERE tenant_id = :tenant AND email = ANY(:named)",
        """DELETE FROM contacts WHERE tenant_id = :tenant
          AND mailbox_of(email) = ANY(:named)""",
        """DELETE FROM people WHERE tenant_id = :tenant
          AND mailbox_of(email) = ANY(:named)""",
        REMOVE_OTHER_VALUES,
        FORGET_SAMPLED,
        """UPDATE domains SET emails = array(SELECT e FROM unnest(emails) AS e
          WHERE e <> ALL(:named))
        WHERE tenant_id = :tenant AND emails && CAST(:named AS text[])""",
        """UPDATE domains SET emails = array(SELECT e FROM unnest(emails) AS e
          WHERE mailbox_of(e) <> ALL(:named))
        WHERE tenant_id = :tenant AND mailboxes_of(emails) && CAST(:named AS text[])""",
    ),
    SubjectKind.PHONE: (
        """UPDATE people SET phone = NULL
        WHERE tenant_id = :tenant AND phone = ANY(:named)""",
        REMOVE_OTHER_VALUES,
        FORGET_SAMPLED,
        """DELETE FROM contacts WHERE tenant_id = :tenant AND email IS NULL
          AND phone = ANY(:named)""",
        """DELETE FROM contact_evidence WHERE tenant_id = :tenant
          AND value = ANY(:named) AND contact_id IN (SELECT id FROM contacts
            WHERE tenant_id = :tenant AND (phone = ANY(:named)
              OR phones ?| CAST(:named AS text[])))""",
        # What a page had once, and what it has become, is no way to reach anybody either.
        """DELETE FROM contact_evidence WHERE tenant_id = :tenant AND gone_at IS NOT NULL
          AND md5(value) = ANY(ARRAY(SELECT md5(n) FROM unnest(CAST(:named AS text[])) AS n))""",
        """DELETE FROM differences WHERE tenant_id = :tenant
          AND md5(old_value) = ANY(ARRAY(
            SELECT md5(n) FROM unnest(CAST(:named AS text[])) AS n))""",
        """DELETE FROM differences WHERE tenant_id = :tenant
          AND md5(new_value) = ANY(ARRAY(
            SELECT md5(n) FROM unnest(CAST(:named AS text[])) AS n))""",
        """UPDATE contacts SET phones = phones - CAST(:named AS text[]),
          phone = CASE WHEN phone = ANY(:named) THEN NULL ELSE phone END
        WHERE tenant_id = :tenant AND (phone = ANY(:named)
          OR phones ?| CAST(:named AS text[]))""",
        """UPDATE domains SET phones = array(SELECT p FROM unnest(phones) AS p
          WHERE p <> ALL(:named))
        WHERE tenant_id = :tenant AND phones && CAST(:named AS text[])""",
        f"UPDATE companies SET phone = NULL WHERE {HAS_NUMBER}",  # noqa: S608
        f"UPDATE company_members SET phone = NULL WHERE {HAS_NUMBER}",  # noqa: S608
        f"""DELETE FROM company_verdicts WHERE tenant_id = :tenant
          AND field = '{MapField.PHONE}'
          AND (claimed = ANY(:named) OR said = ANY(:named))""",  # noqa: S608
    ),
    SubjectKind.DOMAIN: (
        f"DELETE FROM contacts WHERE tenant_id = :tenant AND {OF_DOMAIN}",  # noqa: S608
        f"DELETE FROM people WHERE tenant_id = :tenant AND {OF_DOMAIN}",  # noqa: S608
        """DELETE FROM people WHERE tenant_id = :tenant
          AND (email LIKE ANY(:at) OR email LIKE ANY(:at_under))""",
        """DELETE FROM contacts WHERE tenant_id = :tenant
          AND (email LIKE ANY(:at) OR email LIKE ANY(:at_under))""",
        """UPDATE domains SET emails = '{}', phones = '{}'
        WHERE tenant_id = :tenant AND (domain = ANY(:named) OR domain LIKE ANY(:under))
          AND (emails <> '{}' OR phones <> '{}')""",
        f"""UPDATE pages SET page_processing_status = NULL,
          page_curation_status = '{PageCurationStatus.SKIPPED}'
        WHERE tenant_id = :tenant AND page_processing_status = '{PageProcessingStatus.QUEUED}'
          AND {OF_DOMAIN}""",  # noqa: S608
        f"""UPDATE sitemap_files SET sitemap_import_status = NULL
        WHERE tenant_id = :tenant AND sitemap_import_status = '{SitemapImportStatus.QUEUED}'
          AND {OF_DOMAIN}""",  # noqa: S608
    ),
    SubjectKind.PERSON: (
        f"""DELETE FROM contacts c USING people p WHERE c.tenant_id = :tenant
          AND c.domain_id = p.domain_id AND lower(c.name) = lower(p.name)
          AND (p.domain_id, p.name_key) IN ({PERSON_KEYS})""",  # noqa: S608
        f"""DELETE FROM people WHERE tenant_id = :tenant
          AND (domain_id, name_key) IN ({PERSON_KEYS})""",  # noqa: S608
    ),
}
