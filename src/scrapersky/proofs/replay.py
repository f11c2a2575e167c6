"""Read stored pages with the present readers: show what would change, or settle it.

Nothing is fetched. A site is read, compared and settled in one step, by the code that settles a
page that was fetched; whoever is stopped goes on with the next site.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from contact_extraction.errors import ExtractionError
from contact_extraction.reader import reader_version
from curation_sdk import Transaction
from curation_sdk.control import driver_beneath
from scrapersky.crawler import Sandbox
from scrapersky.curation.page_choice import lock_sites
from scrapersky.errors import FetchError
from scrapersky.kit.stopping import IsStopping, never
from scrapersky.pipeline.page_findings import PageFindings
from scrapersky.pipeline.page_visit import PageOfSite, RereadPage
from scrapersky.pipeline.site import SiteOwner
from scrapersky.pipeline.snapshot import SnapshotDraft
from scrapersky.pipeline.visit import store_visits
from scrapersky.pipeline.withdrawal import SiteReading, withdraw
from scrapersky.proofs.difference import (
    ReplayReport,
    SiteValue,
    differences_of,
    reading_of,
)
from scrapersky.proofs.reading import read_again
from scrapersky.proofs.stored_page import COLUMNS, StoredPage, unpacked
from scrapersky.records.contact import BY_HAND

SITES_PER_QUERY: Final = 50
PAGES_PER_QUERY: Final = 25
NOWHERE: Final = UUID(int=0)
# The newest of each page: what older ones said, the settling of newer ones has decided about. So
# has the visit that found a page gone.
NEWEST: Final = """s.void_reason IS NULL AND s.id = (SELECT n.id FROM page_snapshots n
    WHERE n.page_id = s.page_id ORDER BY n.seen_at DESC, n.id DESC LIMIT 1)
  AND NOT EXISTS (SELECT FROM pages p WHERE p.id = s.page_id AND p.gone_at IS NOT NULL)"""
SITES: Final = text("""
SELECT d.id FROM domains d WHERE d.tenant_id = :tenant AND d.id > :after
  AND EXISTS (SELECT FROM page_snapshots s WHERE s.domain_id = d.id
    AND s.void_reason IS NULL AND (:everything OR s.reader <> :reader))
ORDER BY d.id LIMIT :most
""")
PAGES: Final = text(f"""
SELECT {COLUMNS} FROM page_snapshots s
JOIN page_contents c ON c.tenant_id = s.tenant_id AND c.hash = s.hash
WHERE s.domain_id = :domain AND s.id > :after AND {NEWEST}
ORDER BY s.id LIMIT :most
""")  # noqa: S608 - our names
STORED: Final = text(f"""
SELECT coalesce(c.email, c.phone) AS key, e.field, e.value,
  bool_and(coalesce(e.page_id = ANY(:pages) AND e.method <> '{BY_HAND}', false))
    AS is_covered
FROM contact_evidence e JOIN contacts c ON c.id = e.contact_id
WHERE c.domain_id = :domain AND e.gone_at IS NULL GROUP BY 1, 2, 3
""")  # noqa: S608 - our own label
ROBOTS: Final = text("""
SELECT id, url, coalesce(fetch_facts->>'robots', 'allowed') AS robots FROM pages
WHERE id = ANY(:pages) ORDER BY id FOR UPDATE
""")

Read = Sequence[tuple[StoredPage, PageFindings]]


@dataclass(frozen=True, slots=True)
class SiteReplay:
    """What a site's stored pages are read to say, and how many cannot be read."""

    reading: SiteReading
    read: Read
    unreadable: int


