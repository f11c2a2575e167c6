"""WF4 - Sitemap submission: a domain's sitemaps are found and written down."""

from collections import defaultdict
from dataclasses import dataclass, field

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert

from contact_extraction.discovery import FoundBy, PageLink, sitemap_candidates
from contact_extraction.errors import ExtractionError, HtmlNotSitemap, InvalidUrl
from contact_extraction.page_guess import (
    GUESSED,
    GUESSED_PEOPLE,
    contact_guesses,
    people_guesses,
    read_guessed_page,
)
from contact_extraction.page_list import PageList, list_sitemap_pages
from contact_extraction.page_type import PageRating, PageType
from contact_extraction.sitemap import Entry, SitemapKind, SitemapWalk
from contact_extraction.urls import parse_url
from curation_sdk import Done, Effect, Later, Outcome, Retry, Transaction
from scrapersky.crawler import Accept, FetchResult
from scrapersky.errors import FetchError, NotHtml
from scrapersky.pipeline.declaration import Endings, Lane, StageJob, stage
from scrapersky.pipeline.fetching import outcome_of
from scrapersky.pipeline.health_check import reclassify
from scrapersky.pipeline.item_budget import ItemBudget, within_budget
from scrapersky.pipeline.rule_run import RuleRun, run_rules
from scrapersky.pipeline.site import SiteOwner, store_links
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.records import Domain, SitemapFile
from scrapersky.records.domain import SITEMAP_SEARCH_QUEUE
from scrapersky.records.status import SitemapFileStatus

KNOWN_PAGES = text(
    "SELECT url, page_type, contact_likelihood FROM pages WHERE domain_id = :domain"
    " ORDER BY contact_likelihood DESC NULLS LAST LIMIT 100"
)
STORE_FILES = insert(SitemapFile).on_conflict_do_nothing(
    index_elements=["domain_id", "url"]
)
LINKS = "links"
MIN_LIKELIHOOD = 0.5
MUCH_LIKELIER = 0.1
"""How much more a page must promise than one of its kind that is known already."""
"""What a page must promise to be read because a sitemap names it."""
MAX_PAGES_PER_TYPE = 2
ABOUT_PEOPLE = frozenset((PageType.TEAM_ROOT, PageType.ABOUT_ROOT))
MAX_GUESSES = 2
"""Places tried where the site names none, if its program is known; otherwise one."""
MAX_HTML_ANSWERS = 2
"""After so many pages where a sitemap should be, the site answers so to everything."""


@stage(
    "sitemap_submission",
    title="Sitemap search",
    does="finds the sitemaps",
    queue=SITEMAP_SEARCH_QUEUE,
    hands_over="`sitemap_files` rows, `New`",
    makes=SitemapFile,
    feeds=("sitemap_import",),
    lane=Lane.MAP,
    job=StageJob(
        "process_pending_domain_sitemap_submissions",
        "Domain Sitemap Submission Scheduler",
    ),
    settings=SettingsSection(
        "DOMAIN_SITEMAP_SCHEDULER",
        StageSettings(concurrency=50, timeout_seconds=600, slow_after_seconds=20),
    ),
    endings=Endings(
        empty="`submitted` with the home page's links instead",
        fails="the home page is forbidden, the site's budget used up",
        retries="the site is in trouble",
    ),
)
async def submit_sitemaps(domain: Domain, tools: Tools) -> Outcome:
    """Find every sitemap of the site; a site without one is read by its links."""
    site = SiteOwner(domain.tenant_id, tools.system_user_id, domain.id, tools.budgets)

    async def work(budget: ItemBudget) -> Outcome:
        return await search(domain, site, tools, budget)

    return await within_budget(tools, site, work)


