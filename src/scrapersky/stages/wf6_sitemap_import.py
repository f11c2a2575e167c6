"""WF6 - Sitemap import: one sitemap file becomes many pages, each rated."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import asyncpg
from sqlalchemy import select, update

from contact_extraction.page_list import (
    PageList,
    list_linked_pages,
    list_sitemap_pages,
)
from curation_sdk import Done, Effect, Outcome, Transaction
from scrapersky.crawler import Accept, CacheValidators, FetchResult
from scrapersky.curation.site_budget import Budgets
from scrapersky.errors import FetchError
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.declaration import Endings, Lane, StageJob, stage
from scrapersky.pipeline.fetching import failure_of, outcome_of
from scrapersky.pipeline.item_budget import ItemBudget, within_budget
from scrapersky.pipeline.page_copy import (
    COLUMNS,
    SitemapOwner,
    moment,
    page_rows,
    urgency,
)
from scrapersky.pipeline.remaining_budget import remaining_budgets
from scrapersky.pipeline.revisit import silence_of
from scrapersky.pipeline.rule_run import RuleRun, run_rules
from scrapersky.pipeline.site import Cost, SiteOwner, charge
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.suppression_filter import suppressions
from scrapersky.records import Domain, Page, SitemapFile
from scrapersky.records.sitemap_file import SITEMAP_IMPORT_QUEUE
from scrapersky.records.status import (
    PageProcessingStatus,
    SitemapFileStatus,
)
from scrapersky.revisits.visit import (
    HAS_VALUES,
    Silence,
    note_answers,
    note_silence,
)

CHUNK_PAGES = 5_000
COPY_MIN_PAGES = 500
"""From so many pages on, new ones are copied; below, one statement does it all."""
OVER = "beyond the budget of"
"""What is said, with the file, when pages were not stored."""
LINKS = "links"
"""The type of a file that is not a sitemap but a page whose links are taken."""

LOOK = """
SELECT clock_timestamp() AS now,
  EXISTS (SELECT FROM pages WHERE sitemap_file_id = $2) AS file_has_pages,
  EXISTS (SELECT FROM pages WHERE domain_id = $1) AS domain_has_pages,
  EXISTS (SELECT FROM site_visits WHERE domain_id = $1) AS is_visited