@dataclass(slots=True)
class Replayer:
    """Reads the stored pages of a tenant again, site by site."""

    engine: AsyncEngine
    sandbox: Sandbox
    tenant_id: UUID
    user_id: UUID
    applies: bool = False
    everything: bool = False
    """Also what the present readers have read already."""
    report: ReplayReport = field(default_factory=ReplayReport)

    async def run(
        self,
        show: Callable[[ReplayReport], None],
        *,
        after: UUID = NOWHERE,
        most: int | None = None,
        is_stopping: IsStopping = never,
    ) -> ReplayReport:
        """Read sites one after the other until none is left, or it is to stop."""
        async for domain_id in self.sites(after):
            if is_stopping() or self.report.sites == most:
                break
            await self.replay(domain_id)
            self.report.after = domain_id
            show(self.report)
        return self.report

    async def sites(self, after: UUID) -> AsyncIterator[UUID]:
        """Yield the sites of which pages are to be read again."""
        while True:
            values = {
                "tenant": self.tenant_id,
                "after": after,
                "reader": reader_version(),
                "everything": self.everything,
                "most": SITES_PER_QUERY,
            }
            async with self.engine.connect() as connection:
                found = (await connection.scalars(SITES, values)).all()
            for domain_id in found:
                yield domain_id
            if len(found) < SITES_PER_QUERY:
                return
            after = found[-1]

    async def replay(self, domain_id: UUID) -> None:
        """Read one site, and settle what that comes to if it is wanted."""
        site = await self.read_site(domain_id)
        pages = [page.page_id for page, _ in site.read]
        async with self.engine.connect() as connection:
            values = {"domain": domain_id, "pages": pages}
            rows = (await connection.execute(STORED, values)).all()
        stored = [SiteValue(*row) for row in rows]
        self.report.add(differences_of(stored, site.reading, site.read))
        self.report.sites += 1
        self.report.pages += len(site.read)
        self.report.unreadable += site.unreadable
        self.report.values += len(stored)
        if self.applies and site.read:
            await self.settle(site)

    async def read_site(self, domain_id: UUID) -> SiteReplay:
        """Read every stored page of a site, some at a time."""
        read: list[tuple[StoredPage, PageFindings]] = []
        after, unreadable = NOWHERE, 0
        while True:
            values = {"domain": domain_id, "after": after, "most": PAGES_PER_QUERY}
            async with self.engine.connect() as connection:
                rows = (await connection.execute(PAGES, values)).all()
                pages = await unpacked(connection, self.tenant_id, rows)
            found = await asyncio.gather(*map(self.read_page, pages))
            # The bytes are not needed any more: a site may have hundreds of pages.
            read += [(bare(p), one) for p, one in zip(pages, found, strict=True) if one]
            unreadable += found.count(None)
            if len(rows) < PAGES_PER_QUERY:
                return SiteReplay(reading_of(domain_id, read), read, unreadable)
            after = rows[-1].id

    async def read_page(self, page: StoredPage) -> PageFindings | None:
        """Read one page; None if it cannot be read, so that all it said stays."""
        if not page.is_intact:
            return None
        try:
            return await read_again(self.sandbox, page)
        except (ExtractionError, FetchError):
            return None

    async def settle(self, site: SiteReplay) -> None:
        """Store what the pages say, as if they had just been fetched, and take back the rest."""
        domain_id = site.reading.domain_id
        owner = SiteOwner(self.tenant_id, self.user_id, domain_id)
        async with self.engine.begin() as connection:
            await lock_sites(connection, [domain_id])
            transaction = Transaction(connection, await driver_beneath(connection))
            for visit in await visits_of(connection, owner, site.read):
                store_visits.add(transaction, visit)
            await transaction.end()
            await withdraw(transaction, site.reading)


async def visits_of(
    connection: AsyncConnection, owner: SiteOwner, read: Read
) -> list[RereadPage]:
    """Write pages that were read again as the settling of pages takes them."""
    ids = [page.page_id for page, _ in read]
    rows = {row.id: row for row in await connection.execute(ROBOTS, {"pages": ids})}
    return [
        RereadPage(
            PageOfSite(
                page.page_id, page.tenant_id, page.domain_id, rows[page.page_id].url
            ),
            owner,
            found,
            page.seen_at,
            draft_of(page),
            rows[page.page_id].robots,
        )
        for page, found in read
        if page.page_id in rows
    ]


def draft_of(page: StoredPage) -> SnapshotDraft:
    """Write a snapshot as it is, but for who has read it last."""
    return SnapshotDraft(
        hash=page.hash,
        url=page.url,
        encoding=page.encoding,
        country=page.country,
        is_rendered=page.is_rendered,
    )


def bare(page: StoredPage) -> StoredPage:
    """Return a page without its bytes."""
    return replace(page, body=None)
