"""What visits to pages have shown: stored for all pages that settle together, at once."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final
from uuid import UUID

from curation_sdk import Transaction
from scrapersky.pipeline.contact_storage import (
    SnapshotIds,
    store_contacts,
    store_people,
)
from scrapersky.pipeline.fallback import try_usual_pages
from scrapersky.pipeline.naming import name_contacts
from scrapersky.pipeline.organisation import STORE_ORGANISATIONS
from scrapersky.pipeline.page_findings import Row, address_facts
from scrapersky.pipeline.page_visit import (
    AllowedFindings,
    AnyVisit,
    GonePage,
    PageVisit,
    ReadVisit,
    RereadPage,
    UnchangedPage,
    UnreadPage,
)
from scrapersky.pipeline.rows import write
from scrapersky.pipeline.settlement import SettleStep
from scrapersky.pipeline.site import Cost, charge, choose, store_links
from scrapersky.pipeline.snapshot import (
    SEEN_AGAIN,
    STORE_SNAPSHOTS,
    SnapshotToStore,
    store_contents,
)
from scrapersky.privacy.card import names_at, words_of, words_of_people
from scrapersky.privacy.suppression_filter import (
    REMOVED,
    SuppressionFilter,
    suppressions,
)
from scrapersky.records import Page
from scrapersky.records.status import ContactScrapeStatus, PageCurationStatus
from scrapersky.revisits.site_difference import (
    PageReadAgain,
    PageValue,
    known_sites,
    note_site_differences,
)
from scrapersky.revisits.visit import (
    ask_for_rest,
    note_answers,
    note_silence,
    visited_again,
)

READ_FACTS: Final = (
    "title", "description", "h1", "language", "canonical_url", "structured_data_types",
    "has_contact_form", "word_count", "organisation", "other_values",
)  # fmt: skip
FACTS: Final = (
    *READ_FACTS, "http_status", "etag", "last_modified", "bytes", "fetch_ms", "fetch_facts",
)  # fmt: skip
# Complete, unless a person has decided against the page meanwhile.
COMPLETED: Final = f"""fetched_at = clock_timestamp(), page_curation_status = CASE
  WHEN p.page_curation_status = '{PageCurationStatus.SKIPPED}' THEN p.page_curation_status
  ELSE '{PageCurationStatus.COMPLETE}' END"""
STORE_UNCHANGED: Final = f"UPDATE pages AS p SET {COMPLETED} WHERE id = ANY($1)"  # noqa: S608 - our names
STORE_GONE: Final = f"""
UPDATE pages AS p SET {COMPLETED}, contact_scrape_status = '{ContactScrapeStatus.NO_CONTACT_FOUND}',
  http_status = g.http_status, gone_at = clock_timestamp()
FROM json_populate_recordset(NULL::pages, $1) AS g WHERE p.id = g.id
"""  # noqa: S608 - our names
STORE_FACTS: Final = f"""
UPDATE pages AS p SET {COMPLETED}, contact_scrape_status = g.contact_scrape_status,
  gone_at = NULL, {", ".join(f"{name} = g.{name}" for name in FACTS)}
FROM json_populate_recordset(NULL::pages, $1) AS g WHERE p.id = g.id
"""  # noqa: S608 - our names
# Of a page that was only read again, all that its answer said stays as it was.
STORE_REREAD: Final = f"""
UPDATE pages AS p SET contact_scrape_status = g.contact_scrape_status,
  {", ".join(f"{name} = g.{name}" for name in READ_FACTS)}