"""
FIND_NEW = """
SELECT unnest($2::text[]) EXCEPT SELECT url FROM pages WHERE domain_id = $1
"""
STORE_PAGES = f"""
WITH stored AS (
  INSERT INTO pages AS p (tenant_id, created_by, domain_id, sitemap_file_id, url, lastmod,
    page_type, contact_likelihood, likelihood_reasons, page_processing_status, priority)
  SELECT $1, $2, $3, $4, url, lastmod, page_type, score, string_to_array(reasons, '; '),
    CASE WHEN filtered THEN '{PageProcessingStatus.FILTERED}'::page_processing_status END, priority
  FROM unnest($5::text[], $6::timestamptz[], $7::text[], $8::float8[], $9::text[],
    $10::bool[], $11::smallint[])
    AS g(url, lastmod, page_type, score, reasons, filtered, priority)
  ON CONFLICT (domain_id, url) DO UPDATE
    SET lastmod = excluded.lastmod, gone_at = NULL,
      page_processing_status = CASE WHEN $12::bool AND p.fetched_at IS NOT NULL
          AND p.page_processing_status = '{PageProcessingStatus.COMPLETE}'
          AND (p.clicks = 0 OR {HAS_VALUES})
        THEN '{PageProcessingStatus.QUEUED}' ELSE p.page_processing_status END,
      sitemap_file_id = CASE WHEN p.gone_at IS NULL
        THEN coalesce(p.sitemap_file_id, excluded.sitemap_file_id)
        ELSE excluded.sitemap_file_id END
    WHERE p.lastmod IS DISTINCT FROM excluded.lastmod OR p.gone_at IS NOT NULL
  RETURNING p.xmax = 0 AS is_new
)
SELECT count(*) FILTER (WHERE is_new) AS new, count(*) FILTER (WHERE NOT is_new) AS changed
FROM stored
"""  # noqa: S608 - our own labels
# A set operation: however wrong the estimates are, it never compares all with all.
FIND_GONE = """
SELECT url FROM pages WHERE sitemap_file_id = $1 AND gone_at IS NULL
EXCEPT SELECT unnest($2::text[])
"""
MARK_GONE = """
UPDATE pages SET gone_at = clock_timestamp() WHERE domain_id = $1 AND url = ANY($2)
"""


@stage(
    "sitemap_import",
    title="Sitemap import",
    does="reads and rates the pages",
    queue=SITEMAP_IMPORT_QUEUE,
    hands_over="`pages` rows, rated",
    makes=Page,
    feeds=("page_curation",),
    lane=Lane.HARVEST,
    job=StageJob("process_sitemap_imports", "Process Pending Sitemap Imports"),
    settings=SettingsSection(
        "SITEMAP_IMPORT_SCHEDULER",
        StageSettings(
            batch_size=20,
            concurrency=30,
            misfire_grace_seconds=1800,
            timeout_seconds=300,
            slow_after_seconds=20,
        ),
    ),
    endings=Endings(
        empty="`Complete`, with the reason",
        fails="no sitemap is there any more, the site's budget used up",
        retries="5xx, timeouts",
    ),
)
async def import_sitemap(file: SitemapFile, tools: Tools) -> Outcome:
    """Fetch the file; every page it names that we have not seen is stored."""
    site = SiteOwner(
        file.tenant_id, tools.system_user_id, file.domain_id, tools.budgets
    )

    async def work(_: ItemBudget) -> Outcome:
        outcome = await import_file(file, site, tools)
        silent = await silence_of(
            outcome, tools, "sitemap_import", file.id, Silence(file.domain_id, file.url)
        )
        if silent is None:
            return outcome
        return Done(note_silent(silent), empty_because=silent.reason)

    return await within_budget(tools, site, work)


async def import_file(file: SitemapFile, site: SiteOwner, tools: Tools) -> Outcome:
    """Fetch and read the file."""
    try:
        fetched = await fetch(file, tools)
        if fetched.not_modified:
            return Done(
                note_same(file), empty_because="not modified since it was imported"
            )
        if (failure := failure_of(fetched)) is not None:
            return failure
        pages = await read(file, fetched, tools)
    except FetchError as error:
        return outcome_of(error)
    effect = store_pages(file, site, fetched, pages)
    return Done(
        effect, empty_because=None if pages.urls else pages.empty_because or "no pages"
    )


async def fetch(file: SitemapFile, tools: Tools) -> FetchResult:
    """Fetch the file, as much of it as the protocol allows, unless it was just found."""
    if file.sitemap_type == LINKS:
        return await tools.crawler.fetch(file.url, accept=Accept.HTML, spool=True)
    if (found := tools.recent.take(file.url)) is not None:
        return found
    return await tools.crawler.fetch(
        file.url,
        accept=Accept.ANY,
        conditions=CacheValidators(file.etag, file.last_modified),
        max_bytes=tools.limits.sitemap_bytes,
        keep_partial=True,
        spool=True,
    )


async def read(file: SitemapFile, fetched: FetchResult, tools: Tools) -> PageList:
    """Parse the file where hostile bytes do no harm."""
    url = str(fetched.url)
    if file.sitemap_type == LINKS:
        return await tools.sandbox.run_on(
            list_linked_pages, fetched.whole, url, fetched.charset.name
        )
    return await tools.sandbox.run_on(
        list_sitemap_pages,
        fetched.whole,
        url,
        fetched.url.site,
        tools.limits.pages,
        utc_now(),
        await link_texts(file, tools),
    )


async def link_texts(file: SitemapFile, tools: Tools) -> dict[str, str]:
    """Return what the site's home page calls its pages: their addresses may not say."""
    async with tools.reader.connect() as connection:
        query = select(Domain.link_texts).where(Domain.id == file.domain_id)
        found = await connection.scalar(query)
    return {url: str(text) for url, text in (found or {}).items() if text}


def note_same(file: SitemapFile) -> Effect:
    """Keep that a file is as it was, and so every page that it names."""

    async def effect(transaction: Transaction) -> None:
        await note_answers(transaction.connection, [file.domain_id])

    return effect


def note_silent(silence: Silence) -> Effect:
    """Keep that the website does not answer any more."""

    async def effect(transaction: Transaction) -> None:
        await note_silence(transaction.connection, [silence])

    return effect


def store_pages(
    file: SitemapFile, site: SiteOwner, fetched: FetchResult, pages: PageList
) -> Effect:
    """Store new pages, note changed and gone ones, and let the rules choose."""

    async def effect(transaction: Transaction) -> None:
        guard = await suppressions(transaction.connection, file.tenant_id, pages.urls)
        look = await transaction.driver.fetchrow(LOOK, file.domain_id, file.id)
        assert look is not None  # noqa: S101 - it always has one row
        owner = SitemapOwner(
            *(file.tenant_id, site.user_id, file.domain_id, file.id), look["now"]
        )
        store = PageStore(transaction.driver, owner, pages)
        store.rereads = look["is_visited"]
        if guard:
            store.hidden = {url for url in pages.urls if guard.clean(url) != url}
        is_first = not look["domain_has_pages"]
        dropped = await store.leave_out(site.budgets, is_first=is_first)
        await store.run()
        over = {f"{OVER} {name}": count for name, count in dropped.items()}
        counts = {"new": store.new, "changed": store.changed, "gone": 0, **over}
        # What was cut off has not said which pages it would have named.
        if look["file_has_pages"] and pages.cut is None and fetched.cut is None:
            counts["gone"] = await mark_gone(transaction, file, pages.urls)
        await transaction.execute(note_import(file, fetched, pages, counts))
        if store.rereads:
            await note_answers(transaction.connection, [file.domain_id])
        if store.rereads and store.changed:
            transaction.wake("page_curation")
        if store.new:
            charge(transaction, site, Cost(pages_stored=store.new))
            run = RuleRun(
                "pages",
                "sitemap_file_id",
                file.tenant_id,
                site.user_id,
                file.id,
                site.budgets.site,
            )
            run_rules.add(transaction, run)

    return effect


