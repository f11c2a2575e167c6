"""WF7 - Page curation: one page becomes contacts and people, each with its evidence."""

from dataclasses import replace

import structlog

from contact_extraction.contact_card import cards_of
from contact_extraction.contact_page import ContactPage, read_contact_page
from contact_extraction.person_card import people_of
from contact_extraction.verdict import leads_elsewhere
from curation_sdk import Done, Effect, GiveUp, Outcome, Retry, Transaction
from scrapersky.crawler import Conditions, Fetched, Rendered, Spool
from scrapersky.errors import FetchError, RenderFailed
from scrapersky.kit.clock import utc_now
from scrapersky.pipeline.allowance import Allowance, within_budget
from scrapersky.pipeline.declaration import Endings, Job, Lane, stage
from scrapersky.pipeline.fetching import failure_of, is_gone, outcome_of
from scrapersky.pipeline.site import Whose
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.pipeline.visit import (
    AnyVisit,
    Findings,
    Gone,
    NotRead,
    Unchanged,
    Visit,
    store_visits,
)
from scrapersky.privacy.card import canonical_cards
from scrapersky.records import Contact, Page
from scrapersky.records.page import PAGE_CURATION_QUEUE

log = structlog.get_logger("scrapersky.wf7")


@stage(
    "page_curation",
    title="Page curation",
    does="extracts the contacts",
    queue=PAGE_CURATION_QUEUE,
    hands_over="`contacts` rows with evidence",
    makes=Contact,
    feeds=("contact_validation",),
    lane=Lane.HARVEST,
    job=Job("v2_page_curation_processor", "Process Page Curation"),
    settings=SettingsSection(
        "PAGE_CURATION_SCHEDULER",
        StageSettings(concurrency=50, timeout_seconds=180, slow_after_seconds=5),
    ),
    endings=Endings(
        nothing="`Complete` and `NoContactFound`, also if the page is gone (404, 410, or it "
        "says so); a page not worth a visit is `Filtered`",
        fails="other 4xx, robots.txt, the site's budget used up",
        retries="5xx, 429, timeouts",
    ),
)
async def curate_page(page: Page, tools: Tools) -> Outcome:
    """Take every contact that is on the page, and choose what to read of its site next."""
    site = Whose(page.tenant_id, tools.system_user_id, page.domain_id, tools.budgets)

    async def work(allowance: Allowance) -> Outcome:
        outcome = await read_page(page, site, tools, allowance.country)
        if isinstance(outcome, Retry | GiveUp):
            # The site's other pages do not wait for one that cannot be had.
            return replace(outcome, effect=go_on(site))
        return outcome

    return await within_budget(tools, site, work, pages=1)


async def read_page(
    page: Page, site: Whose, tools: Tools, country: str | None
) -> Outcome:
    """Fetch the page politely and take every contact that is on it, and no other."""
    held = Conditions(page.etag, page.last_modified)
    try:
        fetched = tools.recent.take(page.url)
        if fetched is None:
            fetched = await tools.crawler.fetch(page.url, conditions=held, spool=True)
        if fetched.not_modified:
            return Done(
                note_unchanged(page, site),
                nothing="not modified since the last visit",
            )
        if is_gone(fetched):
            why = f"the page is gone: the server answered {fetched.status}"
            return Done(note_gone(page, site, fetched), nothing=why)
        if (failure := failure_of(fetched)) is not None:
            return failure
        if leads_elsewhere(page.url, str(fetched.url)):
            # Whoever is there, it is not whom this domain belongs to.
            return Done(
                note_unchanged(page, site),
                nothing=f"it leads to another site: {fetched.url.site}",
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
        return Done(note_gone(page, site, fetched), nothing=why)
    cards = canonical_cards(cards_of(found.contacts))
    people = people_of(found.contacts, cards, fetched.url.host)
    nothing = None
    if not cards and not people:
        nothing = "the page names no e-mail address, phone number or person"
    findings = Findings(found, cards, people, rendered)
    return Done(store(page, site, fetched, findings), nothing=nothing)


async def parse(
    tools: Tools,
    body: bytes | Spool,
    fetched: Fetched,
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


async def render(tools: Tools, fetched: Fetched, found: ContactPage) -> Rendered | None:
    """Run the scripts of a page that says nothing without them; None if that is no help."""
    if tools.renderer is None or found.needs_script is None:
        return None
    try:
        return await tools.renderer.render(fetched)
    except RenderFailed as error:
        # What the page says by itself is still worth having.
        log.warning("page.not_rendered", url=str(fetched.url), why=str(error))
        return None


def go_on(site: Whose) -> Effect:
    """Let the rules choose what to read of the site instead."""
    return storing(NotRead(site))


def note_unchanged(page: Page, site: Whose) -> Effect:
    """Keep that the page was looked at and is as it was."""
    return storing(Unchanged(page, site))


def note_gone(page: Page, site: Whose, fetched: Fetched) -> Effect:
    """Keep that a link leads to nothing: an answer like any other, and no failure."""
    return storing(Gone(page, site, fetched.status))


def store(page: Page, site: Whose, fetched: Fetched, found: Findings) -> Effect:
    """Store the page's facts, its contacts and people, and the evidence for every value."""
    return storing(Visit(page, site, fetched, found, utc_now()))


def storing(visit: AnyVisit) -> Effect:
    """Store a visit together with the others that settle now."""

    async def effect(transaction: Transaction) -> None:
        transaction.at_end(store_visits, visit)

    return effect
