"""WF7 - Page curation: one page becomes contacts and people, each with its evidence."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
import structlog

from curation_sdk import Done, Effect, GiveUp, Outcome, Retry, Transaction
from scrapersky.crawler import Conditions, Fetched, Rendered
from scrapersky.errors import FetchError, RenderFailed
from scrapersky.extraction.business_name import business_name
from scrapersky.extraction.contact_card import ContactCard, cards_of
from scrapersky.extraction.contact_page import ContactPage, read_contact_page
from scrapersky.extraction.contacts import Address, Contacts, Phone
from scrapersky.extraction.other_value import other_values
from scrapersky.extraction.person_card import PersonCard, people_of
from scrapersky.extraction.verdict import leads_elsewhere
from scrapersky.kit.clock import utc_now
from scrapersky.kit.email_type import EmailType
from scrapersky.kit.urls import parse_url
from scrapersky.pipeline.allowance import Allowance, within_budget
from scrapersky.pipeline.declaration import Endings, Job, Lane, stage
from scrapersky.pipeline.fetching import failure_of, is_gone, outcome_of
from scrapersky.pipeline.naming import name_contacts
from scrapersky.pipeline.site import Whose, choose, store_links
from scrapersky.pipeline.stage_settings import SettingsSection, StageSettings
from scrapersky.pipeline.tools import Tools
from scrapersky.privacy.card import (
    allowed_cards,
    allowed_people,
    canonical_cards,
    names_at,
    words_of,
    words_of_people,
)
from scrapersky.privacy.suppression_filter import suppressions
from scrapersky.records import Contact, Page
from scrapersky.records.page import PAGE_CURATION_QUEUE
from scrapersky.records.status import ContactScrapeStatus

log = structlog.get_logger("scrapersky.wf7")
FACTS = (
    "title", "description", "h1", "language", "canonical_url", "structured_data_types",
    "has_contact_form", "word_count", "http_status", "etag", "last_modified", "bytes",
    "fetch_ms", "fetch_facts", "organisation", "other_values",
)  # fmt: skip
JSON_FACTS = ("fetch_facts", "organisation", "other_values")
# Complete, unless a person has decided against the page meanwhile.
COMPLETED = """fetched_at = clock_timestamp(), page_curation_status = CASE
  WHEN page_curation_status = 'Skipped' THEN page_curation_status
  ELSE 'Complete' END"""
STORE_VISIT = f"UPDATE pages SET {COMPLETED} WHERE id = $1"  # noqa: S608 - our names
STORE_GONE = f"""
UPDATE pages SET {COMPLETED}, contact_scrape_status = 'NoContactFound', http_status = $2,
  gone_at = clock_timestamp() WHERE id = $1
"""  # noqa: S608 - our names
STORE_FACTS = f"""
UPDATE pages SET {COMPLETED}, contact_scrape_status = $2, gone_at = NULL,
  {", ".join(f"{name} = ${at}" for at, name in enumerate(FACTS, 3))}
WHERE id = $1
"""  # noqa: S608 - our names
STORE_CONTACT = """
INSERT INTO contacts AS c (tenant_id, created_by, domain_id, page_id, email, email_type,
  name, role, phone, phones, address, social_links, confidence)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT ({key}) DO UPDATE SET name = coalesce(c.name, excluded.name),
  role = coalesce(c.role, excluded.role), phone = coalesce(c.phone, excluded.phone),
  phones = c.phones || excluded.phones || (
    SELECT coalesce(jsonb_object_agg(number, facts), '{{}}')
    FROM jsonb_each(c.phones) AS e (number, facts) WHERE facts->>'whose' = 'staff'),
  address = CASE WHEN c.address->>'postal_code' IS NULL
    AND excluded.address->>'postal_code' IS NOT NULL
    THEN excluded.address ELSE coalesce(c.address, excluded.address) END,
  social_links = excluded.social_links || c.social_links,
  confidence = greatest(c.confidence, excluded.confidence)
