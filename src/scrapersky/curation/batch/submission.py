"""Submit lines together: each is accepted, known already, or refused with a reason."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import UUID

from sqlalchemy import insert, select
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky import engine as queue_engine
from scrapersky.curation.batch.kind import BatchKind, kind_named
from scrapersky.curation.decision import Actor
from scrapersky.errors import InvalidUrl
from scrapersky.extraction.host_kind import site_name
from scrapersky.kit.urls import canonical_url, parse_url
from scrapersky.models import BatchItem, BatchJob, Domain, Page, SitemapFile
from scrapersky.models.status import (
    CurationStatus,
    PageCurationStatus,
    PageProcessingStatus,
    SitemapImportStatus,
)
from scrapersky.privacy.shield import REMOVED, Shield, shield

CHUNK = 1_000
REFUSALS_SHOWN = 100
SUPPRESSED = "it is on your suppression list"


@dataclass(slots=True)
class Submitted:
    """What a submission came to, line by line where something was wrong."""

    batch_id: UUID
    accepted: int = 0
    duplicates: int = 0
    refused: int = 0
    refusals: list[tuple[int, str, str]] = field(default_factory=list)
    """Line number, what stood there, why it was refused; the first hundred."""


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
    lines = await without_suppressed(connection, actor.tenant_id, lines)
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


async def without_suppressed(
    connection: AsyncConnection, tenant_id: UUID, lines: Sequence[Line]
) -> Sequence[Line]:
    """Refuse lines whose site, or whose very words, are on the suppression list."""
    guard = await shield(
        connection,
        tenant_id,
        [line.written for line in lines],
        domains={line.domain for line in lines if line.domain},
    )
    return [forbidden(line, guard) for line in lines] if guard else lines


def forbidden(line: Line, guard: Shield) -> Line:
    """Return a line as it is, or refused and without what is on the list."""
    is_hidden = line.domain and guard.hides_domain(line.domain)
    shown = guard.clean(line.written)
    if is_hidden or shown != line.written:
        return Line(line.number, shown or REMOVED, problem=SUPPRESSED)
    return line


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
