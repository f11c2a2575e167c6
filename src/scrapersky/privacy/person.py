"""One person: show everything that is held about them, or erase it for good."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.text import name_key
from scrapersky.db.transaction import (
    Database,
    commit_chunk,
    run_in_transaction,
    transaction,
)
from scrapersky.privacy.key import keys_of
from scrapersky.privacy.snapshot import (
    pages_naming,
    remove_in_steps,
    remove_pages_naming,
    void_pages_of,
)
from scrapersky.privacy.subject import (
    Subject,
    SubjectKind,
    name_pattern,
    person_subject,
    sign_of,
)
from scrapersky.privacy.suppression import suppress_here
from scrapersky.privacy.suppression_filter import REMOVED
from scrapersky.privacy.sweep import (
    Hit,
    SearchTerm,
    changes_of,
    hits,
    row_key,
    scrub,
    written_columns,
)
from scrapersky.privacy.synced import erase_remembered
from scrapersky.records import Contact, Domain, Evidence, Person
from scrapersky.records.audit import Actor, AuditEntry, note
from scrapersky.records.change import ChangeEvent, removing_because
from scrapersky.records.snapshot import VoidReason

REASON = "erased on request"
NAMED_BY_ADDRESS = ("pages", "sitemap_files")
"""Their address is their key: where it names the person, the row goes."""
PAGES = "page_contents"
MAX_RECORDS = 2_000
"""Most records of one person in one answer; a person with more is a directory."""


@dataclass(frozen=True, slots=True)
class HeldRecord:
    """One record that says something about the person, and where it came from."""

    table: str
    id: str | None
    values: dict[str, Any]
    origin: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ErasureResult:
    """What an erasure came to: how many records of each table."""

    deleted: dict[str, int]
    cleaned: dict[str, int]


async def export_person(
    database: Database, actor: Actor, subject: Subject
) -> list[HeldRecord]:
    """Gather every record of the tenant in which the person is written, with origins."""
    found: list[HeldRecord] = []
    wanted = SearchTerm(subject.pattern, (subject.sign,) if subject.sign else ())
    async for hit in hits(database, actor.tenant_id, wanted):
        if len(found) == MAX_RECORDS:
            break
        found.append(
            HeldRecord(
                hit.name,
                str(hit.row["id"]) if "id" in hit.row else None,
                {name: json_value(value) for name, value in record_values(hit).items()},
                await origin_of(database, hit),
            )
        )
    async for hashes in pages_naming(database, actor.tenant_id, wanted):
        room = MAX_RECORDS - len(found)
        found += [HeldRecord(PAGES, one.hex(), {}) for one in hashes[:room]]
    async with transaction(database) as connection:
        await note(connection, actor, "shown", "suppressions", {"records": len(found)})
    return found


def record_values(hit: Hit) -> dict[str, Any]:
    """Return what a record says: of a contact everything, else where it is written."""
    if hit.table is Contact.__table__:
        return {k: v for k, v in hit.row.items() if k not in {"ctid", "tenant_id"}}
    columns = {column.name for column in written_columns(hit.table)}
    return {name: value for name, value in hit.row.items() if name in columns}


async def origin_of(database: Database, hit: Hit) -> list[dict[str, Any]]:
    """Tell where the values of a record were found."""
    if hit.table is Contact.__table__:
        query = (
            select(
                Evidence.field, Evidence.value, Evidence.url, Evidence.method,
                Evidence.seen_at, Evidence.robots,
            )
            .where(Evidence.contact_id == hit.row["id"])
            .order_by(Evidence.seen_at, Evidence.id)
        )  # fmt: skip
        async with transaction(database) as connection:
            rows = (await connection.execute(query)).mappings().all()
        return [
            {name: json_value(value) for name, value in row.items()} for row in rows
        ]
    facts = ("source", "licence", "seen_at", "url", "method", "fetched_at")
    known = {
        name: json_value(hit.row[name])
        for name in facts
        if hit.row.get(name) is not None
    }
    return [known] if known else []


def json_value(value: Any) -> Any:  # noqa: ANN401 - any column's value
    """Write a value as JSON can."""
    match value:
        case datetime():
            return value.isoformat()
        case UUID():
            return str(value)
        case bytes():
            return value.decode("utf-8", "replace")
    return value


async def erase_person(
    database: Database, actor: Actor, subject: Subject
) -> ErasureResult:
    """Erase a person from every table, and keep them from coming back.

    First the person is put on the suppression list and their contacts go, in one
    transaction: from then on no stage stores them again. Then every table is looked
    through; should this be interrupted, doing it again finishes it. The name that went
    with the address is struck out of what the same site says elsewhere.
    """
    deleted: Counter[str] = Counter()
    pages: list[bytes] = []
    cleaned: Counter[str] = Counter()

    async def begin(connection: AsyncConnection) -> PersonTraces:
        traces = await traces_of(connection, actor.tenant_id, subject)
        wanted = [subject, *traces.people]
        pages.extend(
            await void_pages_of(connection, actor.tenant_id, wanted, VoidReason.ERASED)
        )
        async with removing_because(connection, ChangeEvent.ERASED):
            done = await suppress_here(connection, actor, wanted, REASON)
        keys = await keys_of(connection)
        await erase_remembered(connection, actor.tenant_id, keys, wanted)
        deleted["contacts"] += done.contacts_removed
        return traces

    traces = await run_in_transaction(database, begin)
    await commit_chunk(database)
    deleted[PAGES] += await remove_in_steps(database, actor.tenant_id, pages)
    pattern = "|".join([subject.pattern, *map(name_pattern, traces.names)])
    everything, only_value = text_remover(pattern), text_remover(subject.pattern)
    signs = [subject.sign, *map(sign_of, traces.names)]
    # One that has none may be written in letters we cannot look for.
    known = tuple(sign for sign in signs if sign)
    wanted = SearchTerm(pattern, known if len(known) == len(signs) else ())
    deleted[PAGES] += await remove_pages_naming(
        database, actor.tenant_id, wanted, VoidReason.ERASED
    )
    async for hit in hits(database, actor.tenant_id, wanted):
        strike_out = everything if traces.lead_to(hit) else only_value
        is_theirs = is_about(hit, subject) or traces.are_of(hit)
        if not (is_theirs or changes_of(hit.table, hit.row, strike_out)):
            continue  # a namesake's

        async def wipe(
            connection: AsyncConnection,
            hit: Hit = hit,
            strike_out: Callable[[str], str] = strike_out,
            is_theirs: bool = is_theirs,  # noqa: FBT001 - bound, never given
        ) -> None:
            if is_theirs:
                async with removing_because(connection, ChangeEvent.ERASED):
                    await connection.execute(hit.table.delete().where(*row_key(hit)))
                deleted[hit.name] += 1
            elif await scrub(connection, hit, strike_out):
                cleaned[hit.name] += 1

        await run_in_transaction(database, wipe)
        await commit_chunk(database)
    async with transaction(database) as connection:
        await note(
            connection,
            actor,
            "erased",
            "suppressions",
            {"deleted": dict(+deleted), "cleaned": dict(cleaned)},
        )
    return ErasureResult(dict(+deleted), dict(cleaned))


@dataclass(frozen=True, slots=True)
class PersonTraces:
    """What the person's own contacts said: their names, and at which sites."""

    names: frozenset[str]
    domain_ids: frozenset[UUID]
    contact_ids: frozenset[UUID]
    """Every contact of those sites: another of them may name the person."""
    domains: frozenset[str] = frozenset()

    @property
    def people(self) -> list[Subject]:
        """The person by name at each of the sites: pages name them without address."""
        return [person_subject(n, d) for n in self.names for d in self.domains]

    def are_of(self, hit: Hit) -> bool:
        """Say whether a record is of the person under their name alone."""
        keys = {name_key(name) for name in self.names}
        return (
            hit.table is Person.__table__
            and hit.row["domain_id"] in self.domain_ids
            and hit.row["name_key"] in keys
        )

    def lead_to(self, hit: Hit) -> bool:
        """Say whether a name in this record is the person's, not a namesake's."""
        row = hit.row
        if hit.table is Domain.__table__:
            return row["id"] in self.domain_ids
        return (
            row.get("domain_id") in self.domain_ids
            or row.get("contact_id") in self.contact_ids
            or row.get("record_id") in self.contact_ids
        )


