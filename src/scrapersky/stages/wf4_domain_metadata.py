"""WF4 - Domain metadata: what stands at a domain, read from its home page."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import Insert, insert

from contact_extraction.business_name import business_name, is_in_domain
from contact_extraction.discovery import home_link
from contact_extraction.errors import InvalidUrl
from contact_extraction.home_page import HomePage, read_home_page
from contact_extraction.urls import parse_url
from contact_extraction.verdict import VerdictKind
from curation_sdk import Done, Effect, GiveUp, Outcome, Retry, Transaction
from scrapersky.crawler import FetchResult
from scrapersky.errors import (
    ConnectFailed,
    DnsFailed,
    FetchError,
    NoSuchHost,
    RobotsDenied,
)
from scrapersky.pipeline.declaration import Endings, Lane, StageJob, stage
from scrapersky.pipeline.fetching import outcome_of
from scrapersky.pipeline.health_check import was_tried_before
from scrapersky.pipeline.item_budget import ItemBudget, with_cost
from scrapersky.pipeline.settlement import SettleStep
from scrapersky.pipeline.site import SiteOwner, store_links
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.card import canonical_emails
from scrapersky.privacy.suppression_filter import suppressions
from scrapersky.records import Domain
from scrapersky.records.domain import DOMAIN_METADATA_QUEUE
from scrapersky.records.status import DomainStatus, SitemapAnalysisStatus

WORTH_A_LOOK = (VerdictKind.OWN_SITE,)
"""Verdicts after which the site's pages are looked for."""
SERVER_ERROR = 500
STORE_UNREACHABLE = """
UPDATE domains SET verdict = $1,
  verdict_evidence = jsonb_build_object('confidence', 1.0, 'evidence', jsonb_build_array(u.why))
FROM unnest($3::uuid[], $4::text[]) AS u (id, why)
WHERE domains.id = u.id AND (domains.verdict IS NULL OR domains.verdict = $1
  OR domains.status = $2::domain_status)
"""


@stage(
    "domain_metadata",
    title="Domain metadata",
    does="visits the home page",
    queue=DOMAIN_METADATA_QUEUE,
    hands_over="facts and a verdict on the domain, and what its home page calls its pages; "
    "a site of its own gets `sitemap_analysis_status` `queued`, and `pages` rows for its "
    "home page and what that links",
    feeds=("sitemap_submission", "page_curation"),
    lane=Lane.MAP,
    job=StageJob("process_pending_domains", "Process Pending Domains"),
    settings=SettingsSection(
        "DOMAIN_SCHEDULER",
        StageSettings(
            batch_size=50,
            max_instances=3,
            concurrency=100,
            timeout_seconds=180,
            slow_after_seconds=5,
        ),
    ),
    endings=Endings(
        empty="a verdict other than `own_site` goes no further",
        fails="no such name, reported twice, robots.txt forbids it, a trap, 4xx",
        retries="5xx, 429, timeouts, DNS trouble",
    ),
)
async def gather_metadata(domain: Domain, tools: Tools) -> Outcome:
    """Fetch the home page, take its facts, and say what stands there and why."""
    site = SiteOwner(domain.tenant_id, tools.system_user_id, domain.id, tools.budgets)

    async def work(_: ItemBudget) -> Outcome:
        outcome = await look_at_home(domain, site, tools)
        if isinstance(outcome, Retry | GiveUp) and not is_closed_to_us(outcome):
            return replace(outcome, effect=note_unreachable(domain, outcome.why))
        return outcome

    return await with_cost(site, work)