RETURNING id
"""
STORE_BY_EMAIL = STORE_CONTACT.format(key="domain_id, email) WHERE (email IS NOT NULL")
STORE_BY_PHONE = STORE_CONTACT.format(key="domain_id, phone) WHERE (email IS NULL")
STORE_EVIDENCE = """
INSERT INTO contact_evidence (tenant_id, page_id, robots, seen_at, contact_id, field,
  value, url, snippet, method, confidence)
SELECT $1, $2, $3, $4, e.* FROM unnest($5::uuid[], $6::text[], $7::text[], $8::text[],
  $9::text[], $10::text[], $11::float8[]) AS e
ON CONFLICT DO NOTHING
"""
# A person's role and page are those of the sighting that says most about them.
STORE_PEOPLE = """
INSERT INTO people AS p (tenant_id, created_by, domain_id, page_id, name, name_key, role,
  seniority, email, phone, confidence, standing, standing_reason, evidence)
SELECT $1, $2, $3, $4, n.name, n.name_key, n.role, n.seniority::seniority, n.email, n.phone,
  n.confidence, n.standing, n.reason, n.evidence::jsonb
FROM unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[],
  $11::float8[], $12::float8[], $13::text[], $14::text[]) AS n (name, name_key, role,
  seniority, email, phone, confidence, standing, reason, evidence)
ON CONFLICT (domain_id, name_key) DO UPDATE SET
  (page_id, name, role, seniority, standing, standing_reason) = (
    SELECT excluded.page_id, excluded.name, excluded.role, excluded.seniority,
      excluded.standing, excluded.standing_reason
    WHERE excluded.standing > p.standing
    UNION ALL
    SELECT p.page_id, p.name, p.role, p.seniority, p.standing, p.standing_reason
    WHERE excluded.standing <= p.standing),
  email = coalesce(p.email, excluded.email), phone = coalesce(p.phone, excluded.phone),
  confidence = greatest(p.confidence, excluded.confidence),
  evidence = (SELECT jsonb_agg(seen) FROM (
    SELECT seen FROM jsonb_array_elements(excluded.evidence || p.evidence)
      WITH ORDINALITY AS e (seen, place)
    WHERE place <= jsonb_array_length(excluded.evidence)
      OR NOT excluded.evidence @> jsonb_build_array(
        jsonb_build_object('url', seen->>'url'))
    ORDER BY place LIMIT 5) AS kept)
"""
# What most pages call the business, each as sure as it is; the home page knows best, and
# a name that the domain has too counts double. Hours and address are the likeliest page's.
STORE_ORGANISATION = """
WITH named AS (
  SELECT organisation AS o, 1 AS weight FROM pages
  WHERE domain_id = $1 AND organisation->>'name' IS NOT NULL
  UNION ALL
  SELECT organisation->'home', 2 FROM domains
  WHERE id = $1 AND organisation->'home'->>'name' IS NOT NULL
), best AS (
  SELECT min(o->>'name') AS name FROM named GROUP BY lower(o->>'name')
  ORDER BY sum((o->>'confidence')::float8 * weight
    * CASE WHEN (o->>'is_in_domain')::boolean THEN 2 ELSE 1 END) DESC, 1 LIMIT 1
), known AS (
  SELECT jsonb_strip_nulls(jsonb_build_object('name', (SELECT name FROM best),
    'hours', (SELECT organisation->'hours' FROM pages
      WHERE domain_id = $1 AND organisation ? 'hours'
      ORDER BY contact_likelihood DESC NULLS LAST, id LIMIT 1),
    'address', (SELECT organisation->'address' FROM pages
      WHERE domain_id = $1 AND organisation ? 'address'
      ORDER BY contact_likelihood DESC NULLS LAST, id LIMIT 1))) AS facts
)
UPDATE domains SET organisation = coalesce(organisation, '{}') || known.facts
FROM known WHERE id = $1 AND NOT coalesce(organisation, '{}') @> known.facts
"""


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
            fetched = await tools.crawler.fetch(page.url, conditions=held)
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
        found = await parse(tools, fetched.body, fetched, country)
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
    body: bytes,
    fetched: Fetched,
    country: str | None,
    encoding: str | None = None,
) -> ContactPage:
    """Read a page in a process of its own; where the business is says how to read numbers."""
    return await tools.sandbox.run(
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

    async def effect(transaction: Transaction) -> None:
        choose(transaction, site)

    return effect


def note_unchanged(page: Page, site: Whose) -> Effect:
    """Keep that the page was looked at and is as it was."""

    async def effect(transaction: Transaction) -> None:
        await transaction.fetch(STORE_VISIT, page.id)
        choose(transaction, site)

    return effect


def note_gone(page: Page, site: Whose, fetched: Fetched) -> Effect:
    """Keep that a link leads to nothing: an answer like any other, and no failure."""

    async def effect(transaction: Transaction) -> None:
        await transaction.fetch(STORE_GONE, page.id, fetched.status)
        choose(transaction, site)

    return effect


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was read from one page."""

    page: ContactPage
    cards: list[ContactCard]
    people: list[PersonCard]
    rendered: Rendered | None = None