async def traces_of(
    connection: AsyncConnection, tenant_id: UUID, subject: Subject
) -> PersonTraces:
    """Return the names of the person, as the contacts that go with them say."""
    if subject.kind is not SubjectKind.EMAIL:
        return PersonTraces(frozenset(), frozenset(), frozenset())
    own = (await connection.execute(select_owned(Contact, tenant_id, subject))).all()
    named = (await connection.execute(select_owned(Person, tenant_id, subject))).all()
    domain_ids = frozenset(row.domain_id for row in (*own, *named))
    if not domain_ids:
        return PersonTraces(frozenset(), frozenset(), frozenset())
    beside = select(Contact.id).where(
        Contact.tenant_id == tenant_id, Contact.domain_id.in_(domain_ids)
    )
    contacts = frozenset((await connection.scalars(beside)).all())
    sites = select(Domain.domain).where(Domain.id.in_(domain_ids))
    domains = frozenset((await connection.scalars(sites)).all())
    names = {row.name for row in (*own, *named)}
    names |= await former_names(connection, [row.id for row in own])
    # A single word is as likely to be a trade or a town as a person.
    known = frozenset(name for name in names if name and len(name.split()) > 1)
    return PersonTraces(known, domain_ids, contacts, domains)


def select_owned(
    model: type[Contact | Person], tenant_id: UUID, subject: Subject
) -> Select[UUID, str | None, UUID]:
    """Select the records of a kind that are known by an address."""
    return select(model.id, model.name, model.domain_id).where(
        model.tenant_id == tenant_id,
        or_(
            model.email == subject.value, func.mailbox_of(model.email) == subject.value
        ),
    )