@dataclass(slots=True)
class PageStore:
    """Puts pages into the table, each once, and counts what was new and what changed."""

    driver: "asyncpg.Connection[Any]"
    owner: SitemapOwner
    pages: PageList
    hidden: set[str] = field(default_factory=set)
    """Pages that are not stored: they name somebody on the suppression list, or are
    beyond the site's budget."""
    fresh: set[str] = field(default_factory=set)
    """Pages that nobody has named before."""
    rereads: bool = False
    """Whether pages that were read are read again where the file says they have changed."""
    new: int = 0
    changed: int = 0

    async def leave_out(self, budgets: Budgets, *, is_first: bool) -> Mapping[str, int]:
        """Hide what is beyond the budget of the site; count it by what is used up."""
        urls, domain = self.pages.urls, self.owner.domain_id
        self.fresh = set(urls)
        if not is_first:
            rows = await self.driver.fetch(FIND_NEW, domain, urls)
            self.fresh = {row[0] for row in rows}
        self.fresh -= self.hidden
        places = {url: at for at, url in enumerate(urls) if url in self.fresh}
        ratings, rated = self.pages.ratings, self.pages.rated
        named, scores = (
            list(places),
            [ratings[rated[at]].score for at in places.values()],
        )
        remaining = await remaining_budgets(self.driver, {domain: named}, budgets)
        if (budget := remaining.get(domain)) is None:
            return {}
        # Fifty thousand addresses are work: others want the event loop.
        refused = await asyncio.to_thread(budget.refuse, named, scores)
        self.hidden |= refused
        self.fresh -= refused
        return budget.dropped

    async def run(self) -> None:
        """Copy what is new, if it is much; put the rest beside what is there.

        Everyone stores in the order of the URLs: two files that name the same pages
        wait for each other, and never both at once.
        """
        urls = self.pages.urls
        places = {url: at for at, url in enumerate(urls) if url not in self.hidden}
        chosen = [places[url] for url in sorted(places)]
        if len(chosen) >= COPY_MIN_PAGES:
            fresh = [at for at in chosen if urls[at] in self.fresh]
            if await self._copy(fresh):
                done = set(fresh)
                chosen = [at for at in chosen if at not in done]
        for start in range(0, len(chosen), CHUNK_PAGES):
            await self._put(chosen[start : start + CHUNK_PAGES])

    async def _copy(self, fresh: list[int]) -> bool:
        """Copy new pages; False if somebody else has stored one of them meanwhile.

        Nor does PostgreSQL copy for a user who does not own the table.
        """
        if not fresh:
            return True
        await self.driver.execute("SAVEPOINT copy")
        try:
            await self.driver.copy_to_table(
                "pages",
                source=page_rows(self.pages, fresh, self.owner),
                columns=COLUMNS,
                format="binary",
            )
        except (asyncpg.UniqueViolationError, asyncpg.FeatureNotSupportedError):
            await self.driver.execute("ROLLBACK TO SAVEPOINT copy")
            return False
        await self.driver.execute("RELEASE SAVEPOINT copy")
        self.new += len(fresh)
        return True

    async def _put(self, chosen: list[int]) -> None:
        owner, pages = self.owner, self.pages
        ratings = [pages.ratings[pages.rated[at]] for at in chosen]
        row = await self.driver.fetchrow(
            STORE_PAGES,
            owner.tenant_id,
            owner.user_id,
            owner.domain_id,
            owner.sitemap_file_id,
            [pages.urls[at] for at in chosen],
            [moment(pages.lastmods[at], owner.now) for at in chosen],
            [rating.type.value for rating in ratings],
            [rating.score for rating in ratings],
            ["; ".join(rating.reasons) for rating in ratings],
            [rating.filtered is not None for rating in ratings],
            [urgency(rating.score) for rating in ratings],
            self.rereads,
        )
        if row is not None:
            self.new += row["new"]
            self.changed += row["changed"]


async def mark_gone(
    transaction: Transaction, file: SitemapFile, named: list[str]
) -> int:
    """Mark the file's pages that it names no more; return how many."""
    rows = await transaction.driver.fetch(FIND_GONE, file.id, named)
    if rows:
        gone = [row["url"] for row in rows]
        await transaction.driver.execute(MARK_GONE, file.domain_id, gone)
    return len(rows)


def note_import(
    file: SitemapFile, fetched: FetchResult, pages: PageList, counts: dict[str, int]
) -> Any:  # noqa: ANN401 - an UPDATE statement
    """Keep with the file what its import came to."""
    return (
        update(SitemapFile)
        .where(SitemapFile.id == file.id)
        .values(
            status=SitemapFileStatus.COMPLETED,
            url_count=len(pages.urls),
            size_bytes=fetched.inflated_bytes,
            dropped={**pages.dropped, **counts},
            etag=fetched.headers.get("etag"),
            last_modified=fetched.headers.get("last-modified"),
            generator=pages.generator,
        )
    )