async def look_at_home(domain: Domain, site: SiteOwner, tools: Tools) -> Outcome:
    """Try every address at which the home page may be."""
    failure: FetchError | None = None
    unknown: set[str] = set()
    for url in addresses(domain):
        if host_of(url) in unknown:
            continue
        try:
            fetched = await tools.crawler.fetch(url, spool=True)
            if fetched.status >= SERVER_ERROR:
                return Retry(f"the server answered {fetched.status}")
            found = await tools.sandbox.run_on(
                read_home_page,
                fetched.whole,
                # Not the address tried: an earlier redirect may have chosen that.
                f"http://{domain.domain}/",
                str(fetched.url),
                fetched.charset.name,
                fetched.status,
            )
        except (DnsFailed, ConnectFailed) as error:
            # Perhaps only this spelling of the address has no server.
            failure = error
            if isinstance(error, DnsFailed):
                unknown.add(host_of(error.url))
            continue
        except FetchError as error:
            return outcome_of(error)
        if not fetched.is_success and found.verdict.kind in WORTH_A_LOOK:
            return GiveUp(f"the server answered {fetched.status}")
        if found.verdict.kind in WORTH_A_LOOK:
            tools.recent.keep(home_link(str(fetched.url)).url, fetched)
        return Done(store_facts(domain, site, fetched, found))
    if failure is None:
        return GiveUp("there is no address to try")
    return await outcome_of_unreachable(failure, domain, tools)


async def outcome_of_unreachable(
    error: FetchError, domain: Domain, tools: Tools
) -> Outcome:
    """Give up a name that does not exist only when it is unknown for the second time."""
    outcome = outcome_of(error)
    if not isinstance(error, NoSuchHost):
        return outcome
    why = f"{error.outcome}: {error}"
    if await was_tried_before(tools.reader, "domain_metadata", domain.id):
        return GiveUp(why, cause=error)
    pause = tools.crawler.policy.second_look
    return Retry(why, max(pause, error.retry_after or pause), cause=error)


def is_closed_to_us(outcome: Retry | GiveUp) -> bool:
    """Say whether the site does not want us: what stands there, we may not know."""
    is_final = isinstance(outcome, GiveUp)
    return is_final and isinstance(outcome.cause, RobotsDenied)


def note_unreachable(domain: Domain, why: str) -> Effect:
    """Keep what was seen beside the failure; a last failure overrules older verdicts."""

    async def effect(transaction: Transaction) -> None:
        store_unreachable.add(transaction, (domain.id, why[:500]))

    return effect


@SettleStep
async def store_unreachable(
    transaction: Transaction, failures: list[tuple[UUID, str]]
) -> None:
    """Store the failures of domains that settle together."""
    await transaction.fetch(
        STORE_UNREACHABLE,
        VerdictKind.UNREACHABLE.value,
        DomainStatus.ERROR.value,
        *map(list, zip(*failures, strict=True)),
    )


def addresses(domain: Domain) -> Iterator[str]:
    """Yield where the home page may be: as given first, then https and http, www or not."""
    tried: set[str] = set()
    for url in (
        domain.home_url,
        f"https://{domain.domain}/",
        f"https://www.{domain.domain}/",
        f"http://{domain.domain}/",
        f"http://www.{domain.domain}/",
    ):
        if url and url not in tried:
            tried.add(url)
            yield url


def host_of(url: str) -> str:
    """Return the host that an address names, or the address if it is none."""
    try:
        return parse_url(url).host
    except InvalidUrl:
        return url


def store_facts(
    domain: Domain, site: SiteOwner, fetched: FetchResult, found: HomePage
) -> Effect:
    """Store the facts; of a site of its own also its pages, and its sitemaps are sought."""
    candidate = found.verdict.candidate

    async def effect(transaction: Transaction) -> None:
        facts = columns(fetched, found)
        names = [domain.domain, *([candidate] if candidate else [])]
        guard = await suppressions(
            transaction.connection, domain.tenant_id, facts, domains=names
        )
        if candidate and not guard.hides_domain(candidate):
            offered = offer(domain, candidate, fetched, found, site.user_id)
            await transaction.execute(offered)
        is_hidden = guard.hides_domain(domain.domain)
        if is_hidden:
            facts |= {"emails": [], "phones": []}
        await transaction.execute(
            update(Domain).where(Domain.id == domain.id).values(**guard.clean(facts))
        )
        if found.verdict.kind in WORTH_A_LOOK and not is_hidden:
            await transaction.execute(
                update(Domain)
                .where(
                    Domain.id == domain.id,
                    Domain.sitemap_analysis_status == SitemapAnalysisStatus.PENDING,
                )
                .values(sitemap_analysis_status=SitemapAnalysisStatus.QUEUED)
            )
            transaction.wake("sitemap_submission")
            home = home_link(str(fetched.url))
            store_links(transaction, site, [home], clicks=0)
            others = [link for link in found.links if link.url != home.url]
            store_links(transaction, site, others, clicks=1)

    return effect


