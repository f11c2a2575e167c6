"""Judge what the map says of companies by their own websites, wherever they are summed up."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.companies.agreement import (
    MapClaim,
    WebsiteFacts,
    WebsiteHours,
    WebsiteNumber,
    WebsiteOffice,
    WebsiteValue,
    Week,
)
from scrapersky.companies.evidence import Facts, own_domain
from scrapersky.companies.score import NameLevel, level_of_names
from scrapersky.companies.verdict import FieldVerdict, judge_claim
from scrapersky.kit.json_text import json_text
from scrapersky.providers.hours import DAYS

MOST_PAGES: Final = 40
MOST_NUMBERS: Final = 100
MOST_OTHERS: Final = 20
LONGEST_TEXT: Final = 500
FULL_WEEK_SURE: Final = 0.95
NOTICE_SURE: Final = 0.97
LESS_SURE_OF_NAME: Final = 0.9
# The place that the company is shown by, as `summed_up` chooses it. Of the pages only those
# that say something of a business are asked, which have an index: a site may have a million.
CLAIMS: Final = text(
    f"""SELECT c.id AS company_id, c.tenant_id, m.*, d.domain, d.verdict AS kind,
      d.verdict_evidence, d.home_url, d.title, d.organisation, d.updated_at AS site_seen_at,
      ARRAY(SELECT o.name FROM companies o WHERE o.domain_id = d.id AND o.id <> c.id
        AND o.name IS NOT NULL LIMIT {MOST_OTHERS}) AS others,
      (SELECT jsonb_agg(jsonb_build_object('url', p.url, 'said', p.organisation))
        FROM (SELECT url, organisation FROM pages WHERE domain_id = d.id
          AND organisation IS NOT NULL AND gone_at IS NULL
          ORDER BY contact_likelihood DESC NULLS LAST, id LIMIT {MOST_PAGES}) AS p) AS pages,
      (SELECT jsonb_agg(to_jsonb(n)) FROM (
        SELECT DISTINCT ON (e.key) e.key AS number, e.value->>'kind' AS kind,
          e.value->>'whose' AS whose, s.url, s.snippet, s.confidence
        FROM contacts x CROSS JOIN LATERAL jsonb_each(x.phones) AS e
        LEFT JOIN LATERAL (SELECT url, snippet, confidence FROM contact_evidence v
          WHERE v.contact_id = x.id AND v.value = e.key
          ORDER BY confidence DESC, id LIMIT 1) AS s ON true
        WHERE x.domain_id = d.id AND x.gone_at IS NULL ORDER BY e.key, s.confidence DESC NULLS LAST
        LIMIT {MOST_NUMBERS}) AS n) AS numbers,
      ARRAY(SELECT v->>'value' FROM pages p CROSS JOIN LATERAL
          jsonb_array_elements(p.other_values) AS v
        WHERE p.domain_id = d.id AND p.organisation IS NOT NULL AND p.gone_at IS NULL
          AND v->>'kind' IN ('phone', 'fax') LIMIT {MOST_NUMBERS}) AS other_numbers
    FROM unnest(CAST(:ids AS uuid[])) AS w(id) JOIN companies c ON c.id = w.id
    JOIN domains d ON d.id = c.domain_id AND d.verdict IS NOT NULL
    CROSS JOIN LATERAL (
      SELECT f.source, coalesce(b.name, p.name) AS name, f.phone, p.address, b.street,
        b.city, b.postal_code, b.hours, coalesce(b.website, p.website) AS website,
        coalesce(p.business_status, b.attributes->>'business_status') AS business_status
      FROM company_members f LEFT JOIN places_staging p ON p.id = f.place_id
      LEFT JOIN local_businesses b ON b.id = f.business_id
      WHERE f.company_id = c.id AND num_nonnulls(f.place_id, f.business_id) > 0
      ORDER BY (b.id IS NULL), (p.id IS NULL), p.seen_at DESC NULLS LAST, f.id
      LIMIT 1) AS m"""  # noqa: S608 - our own numbers
)
STORE: Final = text(
    """INSERT INTO company_verdicts AS v (company_id, field, tenant_id, verdict, confidence,
      source, claimed, said, why, url, snippet, seen_at)
    SELECT company_id, field, tenant_id, verdict, confidence, source, claimed, said, why,
      url, snippet, seen_at
    FROM jsonb_populate_recordset(NULL::company_verdicts, CAST(:rows AS jsonb))
    ON CONFLICT (company_id, field) DO UPDATE SET verdict = excluded.verdict,
      confidence = excluded.confidence, source = excluded.source,
      claimed = excluded.claimed, said = excluded.said, why = excluded.why,
      url = excluded.url, snippet = excluded.snippet, seen_at = excluded.seen_at,
      judged_at = clock_timestamp()
    WHERE (v.verdict, v.confidence, v.source, v.claimed, v.said, v.why, v.url, v.snippet)
      IS DISTINCT FROM (excluded.verdict, excluded.confidence, excluded.source,
        excluded.claimed, excluded.said, excluded.why, excluded.url, excluded.snippet)"""
)
FORGET: Final = text(
    """DELETE FROM company_verdicts v WHERE v.company_id = ANY(:ids) AND NOT EXISTS (
      SELECT FROM unnest(CAST(:companies AS uuid[]), CAST(:fields AS text[]))
        AS k(company_id, field)
      WHERE k.company_id = v.company_id AND k.field = v.field::text)"""
)
Row = Any


async def judge_companies(connection: AsyncConnection, ids: Collection[UUID]) -> None:
    """Write what the websites of some companies say of what the map says of them."""
    if not ids:
        return
    rows = (await connection.execute(CLAIMS, {"ids": [*ids]})).all()
    made = [verdict_row(row, each) for row in rows for each in judge_company(row)]
    if made:
        await connection.execute(STORE, {"rows": json_text(made)})
    kept = {
        "ids": [*ids],
        "companies": [each["company_id"] for each in made],
        "fields": [each["field"] for each in made],
    }
    await connection.execute(FORGET, kept)


def judge_company(row: Row) -> tuple[FieldVerdict, ...]:
    """Judge one company."""
    return judge_claim(claim_of(row), website_of(row))


def verdict_row(row: Row, each: FieldVerdict) -> dict[str, Any]:
    """Write a verdict as its row."""
    return {
        "company_id": row.company_id,
        "tenant_id": row.tenant_id,
        "source": row.source,
        "seen_at": row.site_seen_at,
        "field": each.field,
        "verdict": each.verdict,
        "confidence": each.confidence,
        "claimed": each.claimed[:LONGEST_TEXT],
        "said": each.said and each.said[:LONGEST_TEXT],
        "why": each.why,
        "url": each.url,
        "snippet": each.snippet and each.snippet[:LONGEST_TEXT],
    }


def claim_of(row: Row) -> MapClaim:
    """Read what the map says."""
    is_site_judged = own_domain(row.website) == row.domain
    return MapClaim(
        source=row.source,
        name=row.name,
        phone=row.phone,
        street=row.street,
        address=row.address,
        postal_code=row.postal_code,
        city=row.city,
        hours=week_of_map(row.hours),
        website=row.website if is_site_judged else None,
        business_status=row.business_status,
    )


def website_of(row: Row) -> WebsiteFacts:
    """Read what the website says."""
    signs = row.verdict_evidence or {}
    organisation = row.organisation or {}
    offices = [*map(office_of, organisation.get("addresses", ()))]
    pages = row.pages or ()
    return WebsiteFacts(
        kind=row.kind,
        kind_confidence=float(signs.get("confidence", 1.0)),
        kind_snippet="; ".join(map(str, signs.get("evidence", ()))) or None,
        domain=row.domain,
        home_url=row.home_url,
        title=row.title,
        names=[*names_of(organisation.get("name"), pages, row.home_url)],
        numbers=[*numbers_of(row)],
        offices=offices,
        weeks=[*weeks_of(pages)],
        closed=notice_of(pages),
        is_of_several=len(offices) > 1 or shares_its_name(row),
    )


def shares_its_name(row: Row) -> bool:
    """Say whether other places of the same name have the same website: branches."""
    mine = Facts(row.company_id, name=row.name)
    others = (Facts(row.company_id, name=name) for name in row.others)
    apart = {NameLevel.DIFFERENT, NameLevel.PARTIAL}
    return any(level_of_names(mine, other) not in apart for other in others)


def names_of(
    name: str | None, pages: Iterable[Mapping[str, Any]], home: str | None
) -> Iterator[WebsiteValue]:
    """Yield what the website calls itself, the name that most pages have first."""
    if name:
        yield WebsiteValue(name, home, None, LESS_SURE_OF_NAME)
    for page in pages:
        if own := page["said"].get("name"):
            sure = float(page["said"].get("confidence") or LESS_SURE_OF_NAME)
            yield WebsiteValue(own, page["url"], None, sure)


def numbers_of(row: Row) -> Iterator[WebsiteNumber]:
    """Yield every number of the website, whosever it is."""
    for one in row.numbers or ():
        is_own = one["kind"] != "fax" and one["whose"] == "own"
        sure = float(one["confidence"] or 0.5)
        seen = WebsiteValue(one["number"], one["url"], one["snippet"], sure)
        yield WebsiteNumber(one["number"], is_own, seen)
    for number in row.other_numbers:
        yield WebsiteNumber(number, is_own=False, seen=WebsiteValue(number))


def office_of(facts: Mapping[str, Any]) -> WebsiteOffice:
    """Read an address of the website."""
    seen = WebsiteValue(
        facts["text"],
        facts.get("url"),
        facts.get("snippet"),
        float(facts.get("confidence") or 0.5),
    )
    return WebsiteOffice(
        facts.get("street"), facts.get("postal_code"), facts.get("city"), seen
    )


def weeks_of(pages: Iterable[Mapping[str, Any]]) -> Iterator[WebsiteHours]:
    """Yield the opening hours of each page that could be read by day."""
    for page in pages:
        hours = page["said"].get("hours") or {}
        if days := hours.get("days"):
            seen = WebsiteValue(
                hours["text"], page["url"], hours["text"], FULL_WEEK_SURE
            )
            yield WebsiteHours(week_of_page(days), seen)


def week_of_page(days: Iterable[tuple[int, str | None, str | None]]) -> Week:
    """Read a week as pages give it: a row for each opening of a day."""
    ordered = sorted(days, key=lambda one: one[0])
    return {
        day: frozenset((a, b) for _, a, b in group if a and b)
        for day, group in groupby(ordered, key=lambda one: one[0])
    }


def week_of_map(hours: Mapping[str, Any] | None) -> Week | None:
    """Read a week as maps give it: a list of openings for each day."""
    if not hours:
        return None
    return {
        number: frozenset((span[0], span[1]) for span in hours[day])
        for number, day in enumerate(DAYS)
        if day in hours
    }


def notice_of(pages: Iterable[Mapping[str, Any]]) -> WebsiteValue | None:
    """Return where the business says that it has closed for good, if it does."""
    for page in pages:
        if notice := page["said"].get("closed"):
            return WebsiteValue("closed permanently", page["url"], notice, NOTICE_SURE)
    return None
