"""What the pipeline has stored about every site, as its tables have it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

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


@dataclass(frozen=True, slots=True)
class FoundContact:
    """One contact as it is stored."""

    email: str | None
    name: str | None
    phones: frozenset[str]
    address: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class FoundPage:
    """One page as it is stored."""

    url: str
    likelihood: float | None
    status: str | None
    is_read: bool


@dataclass(slots=True)
class Outcome:
    """What became of one site."""

    domain: str
    state: str = "not worked on"
    organisation: str | None = None
    contacts: list[FoundContact] = field(default_factory=list)
    people: list[str] = field(default_factory=list)
    """The names of its people; the first is the decision maker that is shown."""
    sureness: dict[tuple[str, str], float] = field(default_factory=dict)
    """How sure of a value it is said to be, by kind and value."""
    pages: list[FoundPage] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """Every request its server saw: the status it answered, and the path."""

    @property
    def requests(self) -> int:
        """Return how often its server was asked for anything."""
        return len(self.asked)


async def read_outcomes(connection: AsyncConnection) -> dict[str, Outcome]:
    """Read what is stored, by domain."""
    found: dict[str, Outcome] = {}
    for row in await connection.execute(text(DOMAINS)):
        reason = row.error or row.verdict or "no verdict"
        found[row.domain] = Outcome(
            row.domain,
            state=f"{row.status}: {reason}",
            organisation=(row.organisation or {}).get("name"),
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