def offer(
    domain: Domain, name: str, fetched: FetchResult, found: HomePage, user_id: UUID
) -> Insert:
    """Write a row for where a domain leads; nothing is fetched there before a person says so."""
    evidence = (f"{domain.domain} leads here", "the page names it", "a person decides")
    return (
        insert(Domain)
        .values(
            tenant_id=domain.tenant_id,
            created_by=user_id,
            domain=name,
            home_url=str(fetched.url),
            title=found.facts.page.title,
            language=found.facts.page.language,
            status=DomainStatus.COMPLETED,
            verdict=VerdictKind.CANDIDATE.value,
            verdict_evidence={"confidence": 0.5, "evidence": list(evidence)},
        )
        .on_conflict_do_nothing(index_elements=["tenant_id", "domain"])
    )


def columns(fetched: FetchResult, found: HomePage) -> dict[str, Any]:
    """Write the facts as columns of a domain; of another brand's page only what it is."""
    facts = facts_of(fetched, found)
    if found.verdict.kind is VerdictKind.OTHER_BRAND:
        # Else somebody else's addresses would stand under this name.
        facts |= {"emails": [], "phones": [], "social_links": {}, "organisation": None}
        del facts["home_url"]
    return facts


def facts_of(fetched: FetchResult, found: HomePage) -> dict[str, Any]:
    """Write all facts as columns of a domain."""
    facts, contacts = found.facts, found.contacts
    return {
        "home_url": str(fetched.url),
        "verdict": found.verdict.kind.value,
        "verdict_evidence": {
            "confidence": found.verdict.confidence,
            "evidence": list(found.verdict.evidence),
        },
        "title": facts.page.title,
        "description": facts.page.description,
        "language": facts.page.language,
        "favicon_url": facts.favicon,
        "logo_url": facts.logo,
        "generator": facts.generator,
        "generator_version": facts.generator_version,
        "tech_stack": {tech.name: tech.version for tech in facts.technologies},
        "emails": canonical_emails(
            email.address for email in contacts.emails if email.owner.is_ours
        ),
        "phones": [phone.e164 for phone in contacts.phones if phone.owner.is_ours],
        "social_links": {
            social.network: social.url for social in reversed(contacts.socials)
        },
        "organisation": organisation_of(found, fetched.url.host),
        "sitemap_hints": found.sitemaps,
        "link_texts": found.link_texts,
    }


def organisation_of(found: HomePage, host: str) -> dict[str, Any] | None:
    """Write what the home page calls the business; its other pages may know better.

    Structured data also says what kind of business it is.
    """
    stated, own = found.facts.organisation, business_name(found.contacts, host)
    kind = stated.type if stated else None
    if own is not None:
        return {"type": kind, "name": own["name"], "home": own}
    if stated:
        return {"type": kind, "name": stated.name}
    named = (found.facts.site_name, *TITLE_PARTS.split(found.facts.page.title or ""))
    name = next((one for one in named if one and is_in_domain(one, host)), None)
    return {"type": None, "name": name} if name else None


TITLE_PARTS = re.compile(r"\s+[|:\u00b7\u2013\u2014-]\s+|\s*\|\s*")
