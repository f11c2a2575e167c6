"""WF7 - Page curation: one page becomes contacts and people, each with its evidence."""

from dataclasses import replace

import structlog

from contact_extraction.contact_page import ContactPage, read_contact_page
from contact_extraction.verdict import leads_elsewhere
from curation_sdk import Done, Effect, GiveUp, Outcome, Retry, Transaction
from scrapersky.crawler import CacheValidators, FetchResult, RenderedPage, Spool
from scrapersky.errors import FetchError, PageWithheld, RenderFailed
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.declaration import Endings, Lane, StageJob, stage
from scrapersky.pipeline.fetching import failure_of, is_gone, outcome_of
from scrapersky.pipeline.item_budget import ItemBudget, within_budget
from scrapersky.pipeline.page_findings import PageFindings, content_hash, findings_of
from scrapersky.pipeline.page_visit import (
    AnyVisit,
    GonePage,
    PageVisit,
    UnchangedPage,
    UnreadPage,
)
from scrapersky.pipeline.revisit import holds_values, silence_of
from scrapersky.pipeline.site import SiteOwner
from scrapersky.pipeline.snapshot import MAX_PAGE_BYTES, SnapshotDraft, pack_page
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.pipeline.visit import store_visits
from scrapersky.records import Contact, Page
from scrapersky.records.page import PAGE_CURATION_QUEUE
from scrapersky.revisits.visit import Silence

log = structlog.get_logger("scrapersky.wf7")

REFUSALS = (401, 403, 451)
"""Answers by which a server does not show us a page that it may well have."""


@stage(
    "page_curation",
    title="Page curation",
    does="extracts the contacts",
    queue=PAGE_CURATION_QUEUE,
    hands_over="`contacts` rows with evidence",
    makes=Contact,
    feeds=("contact_validation",),
    lane=Lane.HARVEST,
    job=StageJob("v2_page_curation_processor", "Process Page Curation"),
    settings=SettingsSection(
        "PAGE_CURATION_SCHEDULER",
        StageSettings(concurrency=50, timeout_seconds=180, slow_after_seconds=5),
    ),
    endings=Endings(
        empty="`Complete` and `NoContactFound`, also if the page is gone (404, 410, or it "
        "says so); a page not worth a visit is `Filtered`",
        fails="other 4xx, robots.txt, the site's budget used up",
        retries="5xx, 429, timeouts",
    ),
)
async def curate_page(page: Page, tools: Tools) -> Outcome:
    """Take every contact that is on the page, and choose what to read of its site next."""
    site = SiteOwner(
        page.tenant_id, tools.system_user_id, page.domain_id, tools.budgets
    )

    async def work(budget: ItemBudget) -> Outcome:
        outcome = await read_page(page, site, tools, budget)
        site_of_page = Silence(page.domain_id, page.url)
        silent = await silence_of(
            outcome, tools, "page_curation", page.id, site_of_page
        )
        if silent is not None:
            return Done(go_on(site, silent), empty_because=silent.reason)
        if isinstance(outcome, Retry | GiveUp):
            # The site's other pages do not wait for one that cannot be had.
            return replace(outcome, effect=go_on(site))
        return outcome

    return await within_budget(tools, site, work, pages=1)


async def read_page(
    page: Page, site: SiteOwner, tools: Tools, budget: ItemBudget
) -> Outcome:
    """Fetch the page politely and take every contact that is on it, and no other."""
    country = budget.country
    held = CacheValidators(page.etag, page.last_modified)
    try:
        fetched = tools.recent.take(page.url)
        if fetched is None:
            fetched = await tools.crawler.fetch(page.url, conditions=held, spool=True)
        if fetched.not_modified:
            return Done(
                note_unchanged(page, site),
                empty_because="not modified since the last visit",
            )
        if is_gone(fetched):
            why = f"the page is gone: the server answered {fetched.status}"
            return Done(note_gone(page, site, fetched), empty_because=why)
        if (failure := failure_of(fetched)) is not None:
            if fetched.status in REFUSALS and await holds_values(tools, page.id):
                return withheld(page, f"the server answered {fetched.status}")
            return failure
        if is_same(page, fetched):
            return Done(
                note_unchanged(page, site),
                empty_because="the same as at the last visit",
            )
        if leads_elsewhere(page.url, str(fetched.url)):
            # Whoever is there, it is not whom this domain belongs to.
            if await holds_values(tools, page.id):
                why = f"it leads to another site: {fetched.url.site}"
                return withheld(page, why, is_replaced=True)
            return Done(
                note_unchanged(page, site),
                empty_because=f"it leads to another site: {fetched.url.site}",
            )
        found = await parse(tools, fetched.whole, fetched, country)
        rendered = await render(tools, fetched, found)
        if rendered is not None:
            made = await parse(tools, rendered.html, fetched, country, "utf-8")
            found = replace(made, needs_script=found.needs_script)
    except FetchError as error:
        return outcome_of(error)
    if found.not_found is not None:
        why = f"the page is gone: it says {found.not_found!r}"
        return Done(note_gone(page, site, fetched), empty_because=why)
    findings = findings_of(found, fetched.url.host, rendered)
    nothing = None
    if not findings.cards and not findings.people:
        nothing = "the page names no e-mail address, phone number or person"
        instead = shown_instead(found, rendered)
        if instead is not None and await holds_values(tools, page.id):
            why = f"something else stands there: {instead}"
            return withheld(page, why, is_replaced=True)
    draft = await draft_snapshot(page, fetched, rendered, tools, budget)
    effect = store(page, site, fetched, findings, draft)
    return Done(effect, empty_because=nothing)