def store(page: Page, site: Whose, fetched: Fetched, found: Findings) -> Effect:
    """Store the page's facts, its contacts and people, and the evidence for every value."""
    seen_at = utc_now()
    robots = fetched.robots.rule or "allowed"
    cards, people = found.cards, found.people
    is_elsewhere = fetched.url.site != parse_url(page.url).site

    async def effect(transaction: Transaction) -> None:
        values = facts(fetched, found)
        host = parse_url(page.url).host
        guard = await suppressions(
            transaction.connection,
            page.tenant_id,
            values,
            list(words_of(cards)),
            list(words_of_people(people)),
            domains=[host],
            people=names_at(host, cards, people),
        )
        is_hidden = guard.hides_domain(host)
        kept = [] if is_hidden else allowed_cards(cards, guard, host)
        await store_facts(
            transaction, page, guard.clean(values), has_contacts=bool(kept)
        )
        seen: list[Seen] = []
        for person in kept:
            contact_id = await store_contact(transaction, page, person, site.user_id)
            seen += sightings(contact_id, person)
        if seen:
            columns = [list(column) for column in zip(*seen, strict=True)]
            await transaction.fetch(
                STORE_EVIDENCE, page.tenant_id, page.id, robots, seen_at, *columns
            )
        known = [] if is_hidden else allowed_people(people, guard, host)
        if known:
            rows = [person_row(person, robots, seen_at) for person in known]
            columns = [list(column) for column in zip(*rows, strict=True)]
            await transaction.fetch(
                *(STORE_PEOPLE, page.tenant_id, site.user_id, page.domain_id, page.id),
                *columns,
            )
        if values["organisation"]:
            await transaction.fetch(STORE_ORGANISATION, page.domain_id)
        links = [] if is_hidden or is_elsewhere else found.page.links
        clicks = 1 if page.clicks is None else page.clicks + 1
        store_links(transaction, site, links, clicks=clicks)
        if kept or known:
            name_contacts(transaction, page.domain_id)

    return effect


async def store_facts(
    transaction: Transaction, page: Page, values: dict[str, Any], *, has_contacts: bool
) -> None:
    """Store what the visit showed about the page itself."""
    found = (
        ContactScrapeStatus.CONTACT_FOUND
        if has_contacts
        else ContactScrapeStatus.NO_CONTACT_FOUND
    )
    given = {**values, **{name: json_of(values.get(name)) for name in JSON_FACTS}}
    await transaction.fetch(
        STORE_FACTS, page.id, found.value, *(given.get(name) for name in FACTS)
    )


