"""What the pipeline has stored about every site, as its tables have it."""

from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.measuring.outcome import FoundContact, FoundPage, Outcome

CONTACTS: Final = """
SELECT d.domain, c.email, c.name, c.phone, c.phones, c.address
FROM contacts c JOIN domains d ON d.id = c.domain_id ORDER BY c.created_at, c.id
"""
PEOPLE: Final = """
SELECT d.domain, p.name FROM people p JOIN domains d ON d.id = p.domain_id
ORDER BY d.id, p.standing DESC, p.id
"""
# What is stored is as sure as the page that was surest of it.
SURENESS: Final = """
SELECT d.domain, CASE WHEN e.value LIKE '+%' THEN 'phone' ELSE e.field END AS kind,
  e.value, max(e.confidence) AS confidence
FROM contact_evidence e JOIN contacts c ON c.id = e.contact_id
JOIN domains d ON d.id = c.domain_id
WHERE e.field IN ('email', 'address') OR e.value LIKE '+%' GROUP BY 1, 2, 3
UNION ALL
SELECT d.domain, 'owner', coalesce(c.email, c.phone), max(e.confidence)
FROM contact_evidence e JOIN contacts c ON c.id = e.contact_id
JOIN domains d ON d.id = c.domain_id
WHERE e.field = 'name' AND e.value = c.name GROUP BY 1, 2, 3
UNION ALL
SELECT d.domain, 'address', o->>'text', (o->>'confidence')::float8
FROM domains d CROSS JOIN LATERAL jsonb_array_elements(d.organisation->'addresses') AS e (o)
UNION ALL
SELECT d.domain, 'person', p.name, p.confidence
FROM people p JOIN domains d ON d.id = p.domain_id
UNION ALL
SELECT d.domain, 'organisation', o->>'name', max((o->>'confidence')::float8)
FROM domains d CROSS JOIN LATERAL (
  SELECT organisation FROM pages WHERE domain_id = d.id
  UNION ALL SELECT d.organisation->'home') AS said (o)
WHERE lower(o->>'name') = lower(d.organisation->>'name') GROUP BY 1, 2, 3
"""
DOMAINS: Final = "SELECT domain, status, verdict, error, organisation FROM domains"
PAGES: Final = """
SELECT d.domain, p.url, p.contact_likelihood, p.page_processing_status, p.fetched_at
FROM pages p JOIN domains d ON d.id = p.domain_id ORDER BY p.contact_likelihood DESC NULLS LAST
"""


async def read_outcomes(connection: AsyncConnection) -> dict[str, Outcome]:
    """Read what is stored, by domain."""
    found: dict[str, Outcome] = {}
    for row in await connection.execute(text(DOMAINS)):
        reason = row.error or row.verdict or "no verdict"
        found[row.domain] = Outcome(
            row.domain,
            state=f"{row.status}: {reason}",
            organisation=(row.organisation or {}).get("name"),
            addresses=(row.organisation or {}).get("addresses", []),
        )
    for row in await connection.execute(text(CONTACTS)):
        numbers = {*(row.phones or {}), *([row.phone] if row.phone else [])}
        contact = FoundContact(row.email, row.name, frozenset(numbers), row.address)
        found[row.domain].contacts.append(contact)
    for row in await connection.execute(text(PEOPLE)):
        found[row.domain].people.append(row.name)
    for row in await connection.execute(text(SURENESS)):
        key = (row.kind, row.value.casefold())
        known = found[row.domain].sureness
        known[key] = max(row.confidence, known.get(key, 0.0))
    for row in await connection.execute(text(PAGES)):
        page = FoundPage(
            row.url,
            row.contact_likelihood,
            row.page_processing_status,
            row.fetched_at is not None,
        )
        found[row.domain].pages.append(page)
    return found