def shown_instead(found: ContactPage, rendered: RenderedPage | None) -> str | None:
    """Say what stands in the place of a page that nothing was read from; None: a page."""
    if found.instead is None and rendered is None:
        return found.needs_script
    return found.instead


def withheld(page: Page, why: str, *, is_replaced: bool = False) -> Retry:
    """Leave all that a page has said as it was: it is not shown to us, and says nothing."""
    return Retry(why, cause=PageWithheld(page.url, why, is_replaced=is_replaced))


async def draft_snapshot(
    page: Page,
    fetched: FetchResult,
    rendered: RenderedPage | None,
    tools: Tools,
    budget: ItemBudget,
) -> SnapshotDraft:
    """Pack the bytes that were read, if the tenant has room for them."""
    body = fetched.read_all() if rendered is None else rendered.html
    digest, packed = await pack_page(body, page.domain_id, tools.bases)
    is_kept = budget.keeps_pages and len(body) <= MAX_PAGE_BYTES
    return SnapshotDraft(
        hash=digest,
        url=str(fetched.url),
        encoding=fetched.charset.name if rendered is None else "utf-8",
        country=budget.country,
        is_rendered=rendered is not None,
        packed=packed if is_kept else None,
    )


def is_same(page: Page, fetched: FetchResult) -> bool:
    """Say whether a page is as it was, where its server does not tell."""
    held = (page.fetch_facts or {}).get("content")
    return held is not None and held == content_hash(fetched)


async def parse(
    tools: Tools,
    body: bytes | Spool,
    fetched: FetchResult,
    country: str | None,
    encoding: str | None = None,
) -> ContactPage:
    """Read a page in a process of its own; where the business is says how to read numbers."""
    return await tools.sandbox.run_on(
        read_contact_page,
        body,
        str(fetched.url),
        encoding or fetched.charset.name,
        country,
    )


async def render(
    tools: Tools, fetched: FetchResult, found: ContactPage
) -> RenderedPage | None:
    """Run the scripts of a page that says nothing without them; None if that is no help."""
    if tools.renderer is None or found.needs_script is None:
        return None
    try:
        return await tools.renderer.render(fetched)
    except RenderFailed as error:
        # What the page says by itself is still worth having.
        log.warning("page.not_rendered", url=str(fetched.url), why=str(error))
        return None


def go_on(site: SiteOwner, silence: Silence | None = None) -> Effect:
    """Let the rules choose what to read of the site instead."""
    return store_visit(UnreadPage(site, silence))


def note_unchanged(page: Page, site: SiteOwner) -> Effect:
    """Keep that the page was looked at and is as it was."""
    return store_visit(UnchangedPage(page, site))


def note_gone(page: Page, site: SiteOwner, fetched: FetchResult) -> Effect:
    """Keep that a link leads to nothing: an answer like any other, and no failure."""
    return store_visit(GonePage(page, site, fetched.status))


def store(
    page: Page,
    site: SiteOwner,
    fetched: FetchResult,
    found: PageFindings,
    draft: SnapshotDraft,
) -> Effect:
    """Store the page's facts, its contacts and people, and the evidence for every value."""
    return store_visit(PageVisit(page, site, fetched, found, utc_now(), draft))


def store_visit(visit: AnyVisit) -> Effect:
    """Store a visit together with the others that settle now."""

    async def effect(transaction: Transaction) -> None:
        store_visits.add(transaction, visit)

    return effect