def facts(fetched: Fetched, findings: Findings) -> dict[str, Any]:
    """Write what the visit showed about the page itself."""
    found, rendered = findings.page, findings.rendered
    values = found.facts
    return {
        "title": values.title,
        "description": values.description,
        "h1": values.heading,
        "language": values.language,
        "canonical_url": values.canonical,
        "structured_data_types": list(values.structured_types),
        "has_contact_form": values.has_contact_form,
        "word_count": values.word_count,
        "http_status": fetched.status,
        "etag": fetched.headers.get("etag"),
        "last_modified": fetched.headers.get("last-modified"),
        "bytes": len(fetched.body),
        "fetch_ms": round(fetched.timings.total.total_seconds() * 1000),
        "fetch_facts": {
            "final_url": str(fetched.url),
            "outcome": fetched.outcome,
            "charset": fetched.charset.name,
            "robots": fetched.robots.rule or "allowed",
            "x_robots_tag": list(fetched.x_robots_tag),
            "meta_robots": list(fetched.meta_robots),
            "wire_bytes": fetched.wire_bytes,
            "needs_script": found.needs_script,
            "rendered": rendered
            and {"requests": rendered.requests, "refused": rendered.refused},
        },
        "other_values": other_values(found.contacts),
        "organisation": organisation_facts(found.contacts, fetched.url.host),
    }


async def store_contact(
    transaction: Transaction, page: Page, person: ContactCard, user_id: UUID
) -> UUID:
    """Upsert one contact by its natural key; what is known already is kept."""
    email = person.email
    direct = {phone.e164 for phone in person.direct}
    rows = await transaction.fetch(
        STORE_BY_EMAIL if email else STORE_BY_PHONE,
        page.tenant_id,
        user_id,
        page.domain_id,
        page.id,
        email.address if email else None,
        (email.quality.type if email else EmailType.UNKNOWN).value,
        person.name,
        person.role,
        person.phone.e164 if person.phone else None,
        json_of(
            {
                phone.e164: phone_facts(phone, is_staff=phone.e164 in direct)
                for phone in person.phones
            }
        ),
        json_of(address_facts(person.address)),
        json_of({social.network: social.url for social in person.socials}),
        person.confidence,
    )
    return UUID(str(rows[0]["id"]))


def json_of(value: object) -> str | None:
    """Write a value as the driver takes JSON."""
    return None if value is None else orjson.dumps(value).decode()


def address_facts(address: Address | None) -> dict[str, str | None] | None:
    """Keep an address as written and in its parts."""
    if address is None:
        return None
    return {
        "text": address.text,
        "street": address.street,
        "city": address.city,
        "state": address.state,
        "postal_code": address.postal_code,
        "country": address.country,
    }


def organisation_facts(contacts: Contacts, host: str) -> dict[str, Any] | None:
    """Keep what a page says of the business itself: name, opening hours, address."""
    values: dict[str, Any] = {**(business_name(contacts, host) or {})}
    if contacts.hours:
        hours = contacts.hours[0]
        days = [[one.day, one.opens, one.closes] for one in hours.intervals]
        values["hours"] = {"text": hours.text, "days": days}
    ours = [one for one in contacts.addresses if one.owner.is_ours]
    if len(ours) == 1:
        values["address"] = address_facts(ours[0])
    return values or None


def phone_facts(phone: Phone, *, is_staff: bool) -> dict[str, str | None]:
    """Keep a number as written, beside its E.164 form, and whether it is one person's."""
    return {
        "whose": "staff" if is_staff else "own",
        "written": phone.written,
        "kind": phone.kind.value,
        "extension": phone.extension,
        "region": phone.region,
    }


def person_row(person: PersonCard, robots: str, seen_at: datetime) -> tuple[Any, ...]:
    """Write one person as a row, with where they are named."""
    evidence = [
        {
            "url": seen.url,
            "snippet": seen.snippet,
            "method": seen.method.value,
            "robots": robots,
            "seen_at": seen_at,
        }
        for seen in person.evidence
    ]
    return (
        *(person.name, person.key, person.role, person.seniority),
        *(person.email, person.phone, person.confidence, person.standing),
        *(person.reason, json_of(evidence)),
    )


Seen = tuple[UUID, str, str, str, str, str, float]


def sightings(contact_id: UUID, person: ContactCard) -> Iterator[Seen]:
    """Write where each value of a contact was seen."""
    for name, value, evidence, confidence in person.values:
        for seen in evidence:
            yield (
                *(contact_id, name, value, seen.url, seen.snippet),
                *(seen.method.value, confidence),
            )
