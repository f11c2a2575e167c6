"""Submit lines together: each is accepted, known already, or refused with a reason."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import cast, column, func, insert, literal, select, update
from sqlalchemy.dialects.postgresql import ARRAY, Insert
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

import curation_sdk
from contact_extraction.errors import InvalidUrl
from contact_extraction.host_kind import site_name
from contact_extraction.urls import canonical_url, parse_url
from scrapersky.curation.batch.kind import submission_named
from scrapersky.db.transaction import Database, commit_chunk, transaction
from scrapersky.errors import UnknownBatch
from scrapersky.privacy.suppression_filter import (
    REMOVED,
    SuppressionFilter,
    suppressions,
)
from scrapersky.records import BatchItem, BatchJob, Domain, Page, SitemapFile
from scrapersky.records.audit import Actor, note
from scrapersky.records.kind import Submission
from scrapersky.records.status import (
    CurationStatus,
    DomainStatus,
    PageCurationStatus,
    PageProcessingStatus,
    SitemapImportStatus,
)

CHUNK_LINES = 1_000
REFUSALS_SHOWN = 100
SHOWN_OF_BAD = 200
PORTS = (80, 443, 8080, 8443)
INNER_NAMES = (
    ".local", ".localhost", ".localdomain", ".internal", ".intranet", ".lan", ".home",
    ".corp", ".private", ".home.arpa", ".svc", ".onion",
)  # fmt: skip
"""Endings of names that mean something only inside a network."""
CANCELLED = "cancelled with its batch"
SUPPRESSED = "it is on your Do not contact list"
NOT_ONE_BUSINESS = "is not a site of one business"


@dataclass(slots=True)
class SubmissionResult:
    """What a submission came to, line by line where something was wrong."""

    batch_id: UUID
    accepted: int = 0
    duplicates: int = 0
    refused: int = 0
    refusals: list[tuple[int, str, str]] = field(default_factory=list)
    """Line number, what stood there, why it was refused; the first hundred."""


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """One line as it was written, or why it could not even be read."""

    number: int
    text: str
    problem: str | None = None


async def submit(
    database: Database,
    actor: Actor,
    kind: str,
    lines: Iterable[str],
    *,
    name: str | None = None,
    priority: int = 0,
) -> SubmissionResult:
    """Submit lines together; a bad or known one is reported and never fails the rest.

    New records get the priority. Every thousand lines are a chunk; the last one is left in
    the caller's transaction.
    """
    chosen = submission_named(kind)
    submitted = SubmissionResult(await open_batch(database, actor, kind, name))
    numbered = iter(enumerate(lines, start=1))
    chunk = [WrittenLine(*each) for each in islice(numbered, CHUNK_LINES)]
    while chunk:
        await store_lines(database, actor, chosen, submitted, chunk, priority=priority)
        chunk = [WrittenLine(*each) for each in islice(numbered, CHUNK_LINES)]
        if chunk:
            await commit_chunk(database)
    return submitted


async def submit_chunks(
    engine: AsyncEngine,
    actor: Actor,
    kind: str,
    chunks: AsyncIterator[Sequence[WrittenLine]],
    *,
    name: str | None = None,
    batch_id: UUID | None = None,
    priority: int = 0,
) -> SubmissionResult:
    """Submit lines as they come; each chunk is stored whole or not at all.

    A batch that was cut off goes on where it stopped: give its id and the same lines.
    """
    chosen = submission_named(kind)
    stored_up_to = 0
    # What cannot be read at all is refused before there is a batch of it.
    chunk = await anext(chunks, None)
    if batch_id is None:
        batch_id = await open_batch(engine, actor, kind, name)
    else:
        stored_up_to = await last_position(engine, actor, kind, batch_id)
    submitted = SubmissionResult(batch_id)
    while chunk is not None:
        new = [line for line in chunk if line.number > stored_up_to]
        await store_lines(engine, actor, chosen, submitted, new, priority=priority)
        chunk = await anext(chunks, None)
    return submitted


async def store_lines(
    database: Database,
    actor: Actor,
    kind: Submission,
    submitted: SubmissionResult,
    lines: Sequence[WrittenLine],
    *,
    priority: int = 0,
) -> None:
    """Understand some lines, store them, and wake whoever works on them."""
    before = submitted.accepted
    # Reading URLs is work for the processor: others want the event loop.
    read = await asyncio.to_thread(read_lines, lines)
    async with transaction(database) as connection:
        await store_chunk(connection, actor, kind, submitted, read, priority=priority)
        if submitted.accepted > before:
            await curation_sdk.control.wake(connection, kind.stage)


def read_lines(lines: Sequence[WrittenLine]) -> "list[SubmittedLine]":
    """Understand some lines."""
    return [SubmittedLine.of(line) for line in lines]


async def open_batch(
    database: Database, actor: Actor, kind: str, name: str | None
) -> UUID:
    """Make an empty batch."""
    async with transaction(database) as connection:
        result = await connection.execute(
            insert(BatchJob)
            .values(
                tenant_id=actor.tenant_id,
                created_by=actor.user_id,
                name=name,
                kind=kind,
            )
            .returning(BatchJob.id)
        )
        batch_id = UUID(str(result.scalar_one()))
        subject = f"batch of {kind} {batch_id}"
        await note(connection, actor, "submitted", subject, record_id=batch_id)
        return batch_id


async def last_position(
    engine: AsyncEngine, actor: Actor, kind: str, batch_id: UUID
) -> int:
    """Return the last line a batch has stored; raise UnknownBatch if it is no such."""
    batch = select(BatchJob.id).where(
        BatchJob.id == batch_id,
        BatchJob.tenant_id == actor.tenant_id,
        BatchJob.kind == kind,
        BatchJob.cancelled_at.is_(None),
    )
    last = select(func.max(BatchItem.position)).where(BatchItem.batch_id == batch_id)
    async with engine.connect() as connection:
        if await connection.scalar(batch) is None:
            raise UnknownBatch("There is no such batch to go on with.")
        return int(await connection.scalar(last) or 0)


@dataclass(frozen=True, slots=True)
class SubmittedLine:
    """One submitted line, understood or not."""

    number: int
    written: str
    url: str = ""
    domain: str = ""
    problem: str | None = None

    @classmethod
    def of(cls, line: WrittenLine) -> "SubmittedLine":
        """Understand a line, unless it could not be read."""
        if line.problem is not None:
            return cls(line.number, line.text[:SHOWN_OF_BAD], problem=line.problem)
        return cls.read(line.number, line.text)

    @classmethod
    def read(cls, number: int, written: str) -> "SubmittedLine":
        """Understand a line: a domain or a URL, with or without its scheme."""
        shown = written.strip().replace("\x00", "")[:2_048]
        try:
            url = parse_url(shown if "://" in shown else f"https://{shown}")
            name = site_name(str(url))
        except InvalidUrl as error:
            return cls(number, shown, problem=error.why)
        if not is_public_name(url.host):
            return cls(number, shown, problem="not a domain on the public internet")
        if url.port not in PORTS:
            return cls(
                number, shown, problem=f"port {url.port} is not one of the web's"
            )
        if name is None:
            return cls(number, shown, problem=f"{url.host} {NOT_ONE_BUSINESS}")
        return cls(number, shown, canonical_url(str(url)), name)


def is_public_name(host: str) -> bool:
    """Say whether a host is a name that may be public: no address, no inner name.

    What the name resolves to is checked when it is fetched; here nothing is asked, so
    the answer says nothing about anyone's network.
    """
    if ":" in host or "." not in host or host.rpartition(".")[2].isdecimal():
        return False
    return not f".{host}".endswith(INNER_NAMES)


async def store_chunk(
    connection: AsyncConnection,
    actor: Actor,
    kind: Submission,
    submitted: SubmissionResult,
    lines: Sequence[SubmittedLine],
    *,
    priority: int = 0,
) -> None:
    """Store the records of some lines, and an item for every line."""
    lines = await without_suppressed(connection, actor.tenant_id, lines)
    good = [line for line in lines if line.problem is None]
    domains = await store_domains(connection, actor, {line.domain for line in good})
    records = await STORE[kind.name](connection, actor, good, domains)
    if priority:
        await prioritise_new(connection, kind, records, priority)
    items = []
    claimed: set[UUID] = set()
    for line in lines:
        item: dict[str, Any] = {
            "tenant_id": actor.tenant_id,
            "created_by": actor.user_id,
            "batch_id": submitted.batch_id,
            "position": line.number,
            "submitted": line.written,
            kind.link: None,
            "is_duplicate": False,
            "error": line.problem,
        }
        if line.problem is not None:
            submitted.refused += 1
            if len(submitted.refusals) < REFUSALS_SHOWN:
                submitted.refusals.append((line.number, line.written, line.problem))
        else:
            record_id, is_new = records[key_of(kind, line)]
            item[kind.link] = record_id
            item["is_duplicate"] = not is_new or record_id in claimed
            claimed.add(record_id)
            submitted.accepted += not item["is_duplicate"]
            submitted.duplicates += item["is_duplicate"]
        items.append(item)
    if items:
        await connection.execute(insert_all(BatchItem, items))


async def prioritise_new(
    connection: AsyncConnection, kind: Submission, records: "Records", priority: int
) -> None:
    """Give new records a priority; those that were known keep theirs."""
    model = kind.queue.record
    new = [record_id for record_id, is_new in records.values() if is_new]
    await connection.execute(
        update(model).where(model.id.in_(new)).values(priority=priority)
    )


async def without_suppressed(
    connection: AsyncConnection, tenant_id: UUID, lines: Sequence[SubmittedLine]
) -> Sequence[SubmittedLine]:
    """Refuse lines whose site, or whose very words, are on the suppression list."""
    guard = await suppressions(
        connection,
        tenant_id,
        [line.written for line in lines],
        domains={line.domain for line in lines if line.domain},
    )
    if not guard:
        return lines
    return await asyncio.to_thread(
        lambda: [refuse_suppressed_line(line, guard) for line in lines]
    )


def refuse_suppressed_line(
    line: SubmittedLine, guard: SuppressionFilter
) -> SubmittedLine:
    """Return a line as it is, or refused and without what is on the list."""
    is_hidden = line.domain and guard.hides_domain(line.domain)
    shown = guard.clean(line.written)
    if is_hidden or shown != line.written:
        return SubmittedLine(line.number, shown or REMOVED, problem=SUPPRESSED)
    return line


def key_of(kind: Submission, line: SubmittedLine) -> str:
    """Return what a line's record is found by."""
    return line.domain if kind.key == "domain" else line.url


