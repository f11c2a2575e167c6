"""Batches: domains, sitemaps or pages submitted together, and how far they are.

A batch keeps no count and no status of its own. Both are derived from its items, so it
cannot say complete while one of them is pending, whatever crashed in between.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import func, insert, select, text, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky import engine as queue_engine
from scrapersky.curation.decision import Actor
from scrapersky.engine.control import queue_named
from scrapersky.engine.hold import hold, release, withdraw
from scrapersky.engine.queue import Queue
from scrapersky.errors import InvalidSubmission, InvalidUrl, UnknownBatch
from scrapersky.extraction.host_kind import site_name
from scrapersky.kit.urls import canonical_url, parse_url
from scrapersky.models import BatchItem, BatchJob, Domain, Page, SitemapFile
from scrapersky.models.status import (
    CurationStatus,
    PageCurationStatus,
    PageProcessingStatus,
    SitemapImportStatus,
    TaskStatus,
)

CHUNK = 1_000
REFUSALS_SHOWN = 100


@dataclass(frozen=True, slots=True)
class BatchKind:
    """What a batch is made of, and the stage that its items go through first."""

    name: str
    stage: str
    link: str
    """The column of a batch item that names the record."""


KINDS = {
    kind.name: kind
    for kind in (
        BatchKind("domains", "domain_metadata", "domain_id"),
        BatchKind("sitemaps", "sitemap_import", "sitemap_file_id"),
        BatchKind("pages", "page_curation", "page_id"),
    )
}


@dataclass(slots=True)
class Submitted:
    """What a submission came to, line by line where something was wrong."""

    batch_id: UUID
    accepted: int = 0
    duplicates: int = 0
    refused: int = 0
    refusals: list[tuple[int, str, str]] = field(default_factory=list)
    """Line number, what stood there, why it was refused; the first hundred."""


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is, counted from its items."""

    status: TaskStatus
    total: int
    pending: int
    working: int
    done: int
    failed: int
    refused: int


async def submit(
    engine: AsyncEngine,
    actor: Actor,
    kind: str,
    lines: Iterable[str],
    *,
    name: str | None = None,
) -> Submitted:
    """Submit lines together; a bad or known one is reported and never fails the rest."""
    chosen = kind_named(kind)
    async with engine.begin() as connection:
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
        submitted = Submitted(UUID(str(result.scalar_one())))
    numbered = iter(enumerate(lines, start=1))
    while chunk := list(islice(numbered, CHUNK)):
        read = [Line.read(number, written) for number, written in chunk]
        async with engine.begin() as connection:
            await store_chunk(connection, actor, chosen, submitted, read)
    if submitted.accepted:
        await queue_engine.wake(engine, chosen.stage)
    return submitted


@dataclass(frozen=True, slots=True)
class Line:
    """One submitted line, understood or not."""

    number: int
    written: str
    url: str = ""
    domain: str = ""
    problem: str | None = None

    @classmethod
    def read(cls, number: int, written: str) -> "Line":
        """Understand a line: a domain or a URL, with or without its scheme."""
        shown = written.strip().replace("\x00", "")[:2_048]
        try:
            url = parse_url(shown if "://" in shown else f"https://{shown}")
            name = site_name(str(url))
        except InvalidUrl as error:
            return cls(number, shown, problem=error.why)
        if "." not in url.host:
            return cls(number, shown, problem="not a domain")
        if name is None:
            return cls(
                number, shown, problem=f"{url.host} is not a site of one business"
            )
        return cls(number, shown, canonical_url(str(url)), name)


async def store_chunk(
    connection: AsyncConnection,
    actor: Actor,
    kind: BatchKind,
    submitted: Submitted,
    lines: Sequence[Line],
) -> None:
    """Store the records of some lines, and an item for every line."""
    good = [line for line in lines if line.problem is None]
    domains = await store_domains(connection, actor, {line.domain for line in good})
    records = await STORE[kind.name](connection, actor, good, domains)
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
        await connection.execute(insert(BatchItem), items)


def key_of(kind: BatchKind, line: Line) -> str:
    """Return what a line's record is found by."""
    return line.domain if kind.name == "domains" else line.url


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
    return await stored(
        connection, Domain, rows, Domain.domain, ("tenant_id", "domain")
    )


async def domains_themselves(
    _connection: AsyncConnection,
    _actor: Actor,
    _lines: Sequence[Line],
    domains: Records,
) -> Records:
    """Return the domains as they are: they wait for their metadata already."""
    return domains