async def search(
    domain: Domain, site: SiteOwner, tools: Tools, budget: ItemBudget
) -> Outcome:
    """Look for sitemaps, and for a contact page that nothing links."""
    home = domain.home_url or f"https://{domain.domain}/"
    hunt = SitemapSearch(domain, tools, budget)
    try:
        await hunt.run(home)
    except FetchError as error:
        return outcome_of(error)
    files, nothing = hunt.found, None
    if all(file.kind == SitemapKind.FEED for file in files):
        # A feed names the latest articles, never the page with the address.
        files = [*files, FoundFile(home, LINKS, "home_page")]
        nothing = "no sitemap: the home page's links are taken"
    async with tools.reader.connect() as connection:
        rows = (await connection.execute(KNOWN_PAGES, {"domain": domain.id})).all()
    types = {row.page_type for row in rows}
    # What the menu calls "Directions" is no reason to leave a contact page out.
    known = {row.page_type: row.contact_likelihood or 0.0 for row in reversed(rows)}
    listed = [
        link
        for link in hunt.likely
        if link.rating.type not in types
        or (
            link.rating.type is PageType.CONTACT_ROOT
            and link.rating.score > known[link.rating.type] + MUCH_LIKELIER
        )
    ]
    types |= {link.rating.type for link in listed}
    try:
        guessed = await guess_pages(
            domain, home, [row.url for row in rows], types, tools
        )
    except FetchError as error:
        return outcome_of(error)
    effect = store_files(domain, site, files, listed, guessed)
    return Done(effect, empty_because=nothing)


async def guess_pages(
    domain: Domain, home: str, known: list[str], types: set[str], tools: Tools
) -> list[PageLink]:
    """Try the usual addresses of a contact page, and of one about the people.

    Of each only where nothing names one; what a site has no menu for is often there.
    """
    tongue = domain.language
    guesses = []
    if PageType.CONTACT_ROOT not in types:
        guesses.append((contact_guesses(home, language=tongue, known=known), GUESSED))
    if types.isdisjoint(ABOUT_PEOPLE):
        guesses.append(
            (people_guesses(home, language=tongue, known=known), GUESSED_PEOPLE)
        )
    found = [await first_there(urls, rating, domain, tools) for urls, rating in guesses]
    return [link for link in found if link is not None]


async def first_there(
    urls: list[str], rating: PageRating, domain: Domain, tools: Tools
) -> PageLink | None:
    """Return the first of some guessed pages that is there."""
    for url in urls:
        try:
            fetched = await tools.crawler.fetch(url, spool=True)
            if not fetched.is_success or str(fetched.url) != url:
                continue
            found = await tools.sandbox.run_on(
                read_guessed_page, fetched.whole, fetched.charset.name
            )
        except FetchError as error:
            if isinstance(outcome_of(error), Later):
                raise
            continue
        if found.title == (domain.title or "") and found.title:
            # The site answers with its home page, whatever it is asked.
            return None
        if not found.is_missing:
            tools.recent.keep(url, fetched)
            return PageLink(url, "", rating)
    return None


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A sitemap that is there."""

    url: str
    kind: str
    found_by: str
    size: int | None = None
    urls: int | None = None
    generator: str | None = None


@dataclass(slots=True)
class SitemapSearch:
    """One search through a site's possible sitemaps, within limits."""

    domain: Domain
    tools: Tools
    budget: ItemBudget
    found: list[FoundFile] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    html_answers: int = 0
    likely: list[PageLink] = field(default_factory=list)
    """The pages that the sitemaps name and that promise most."""

    async def run(self, home: str) -> None:
        """Try what the site names; guess only while nothing was found."""
        robots = await self.tools.crawler.robots(home)
        lines = "\n".join(f"Sitemap: {url}" for url in robots.sitemaps)
        candidates = sitemap_candidates(
            home, robots=lines, generator=self.domain.generator
        )
        named = [(c.url, c.found_by) for c in candidates if c.is_promised]
        named += [(url, FoundBy.HTML_LINK) for url in self.domain.sitemap_hints]
        await self.follow(named)
        if any(file.kind != SitemapKind.FEED for file in self.found):
            return
        guesses = [(c.url, c.found_by) for c in candidates if not c.is_promised]
        for guess in guesses[: MAX_GUESSES if self.domain.generator else 1]:
            await self.follow([guess])
            if self.found or self.html_answers >= MAX_HTML_ANSWERS:
                return

    async def follow(self, urls: list[tuple[str, FoundBy]]) -> None:
        """Visit these files and what their indexes name, each once."""
        named = dict(urls)
        limits = self.tools.limits
        walk = SitemapWalk(
            named, max_depth=limits.sitemap_depth, max_files=limits.sitemaps
        )
        while (stop := walk.next_stop()) is not None and not self.budget.is_spent:
            if stop.url in self.seen or not self.is_ours(stop.url):
                continue
            self.seen.add(stop.url)
            pages = await self.visit(stop.url, named.get(stop.url, FoundBy.INDEX))
            if pages is not None:
                children = [Entry(url) for url in pages.children]
                walk.found(stop, pages=len(pages.urls), sitemaps=children)

    def is_ours(self, url: str) -> bool:
        """Say whether a file lies on this site; others would be someone else's."""
        home = self.domain.home_url or f"https://{self.domain.domain}/"
        try:
            return parse_url(url).site == parse_url(home).site
        except InvalidUrl:
            return False

    async def visit(self, url: str, found_by: FoundBy) -> PageList | None:
        """Fetch one file and keep it if it is a sitemap; None if it is not."""
        try:
            fetched = await self.tools.crawler.fetch(
                url,
                accept=Accept.ANY,
                max_bytes=self.tools.limits.sitemap_bytes,
                keep_partial=True,
                spool=True,
            )
            if not fetched.is_success:
                return None
            pages = await self.read(fetched)
        except (HtmlNotSitemap, NotHtml):
            self.html_answers += 1
            return None
        except ExtractionError:
            return None
        except FetchError as error:
            if await self.is_passing(error):
                raise
            return None
        self.seen.add(str(fetched.url))
        if pages.kind != SitemapKind.INDEX:
            self.tools.recent.keep(str(fetched.url), fetched)
        if pages.kind != SitemapKind.FEED:
            self.likely = likely_pages(pages, self.likely)
        self.found.append(
            FoundFile(
                str(fetched.url),
                pages.kind,
                found_by.value,
                size=fetched.inflated_bytes,
                urls=len(pages.urls) or len(pages.children),
                generator=pages.generator,
            )
        )
        return pages

    async def is_passing(self, error: FetchError) -> bool:
        """Say whether a file may be there later, or for another machine even now."""
        outcome = await reclassify(outcome_of(error), self.tools.health)
        return isinstance(outcome, Retry | Later)

    async def read(self, fetched: FetchResult) -> PageList:
        """Parse a file where hostile bytes do no harm."""
        return await self.tools.sandbox.run_on(
            list_sitemap_pages,
            fetched.whole,
            str(fetched.url),
            fetched.url.site,
            self.tools.limits.pages,
        )