Records = dict[str, tuple[UUID, bool]]


async def store_domains(
    connection: AsyncConnection, actor: Actor, names: set[str]
) -> Records:
    """Store domains that are not there yet; return all with whether they are new."""
    if not names:
        return {}
    rows = [
        {
            "tenant_id": actor.tenant_id,
            "created_by": actor.user_id,
            "domain": name,
            "home_url": f"https://{name}/",
        }
        # In one order, so that two submissions at once do not lock crosswise.
        for name in sorted(names)
    ]
    return await insert_missing(
        connection, Domain, rows, Domain.domain, ("tenant_id", "domain")
    )


async def queue_domains(
    connection: AsyncConnection,
    _actor: Actor,
    _lines: Sequence[SubmittedLine],
    domains: Records,
) -> Records:
    """Return the domains, which wait for their metadata already.

    One that was cancelled before anyone looked at it waits again, as if it were new.
    """
    known = [record_id for record_id, is_new in domains.values() if not is_new]
    if not known:
        return domains
    again = await connection.scalars(
        update(Domain)
        .where(
            Domain.id.in_(known),
            Domain.status == DomainStatus.ERROR,
            Domain.error == CANCELLED,
        )
        .values(status=DomainStatus.PENDING, error=None)
        .returning(Domain.id)
    )
    queued = set(again)
    return {
        name: (record_id, is_new or record_id in queued)
        for name, (record_id, is_new) in domains.items()
    }