async def former_names(
    connection: AsyncConnection, contact_ids: list[UUID]
) -> set[str]:
    """Return what the contacts were called, by pages and by whoever renamed them."""
    seen = select(Evidence.value).where(
        Evidence.contact_id.in_(contact_ids), Evidence.field == "name"
    )
    edits = select(
        AuditEntry.details["before"]["name"].astext,
        AuditEntry.details["after"]["name"].astext,
    ).where(AuditEntry.record_id.in_(contact_ids), AuditEntry.action == "edited")
    found = set((await connection.scalars(seen)).all())
    for row in await connection.execute(edits):
        found |= {name for name in row if name}
    return found


def text_remover(pattern: str) -> Callable[[str], str]:
    """Return what strikes the pattern out of a text."""
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda written: compiled.sub(REMOVED, written)


def is_about(hit: Hit, subject: Subject) -> bool:
    """Say whether a record is gone with the person, not only without them."""
    if hit.table is Contact.__table__:
        is_only = hit.row["email"] is None and hit.row["phone"] == subject.value
        return bool(is_only or hit.row["email"] == subject.value)
    if hit.table is Person.__table__:
        return bool(hit.row["email"] == subject.value)
    if hit.table is Evidence.__table__:
        return matches(subject, hit.row["value"])
    if hit.table.name in NAMED_BY_ADDRESS:
        return re.search(subject.pattern, hit.row["url"], re.IGNORECASE) is not None
    return False


def matches(subject: Subject, value: str) -> bool:
    """Say whether a value is the subject and nothing else."""
    return re.fullmatch(subject.pattern, value.strip(), re.IGNORECASE) is not None