FROM json_populate_recordset(NULL::pages, $1) AS g WHERE p.id = g.id
"""  # noqa: S608 - our names


@SettleStep
async def store_visits(transaction: Transaction, visits: list[AnyVisit]) -> None:
    """Store what pages have shown, and go on with their sites."""
    if unchanged := [one.page.id for one in visits if isinstance(one, UnchangedPage)]:
        await transaction.fetch(STORE_UNCHANGED, unchanged)
        await transaction.fetch(SEEN_AGAIN, unchanged)
    gone = [one for one in visits if isinstance(one, GonePage)]
    rows = [{"id": one.page.id, "http_status": one.status} for one in gone]
    await write(transaction, STORE_GONE, rows)
    if gone:
        sites = [one.site for one in gone]
        await try_usual_pages(transaction, sites, [one.page.id for one in gone])
    read = [one for one in visits if isinstance(one, ReadVisit)]
    for one in visits:
        if not isinstance(one, ReadVisit):
            choose(transaction, one.site)
    await note_reachability(transaction, visits)
    again = [one.page for one in gone if one.page.fetched_at is not None]
    if again:
        known = await known_sites(
            transaction.connection, {page.domain_id for page in again}
        )
        pages = [without_values(page) for page in again]
        differing = await note_site_differences(transaction.connection, known, pages)
        await ask_for_rest(transaction.connection, differing)
        gone_from = {page.domain_id for page in again}
        await transaction.fetch(STORE_ORGANISATIONS, sorted(gone_from))
    read.sort(key=lambda one: one.page.tenant_id)
    for tenant_id, group in groupby(read, key=lambda one: one.page.tenant_id):
        await store_read(transaction, tenant_id, list(group))


async def note_reachability(
    transaction: Transaction, visits: Sequence[AnyVisit]
) -> None:
    """Keep which websites that are visited again do not answer, and which do again."""
    answered = {
        one.page.domain_id
        for one in visits
        if isinstance(one, PageVisit | UnchangedPage | GonePage)
        and one.page.fetched_at is not None
    }
    if answered:
        await note_answers(transaction.connection, answered)
    silent = [
        one.silence
        for one in visits
        if isinstance(one, UnreadPage)
        and one.silence is not None
        and one.silence.domain_id not in answered
    ]
    if silent:
        await note_silence(transaction.connection, silent)


def without_values(page: Page) -> PageReadAgain:
    """Say of a page that is gone that it says nothing any more."""
    return PageReadAgain(
        *(page.tenant_id, page.domain_id, page.id, page.url),
        {},
        frozenset(),
        frozenset({page.url}),
        {},
    )


async def store_read(
    transaction: Transaction, tenant_id: UUID, visits: Sequence[ReadVisit]
) -> None:
    """Store the pages that were read for one tenant, but nothing it must not keep."""
    # Other readers of an old copy say nothing of what the website has changed.
    again = await visited_again(
        transaction.connection,
        {one.page.domain_id for one in visits if isinstance(one, PageVisit)},
    )
    known = await known_sites(transaction.connection, again) if again else None
    guard = await suppressions_for(transaction, tenant_id, visits)
    kept = [AllowedFindings.of(one, guard) for one in visits]
    fetched = [one for one in kept if isinstance(one.visit, PageVisit)]
    reread = [one for one in kept if isinstance(one.visit, RereadPage)]
    await write(transaction, STORE_FACTS, [page_row(one, guard) for one in fetched])
    await write(transaction, STORE_REREAD, [page_row(one, guard) for one in reread])
    snapshots = await store_snapshots(transaction, kept, guard)
    seen = await store_contacts(transaction, kept, snapshots)
    await store_people(transaction, kept, snapshots)
    named = {
        one.page.domain_id
        for one in visits
        if one.facts["organisation"]
        or one.page.domain_id in again
        or isinstance(one, RereadPage)
    }
    if named:
        await transaction.fetch(STORE_ORGANISATIONS, sorted(named))
    for one in kept:
        name_contacts.add(transaction, one.visit.page.domain_id)
        follow_links(transaction, one)
    if known is not None:
        pages = [
            read_again(one, visit, seen)
            for one in kept
            if isinstance(visit := one.visit, PageVisit)
            and visit.page.domain_id in again
        ]
        differing = await note_site_differences(transaction.connection, known, pages)
        await ask_for_rest(transaction.connection, differing)


def follow_links(transaction: Transaction, one: "AllowedFindings") -> None:
    """Store where a page that was fetched leads, and go on with its site."""
    if isinstance(visit := one.visit, PageVisit):
        links = [] if one.is_hidden or visit.is_elsewhere else visit.found.page.links
        clicks = 1 if visit.page.clicks is None else visit.page.clicks + 1
        page = visit.page
        is_first = page.choice is not None and page.fetched_at is None
        read = page.id if is_first and not one.is_hidden else None
        store_links(transaction, visit.site, links, clicks=clicks, read=read)


def read_again(
    kept: "AllowedFindings", visit: PageVisit, seen: Sequence[Row]
) -> PageReadAgain:
    """Say what a page says now that was read before."""
    rows = [row for row in seen if row["page_id"] == visit.page.id]
    cards = [card.address for card in kept.cards if card.address is not None]
    addresses = {address.text: address_facts(address) for address in cards}
    return PageReadAgain(
        tenant_id=visit.page.tenant_id,
        domain_id=visit.page.domain_id,
        page_id=visit.page.id,
        url=str(visit.fetched.url),
        addresses={
            row["contact_id"]: addresses.get(row["value"])
            for row in rows
            if row["field"] == "address"
        },
        values=frozenset(
            PageValue(row["contact_id"], row["field"], row["value"]) for row in rows
        ),
        urls=frozenset({visit.page.url, str(visit.fetched.url)}),
        names={person.key: person.role for person in kept.people},
    )


async def suppressions_for(
    transaction: Transaction, tenant_id: UUID, visits: Sequence[ReadVisit]
) -> SuppressionFilter:
    """Ask the suppression list about all that is on some pages."""
    return await suppressions(
        transaction.connection,
        tenant_id,
        [one.facts for one in visits],
        [word for one in visits for word in words_of(one.found.cards)],
        [word for one in visits for word in words_of_people(one.found.people)],
        domains={one.host for one in visits},
        people={
            name
            for one in visits
            for name in names_at(one.host, one.found.cards, one.found.people)
        },
    )


async def store_snapshots(
    transaction: Transaction, kept: Sequence[AllowedFindings], guard: SuppressionFilter
) -> SnapshotIds:
    """Keep the pages as they were read, but no bytes that name whom we must not keep."""
    wanted = [
        SnapshotToStore(
            one.visit.page,
            one.visit.draft,
            guard.clean(one.visit.draft.url) or REMOVED,
            one.visit.seen_at,
            one.is_whole(guard),
        )
        for one in kept
    ]
    stored = await write(transaction, STORE_SNAPSHOTS, [one.row for one in wanted])
    packed = await store_contents(transaction, wanted)
    if packed:
        charge(transaction, kept[0].visit.site, Cost(snapshot_bytes=packed))
    return {row["page_id"]: row["id"] for row in stored}


def page_row(kept: AllowedFindings, guard: SuppressionFilter) -> Row:
    """Write what the visit showed about the page itself."""
    found = (
        ContactScrapeStatus.CONTACT_FOUND
        if kept.cards
        else ContactScrapeStatus.NO_CONTACT_FOUND
    )
    return {
        **guard.clean(kept.visit.facts),
        "id": kept.visit.page.id,
        "contact_scrape_status": found.value,
    }