async def store_sitemaps(
    connection: AsyncConnection, actor: Actor, lines: Sequence[Line], domains: Records
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
    return await stored(
        connection, SitemapFile, found, SitemapFile.url, ("domain_id", "url")
    )


async def store_pages(
    connection: AsyncConnection, actor: Actor, lines: Sequence[Line], domains: Records
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
    return await stored(connection, Page, found, Page.url, ("domain_id", "url"))


STORE = {
    "domains": domains_themselves,
    "sitemaps": store_sitemaps,
    "pages": store_pages,
}


async def stored(
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
        upsert(model)
        .on_conflict_do_nothing(index_elements=list(key))
        .returning(model.id, name),
        rows,
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


async def progress(
    engine: AsyncEngine, tenant_id: UUID, batch_id: UUID
) -> BatchProgress:
    """Count how far a batch is; raise UnknownBatch if this tenant has none."""
    batch = await batch_of(engine, tenant_id, batch_id)
    statement = text(f"""SELECT
        count(*) AS total,
        count(*) FILTER (WHERE i.error IS NOT NULL) AS refused,
        count(*) FILTER (WHERE r.state = 'queued') AS pending,
        count(*) FILTER (WHERE r.state = 'processing') AS working,
        count(*) FILTER (WHERE r.state = 'done') AS done,
        count(*) FILTER (WHERE r.state = 'failed') AS failed
      FROM batch_items i LEFT JOIN LATERAL ({STATES[batch.kind]}) r ON true
      WHERE i.batch_id = :batch""")  # noqa: S608 - constants
    async with engine.connect() as connection:
        row = (await connection.execute(statement, {"batch": batch_id})).one()
    return BatchProgress(
        status=status_of(batch, row),
        total=row.total,
        pending=row.pending,
        working=row.working,
        done=row.done,
        failed=row.failed,
        refused=row.refused,
    )


STATES = {
    "domains": """SELECT CASE d.status WHEN 'pending' THEN 'queued'
        WHEN 'processing' THEN 'processing' WHEN 'completed' THEN 'done'
        ELSE 'failed' END AS state FROM domains d WHERE d.id = i.domain_id""",
    "sitemaps": """SELECT CASE s.sitemap_import_status WHEN 'Queued' THEN 'queued'
        WHEN 'Processing' THEN 'processing' WHEN 'Complete' THEN 'done'
        ELSE 'failed' END AS state FROM sitemap_files s WHERE s.id = i.sitemap_file_id""",
    "pages": """SELECT CASE p.page_processing_status WHEN 'Queued' THEN 'queued'
        WHEN 'Processing' THEN 'processing' WHEN 'Error' THEN 'failed'
        ELSE 'done' END AS state FROM pages p WHERE p.id = i.page_id""",
}


def status_of(batch: BatchJob, counts: Any) -> TaskStatus:  # noqa: ANN401 - a row
    """Derive a batch's status from its items."""
    if batch.cancelled_at is not None:
        return TaskStatus.CANCELLED
    if counts.pending + counts.working == 0:
        is_lost = counts.total > 0 and counts.done == 0
        return TaskStatus.ERROR if is_lost else TaskStatus.COMPLETED
    if batch.paused_at is not None:
        return TaskStatus.PAUSED
    started = counts.working + counts.done + counts.failed
    return TaskStatus.IN_PROGRESS if started else TaskStatus.QUEUED


Act = Callable[[AsyncConnection, Queue, Sequence[str]], Awaitable[int]]
"""Holds items back, lets them go on, or takes them out."""


async def pause_batch(engine: AsyncEngine, tenant_id: UUID, batch_id: UUID) -> int:
    """Hold back what has not begun; what is in work is finished."""
    return await change(engine, tenant_id, batch_id, "paused_at", hold)


async def resume_batch(engine: AsyncEngine, tenant_id: UUID, batch_id: UUID) -> int:
    """Let a paused batch go on."""
    batch = await batch_of(engine, tenant_id, batch_id)
    count = await change(engine, tenant_id, batch_id, "paused_at", release, clear=True)
    await queue_engine.wake(engine, kind_named(batch.kind).stage)
    return count


async def cancel_batch(engine: AsyncEngine, tenant_id: UUID, batch_id: UUID) -> int:
    """Take what has not begun out of the queue for good."""

    async def cancelled(
        connection: AsyncConnection, queue: Queue, items: Sequence[str]
    ) -> int:
        return await withdraw(connection, queue, items, "cancelled with its batch")

    return await change(engine, tenant_id, batch_id, "cancelled_at", cancelled)


async def retry_failed(engine: AsyncEngine, tenant_id: UUID, batch_id: UUID) -> int:
    """Queue the failed items of a batch again; return how many."""
    batch = await batch_of(engine, tenant_id, batch_id)
    kind = kind_named(batch.kind)
    items = [item async for item in item_ids(engine, kind, batch_id)]
    # No items would mean all of the stage's dead letters, of every batch and tenant.
    return (
        await queue_engine.dead_letters.replay(engine, kind.stage, *items)
        if items
        else 0
    )


async def change(
    engine: AsyncEngine,
    tenant_id: UUID,
    batch_id: UUID,
    column: str,
    act: Act,
    *,
    clear: bool = False,
) -> int:
    """Mark a batch and act on the items that only it brought into the queue."""
    batch = await batch_of(engine, tenant_id, batch_id)
    kind = kind_named(batch.kind)
    queue = await queue_named(engine, kind.stage)
    items = [str(item) async for item in item_ids(engine, kind, batch_id)]
    moment = None if clear else func.clock_timestamp()
    async with engine.begin() as connection:
        await connection.execute(
            update(BatchJob).where(BatchJob.id == batch_id).values({column: moment})
        )
        return int(await act(connection, queue, items))


async def item_ids(
    engine: AsyncEngine, kind: BatchKind, batch_id: UUID
) -> AsyncIterator[UUID]:
    """Yield the ids of the records that a batch itself brought in."""
    column = getattr(BatchItem, kind.link)
    query = select(column).where(
        BatchItem.batch_id == batch_id, column.is_not(None), ~BatchItem.is_duplicate
    )
    async with engine.connect() as connection:
        for record_id in await connection.scalars(query):
            yield record_id


async def batch_of(engine: AsyncEngine, tenant_id: UUID, batch_id: UUID) -> Any:  # noqa: ANN401
    """Return a tenant's batch, or raise UnknownBatch."""
    query = select(BatchJob).where(
        BatchJob.id == batch_id, BatchJob.tenant_id == tenant_id
    )
    async with engine.connect() as connection:
        found = (await connection.execute(query)).one_or_none()
    if found is None:
        raise UnknownBatch("There is no such batch.")
    return found


def kind_named(name: str) -> BatchKind:
    """Return what a batch may be made of, or say what there is."""
    if name not in KINDS:
        raise InvalidSubmission(
            f"'{name[:50]}' cannot be submitted.", hint=f"Choose: {', '.join(KINDS)}."
        )
    return KINDS[name]
