"""Visit websites again: conditionally, and with as few requests as tell what has changed.

Where a sitemap says of every page that holds values when it was last changed, the sitemap
is asked for, and then only the pages that it says have changed. Elsewhere the fewest pages that
between them hold all values are asked for, and the others once something differs. Every fourth
time all pages with values and the home page are asked for everywhere. Each request says what is
held already, so what is as it was is not sent again.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

import curation_sdk
from contact_extraction.sitemap import SitemapKind
from contact_extraction.verdict import VerdictKind
from scrapersky.db.transaction import run_in_transaction
from scrapersky.records.difference import DifferenceType
from scrapersky.records.status import (
    DomainStatus,
    PageCurationStatus,
    PageProcessingStatus,
    SitemapImportStatus,
)
from scrapersky.revisits.difference import FoundDifference, store_differences
from scrapersky.revisits.rhythm import (
    FIRST_PAUSE,
    FULL_LOOK,
    LONGEST_PAUSE,
    SHORTEST_PAUSE,
)
from scrapersky.revisits.site_difference import FIELDS

MOST_AT_ONCE: Final = 200
"""Websites whose visits begin in one transaction."""
READ: Final = f"('{PageProcessingStatus.COMPLETE}', '{PageProcessingStatus.ERROR}')"
PAUSE: Final = f"interval '{FIRST_PAUSE.days} days'"
HAS_VALUES: Final = """(EXISTS (SELECT FROM contact_evidence e
    WHERE e.page_id = p.id AND e.gone_at IS NULL)
  OR EXISTS (SELECT FROM people o WHERE o.page_id = p.id AND o.domain_id = p.domain_id
    AND o.gone_at IS NULL))"""
"""Whether a page says how to reach somebody: the others are not worth a request."""
TELLS: Final = f"""f.sitemap_type NOT IN ('{SitemapKind.FEED}', '{SitemapKind.INDEX}')
  AND coalesce(f.etag, f.last_modified) IS NOT NULL"""
"""Whether a sitemap file says when its pages were changed, and that in few bytes."""
WAKES: Final = ("sitemap_import", "page_curation")

OF_SEARCH: Final = """SELECT DISTINCT b.domain_id FROM place_search_hits h
  JOIN place_searches s ON s.id = h.search_id
  JOIN local_businesses b ON b.place_id = h.place_id
  WHERE (s.id = {search} OR s.repeats_id = {search}) AND b.domain_id IS NOT NULL"""
FIND: Final = text(OF_SEARCH.format(search=":search"))
# A website is visited a while after it was read first, and from then on by its own rhythm.
FOLLOW: Final = text(
    f"""INSERT INTO site_visits (domain_id, tenant_id, next_at, pause)
    SELECT d.id, d.tenant_id, max(p.fetched_at) + {PAUSE}, {PAUSE}
    FROM search_schedules t
    CROSS JOIN LATERAL ({OF_SEARCH.format(search="t.search_id")}) AS found
    JOIN domains d ON d.id = found.domain_id
    JOIN pages p ON p.domain_id = d.id AND p.fetched_at IS NOT NULL
    WHERE NOT t.is_paused AND t.id = ANY(:schedules)
      AND NOT EXISTS (SELECT FROM site_visits v WHERE v.domain_id = d.id)
    GROUP BY d.id ON CONFLICT DO NOTHING"""  # noqa: S608 - our own words
)
HURRY: Final = text(
    f"""INSERT INTO site_visits (domain_id, tenant_id, next_at, pause)
    SELECT d.id, d.tenant_id, clock_timestamp(), {PAUSE}
    FROM ({OF_SEARCH.format(search=":search")}) AS found JOIN domains d ON d.id = found.domain_id
    WHERE EXISTS (SELECT FROM pages p WHERE p.domain_id = d.id AND p.fetched_at IS NOT NULL)
    ORDER BY d.id ON CONFLICT (domain_id) DO UPDATE SET next_at = clock_timestamp()"""  # noqa: S608
)
DUE: Final = text(
    f"""SELECT v.domain_id FROM site_visits v WHERE v.next_at <= statement_timestamp()
      AND EXISTS (SELECT FROM local_businesses b
        JOIN place_search_hits h ON h.place_id = b.place_id
        JOIN place_searches p ON p.id = h.search_id
        JOIN search_schedules s ON s.search_id IN (p.id, p.repeats_id)
        WHERE b.domain_id = v.domain_id AND NOT s.is_paused)
    ORDER BY v.next_at LIMIT {MOST_AT_ONCE} FOR UPDATE OF v SKIP LOCKED"""  # noqa: S608
)
BEGIN: Final = text(
    f"""INSERT INTO site_visits AS v (domain_id, tenant_id, visits, visited_at, pause, next_at)
    SELECT d.id, d.tenant_id, 1, clock_timestamp(), {PAUSE}, clock_timestamp() + {PAUSE}
    FROM domains d WHERE d.id = ANY(:domains) AND EXISTS (
      SELECT FROM pages p WHERE p.domain_id = d.id AND p.fetched_at IS NOT NULL)
    ORDER BY d.id
    ON CONFLICT (domain_id) DO UPDATE SET visits = v.visits + 1,
      visited_at = clock_timestamp(),
      pause = least(interval '{LONGEST_PAUSE.days} days', v.pause * 2),
      next_at = clock_timestamp() + least(interval '{LONGEST_PAUSE.days} days', v.pause * 2)
    RETURNING domain_id"""  # noqa: S608 - our own numbers
)
# Of which nothing is held any more: it would be due for ever.
POSTPONE: Final = text(
    f"""UPDATE site_visits
    SET next_at = clock_timestamp() + interval '{LONGEST_PAUSE.days} days'
    WHERE domain_id = ANY(:domains)"""  # noqa: S608 - our own number
)
# What a site may cost counts for each visit: else one that is visited for years is used up.
START_BUDGET: Final = text(
    """UPDATE site_usage SET pages_fetched = 0, bytes = 0, parse_ms = 0
    WHERE domain_id = ANY(:domains)"""
)
# As they are compared: a mobile is a phone, and commas make no other address.
FIELD: Final = "CASE e.field WHEN 'mobile' THEN 'phone' ELSE e.field END"
VALUE: Final = """CASE e.field WHEN 'address'
  THEN btrim(regexp_replace(lower(e.value), '\\W+', ' ', 'g')) ELSE e.value END"""
# A page that alone holds something is needed; what no such page holds is asked for where most of
# it stands together.
QUEUE: Final = text(
    f"""WITH held AS MATERIALIZED (
      SELECT p.id, p.domain_id, p.url, p.clicks = 0 AS is_home, p.lastmod, p.sitemap_file_id,
        {HAS_VALUES} AS has_values
      FROM pages p WHERE p.domain_id = ANY(:domains) AND p.fetched_at IS NOT NULL
        AND p.gone_at IS NULL AND p.page_processing_status IN {READ}
        AND p.page_curation_status <> '{PageCurationStatus.SKIPPED}'
    ), told AS MATERIALIZED (
      SELECT h.domain_id, array_agg(DISTINCT h.sitemap_file_id) AS files FROM held h
      JOIN site_visits v ON v.domain_id = h.domain_id AND v.visits % {FULL_LOOK} <> 0
        AND v.unreachable_since IS NULL
      LEFT JOIN sitemap_files f ON f.id = h.sitemap_file_id
        AND f.sitemap_import_status = '{SitemapImportStatus.COMPLETE}'
        AND {TELLS}
      WHERE h.has_values
      GROUP BY h.domain_id HAVING bool_and(f.id IS NOT NULL AND h.lastmod IS NOT NULL)
    ), said AS MATERIALIZED (
      SELECT *, count(*) OVER (PARTITION BY domain_id, field, value) AS pages FROM (
        SELECT DISTINCT h.domain_id, e.page_id, {FIELD} AS field, {VALUE} AS value
        FROM held h JOIN contact_evidence e ON e.page_id = h.id AND e.gone_at IS NULL
          AND e.field = ANY(:fields)
        UNION SELECT h.domain_id, h.id, 'person', o.name_key
        FROM held h JOIN people o ON o.domain_id = h.domain_id AND o.gone_at IS NULL
          AND (o.page_id = h.id OR o.evidence
            @> jsonb_build_array(jsonb_build_object('url', h.url)))) AS s
    ), telling AS MATERIALIZED (
      SELECT DISTINCT ON (domain_id, field, value) page_id FROM (
        SELECT *, count(*) FILTER (WHERE NOT is_held) OVER (PARTITION BY page_id) AS more FROM (
          SELECT *, bool_or(is_needed) OVER (PARTITION BY domain_id, field, value) AS is_held
          FROM (SELECT *, bool_or(pages = 1) OVER (PARTITION BY page_id) AS is_needed
            FROM said) AS s) AS s) AS s
      ORDER BY domain_id, field, value, is_needed DESC, more DESC, page_id
    ), files AS (
      UPDATE sitemap_files SET sitemap_import_status = '{SitemapImportStatus.QUEUED}'
      WHERE id IN (SELECT unnest(files) FROM told)
    )
    UPDATE pages p SET page_processing_status = '{PageProcessingStatus.QUEUED}'
    FROM held h JOIN site_visits v ON v.domain_id = h.domain_id
    WHERE p.id = h.id AND (h.has_values OR h.is_home AND (v.visits % {FULL_LOOK} = 0
        OR NOT EXISTS (SELECT FROM held o WHERE o.domain_id = h.domain_id AND o.has_values)))
      AND (v.visits % {FULL_LOOK} = 0 OR v.unreachable_since IS NOT NULL OR NOT h.has_values
        OR h.id IN (SELECT page_id FROM telling))
      AND NOT EXISTS (SELECT FROM told t WHERE t.domain_id = h.domain_id)"""  # noqa: S608
)
# Where one page is not as it was, those are asked for too that only repeat what others say, unless
# sitemaps say of each what has changed.
QUEUE_REST: Final = text(
    f"""UPDATE pages p SET page_processing_status = '{PageProcessingStatus.QUEUED}'
    FROM site_visits v WHERE v.domain_id = p.domain_id AND p.domain_id = ANY(:domains)
      AND p.fetched_at < v.visited_at AND p.gone_at IS NULL
      AND p.page_processing_status IN {READ}
      AND p.page_curation_status <> '{PageCurationStatus.SKIPPED}'
      AND {HAS_VALUES}
      AND EXISTS (SELECT FROM pages p WHERE p.domain_id = v.domain_id
        AND p.fetched_at IS NOT NULL AND p.gone_at IS NULL AND (p.lastmod IS NULL
          OR NOT EXISTS (SELECT FROM sitemap_files f WHERE f.id = p.sitemap_file_id AND {TELLS}))
        AND {HAS_VALUES})"""  # noqa: S608 - our own words
)
VISITED: Final = text(
    """SELECT domain_id FROM site_visits
    WHERE domain_id = ANY(:domains) AND visited_at IS NOT NULL"""
)
HEARD: Final = text(
    """UPDATE site_visits SET unreachable_since = NULL
    WHERE domain_id = ANY(:domains) AND unreachable_since IS NOT NULL
    RETURNING domain_id, tenant_id"""
)
NOT_HEARD: Final = text(
    f"""UPDATE site_visits SET unreachable_since = clock_timestamp(),
      next_at = least(next_at, clock_timestamp() + interval '{SHORTEST_PAUSE.days} days')
    WHERE domain_id = ANY(:domains) AND unreachable_since IS NULL AND visited_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM pages p WHERE p.domain_id = site_visits.domain_id
        AND p.fetched_at >= visited_at)
    RETURNING domain_id, tenant_id"""  # noqa: S608 - our own number
)
"""One page that is not to be had makes no website unreachable whose others answer."""
JUDGE_AGAIN: Final = text(
    f"""UPDATE domains SET status = '{DomainStatus.PENDING}'
    WHERE id = ANY(:domains) AND status = '{DomainStatus.COMPLETED}'
      AND verdict IS NOT NULL AND (:is_silent OR verdict <> '{VerdictKind.OWN_SITE}')"""  # noqa: S608
)
JUDGED_BY: Final = "domain_metadata"


@dataclass(frozen=True, slots=True)
class Silence:
    """A website that did not answer when it was visited again."""

    domain_id: UUID
    url: str
    why: str = ""
    is_replaced: bool = False
    """Whether something else stands there: then the domain is judged again."""

    @property
    def reason(self) -> str:
        """Say it in a sentence."""
        return f"the website does not answer: {self.why}"


async def visit_found(engine: AsyncEngine, search_id: UUID) -> int:
    """Visit every website that a search and its runs have found, now; return how many."""
    async with engine.connect() as connection:
        found = (await connection.scalars(FIND, {"search": search_id})).all()
    begun = 0
    for start in range(0, len(found), MOST_AT_ONCE):
        some = found[start : start + MOST_AT_ONCE]
        begun += await run_in_transaction(engine, partial(begin, domains=some))
    return begun


async def begin_due_visits(engine: AsyncEngine) -> int:
    """Begin the visits that are due; whoever comes second finds them begun."""

    async def act(connection: AsyncConnection) -> int:
        due = (await connection.scalars(DUE)).all()
        return await begin(connection, due)

    total = 0
    while (begun := await run_in_transaction(engine, act)) == MOST_AT_ONCE:
        total += begun
    return total + begun


async def follow(connection: AsyncConnection, schedules: Collection[UUID]) -> None:
    """Give the websites of scheduled searches a rhythm, where they have none yet."""
    if schedules:
        await connection.execute(FOLLOW, {"schedules": [*schedules]})


async def begin(connection: AsyncConnection, domains: Sequence[Any]) -> int:
    """Queue what tells of each website whether it has changed; return how many have begun."""
    if not domains:
        return 0
    begun = (await connection.scalars(BEGIN, {"domains": [*domains]})).all()
    left = sorted({*domains} - {*begun})
    await connection.execute(POSTPONE, {"domains": left})
    await connection.execute(START_BUDGET, {"domains": [*begun]})
    asked = {"domains": [*begun], "fields": [*FIELDS]}
    await connection.execute(QUEUE, asked)
    for stage in WAKES:
        await curation_sdk.control.wake(connection, stage)
    return len(domains)


async def ask_for_rest(connection: AsyncConnection, domains: Iterable[UUID]) -> None:
    """Ask for all that websites say, where something is not as it was."""
    if some := sorted(set(domains)):
        found = await connection.execute(QUEUE_REST, {"domains": some})
        if found.rowcount:
            await curation_sdk.control.wake(connection, WAKES[1])


async def visited_again(
    connection: AsyncConnection, domains: Iterable[UUID]
) -> frozenset[UUID]:
    """Return those of some websites that are not read for the first time."""
    found = await connection.scalars(VISITED, {"domains": sorted(domains)})
    return frozenset(found)


async def note_answers(connection: AsyncConnection, domains: Iterable[UUID]) -> None:
    """Keep that websites answer again."""
    rows = (await connection.execute(HEARD, {"domains": sorted(set(domains))})).all()
    await judge_again(connection, [row.domain_id for row in rows], is_silent=False)
    found = [
        FoundDifference(
            tenant_id=row.tenant_id,
            what=DifferenceType.BACK,
            domain_id=row.domain_id,
        )
        for row in rows
    ]
    await store_differences(connection, found)


async def note_silence(connection: AsyncConnection, silent: Sequence[Silence]) -> None:
    """Keep that websites do not answer: what they said stays as it was."""
    by_domain = {one.domain_id: one for one in silent}
    rows = (await connection.execute(NOT_HEARD, {"domains": sorted(by_domain)})).all()
    ids = [row.domain_id for row in rows]
    replaced = [each for each in ids if by_domain[each].is_replaced]
    await judge_again(connection, replaced, is_silent=True)
    found = [
        FoundDifference(
            tenant_id=row.tenant_id,
            what=DifferenceType.UNREACHABLE,
            domain_id=row.domain_id,
            new_value=by_domain[row.domain_id].why[:500],
            new_source=by_domain[row.domain_id].url,
        )
        for row in rows
    ]
    await store_differences(connection, found)


async def judge_again(
    connection: AsyncConnection, domains: Sequence[UUID], *, is_silent: bool
) -> None:
    """Look again at what stands at domains: of those that answer, where that was no own site."""
    if domains:
        asked = {"domains": sorted(domains), "is_silent": is_silent}
        await connection.execute(JUDGE_AGAIN, asked)
        await curation_sdk.control.wake(connection, JUDGED_BY)