async def store_sitemaps(
    connection: AsyncConnection,
    actor: Actor,
    lines: Sequence[SubmittedLine],
    domains: Records,
) -> Records:
    """Store submitted sitemaps, selected and queued for import."""
    rows = {
        line.url: {
            "tenant_id": actor.tenant_id,
            "created_by": actor.user_id,
            "domain_id": domains[line.domain][0],
            "url": line.url,
            "found_by": "submitted",
            "deep_scrape_curation_status": CurationStatus.SELECTED,
            "sitemap_import_status": SitemapImportStatus.QUEUED,
        }
        for line in lines
    }
    found = [rows[url] for url in sorted(rows)]
    return await insert_missing(
        connection, SitemapFile, found, SitemapFile.url, ("domain_id", "url")
    )


async def store_pages(
    connection: AsyncConnection,
    actor: Actor,
    lines: Sequence[SubmittedLine],
    domains: Records,
) -> Records:
    """Store submitted pages, selected and queued for a visit."""
    rows = {
        line.url: {
            "tenant_id": actor.tenant_id,
            "created_by": actor.user_id,
            "domain_id": domains[line.domain][0],
            "url": line.url,
            "page_curation_status": PageCurationStatus.SELECTED,
            "page_processing_status": PageProcessingStatus.QUEUED,
        }
        for line in lines
    }
    found = [rows[url] for url in sorted(rows)]
    return await insert_missing(connection, Page, found, Page.url, ("domain_id", "url"))


STORE = {
    "domains": queue_domains,
    "sitemaps": store_sitemaps,
    "pages": store_pages,
}


async def insert_missing(
    connection: AsyncConnection,
    model: Any,  # noqa: ANN401 - one of the record classes
    rows: Sequence[dict[str, Any]],
    name: Any,  # noqa: ANN401 - the column the result is keyed by
    key: tuple[str, str],
) -> Records:
    """Insert what is missing; return every row's id by name, and whether it is new."""
    if not rows:
        return {}
    new = await connection.execute(
        insert_all(model, rows)
        .on_conflict_do_nothing(index_elements=list(key))
        .returning(model.id, name)
    )
    found: Records = {row[1]: (row[0], True) for row in new}
    missing = [row for row in rows if row[name.key] not in found]
    if missing:
        scope = getattr(model, key[0])
        known = await connection.execute(
            select(model.id, name).where(
                scope.in_({row[key[0]] for row in missing}),
                name.in_([row[name.key] for row in missing]),
            )
        )
        found |= {row[1]: (row[0], False) for row in known}
    return found


def insert_all(model: Any, rows: Sequence[dict[str, Any]]) -> Insert:  # noqa: ANN401
    """Insert rows by one statement with a list per column.

    A statement a row costs the policies and references of each row a plan of its own.
    """
    columns = {name: model.__table__.c[name].type for name in rows[0]}
    lists = [
        cast(literal([row[name] for row in rows], ARRAY(kind)), ARRAY(kind))
        for name, kind in columns.items()
    ]
    names = [column(name, kind) for name, kind in columns.items()]
    given = func.unnest(*lists).table_valued(*names).render_derived(name="given")
    chosen = select(*(given.c[name] for name in columns))
    return upsert(model).from_select([*columns], chosen)