def store_files(
    domain: Domain,
    site: SiteOwner,
    files: list[FoundFile],
    listed: list[PageLink],
    guessed: list[PageLink],
) -> Effect:
    """Store the files, and let the tenant's rules choose among them.

    An index has no pages of its own: its files stand beside it.
    """
    rows = [
        {
            "tenant_id": domain.tenant_id,
            "created_by": site.user_id,
            "domain_id": domain.id,
            "url": file.url,
            "sitemap_type": file.kind,
            "found_by": file.found_by,
            "size_bytes": file.size,
            "url_count": file.urls,
            "generator": file.generator,
            "status": SitemapFileStatus.COMPLETED
            if file.kind == SitemapKind.INDEX
            else SitemapFileStatus.PENDING,
        }
        for file in {file.url: file for file in files}.values()
    ]

    async def effect(transaction: Transaction) -> None:
        await transaction.execute(STORE_FILES, rows)
        run = RuleRun(
            "sitemap_files", "domain_id", domain.tenant_id, site.user_id, domain.id
        )
        run_rules.add(transaction, run)
        if listed:
            store_links(transaction, site, listed, clicks=None)
        if guessed:
            store_links(transaction, site, guessed, clicks=1)

    return effect


def likely_pages(pages: PageList, before: list[PageLink]) -> list[PageLink]:
    """Return the best few pages of every kind that sitemaps name.

    Menus made by a script link nothing; the sitemap has the pages all the same.
    """
    good = {
        number: rating
        for number, rating in enumerate(pages.ratings)
        if rating.score >= MIN_LIKELIHOOD and rating.type is not PageType.UNKNOWN
    }
    listed = (
        PageLink(url, "", good[number])
        for url, number in zip(pages.urls, pages.rated, strict=True)
        if number in good
    )
    best: dict[PageType, list[PageLink]] = defaultdict(list)
    for link in sorted([*before, *listed], key=promise):
        if len(best[link.rating.type]) < MAX_PAGES_PER_TYPE:
            best[link.rating.type].append(link)
    return [link for some in best.values() for link in some]


def promise(link: PageLink) -> tuple[float, int, str]:
    """Order pages: what promises most first, then the shortest address."""
    return -link.rating.score, len(link.url), link.url
