"""Every value of a contact leads back to the page that was fetched for it."""

from dataclasses import astuple, dataclass
from datetime import datetime

import pytest

from tests.stages.rig import Line

pytestmark = pytest.mark.asyncio(loop_scope="session")

# Each value as the contact has it, with the evidence for it, the page that it is from
# and the attempt in which that page was fetched.
ORIGINS = """
SELECT c.id, v.field, v.value, e.url, e.seen_at, e.robots, e.method, e.snippet, p.fetched_at,
  p.http_status, p.fetch_facts->>'final_url', p.fetch_facts->>'robots', a.outcome
FROM contacts c CROSS JOIN LATERAL (
  SELECT 'email', c.email
  UNION ALL SELECT 'name', c.name
  UNION ALL SELECT 'role', c.role
  UNION ALL SELECT 'address', c.address->>'text'
  UNION ALL SELECT n.value->>'kind', n.key FROM jsonb_each(c.phones) AS n
  UNION ALL SELECT coalesce(c.phones->c.phone->>'kind', 'not among its numbers'), c.phone
  UNION ALL SELECT s.key, s.value FROM jsonb_each_text(c.social_links) AS s
) AS v (field, value)
LEFT JOIN contact_evidence e ON e.contact_id = c.id AND e.field = v.field
  AND e.value = v.value
LEFT JOIN pages p ON p.id = e.page_id AND p.domain_id = c.domain_id
LEFT JOIN curation.attempt a ON a.stage = 'page_curation' AND a.item = p.id::text
  AND a.settled_at >= e.seen_at
WHERE v.value IS NOT NULL
"""


def page_of(number: int) -> str:
    """Write a page that says everything a contact may have."""
    return f"""<html lang="en"><title>Team</title><ul>
    <li><h3>Ada Lovelace</h3><p>Managing Director</p>
      <p><a href="mailto:ada@o{number}.bv">ada@o{number}.bv</a></p>
      <p><a href="tel:+44207946{number:04}">020 7946 {number:04}</a></p></li>
    <li><h3>Grace Hopper</h3><p>Head of Sales</p>
      <p><a href="mailto:grace@o{number}.bv">grace@o{number}.bv</a></p>
      <p><a href="tel:+44207948{number:04}">020 7948 {number:04}</a></p></li></ul>
    <address>{number + 1} Quay Road, Leeds LS1 4AP, United Kingdom</address>
    <p>Fax: +44 20 7947 {number:04}</p>
    <a href="https://www.facebook.com/quay{number}">Facebook</a>
    <a href="https://github.com/quay{number}">GitHub</a></html>"""


@dataclass(frozen=True, slots=True)
class Origin:
    """All that is known of where a value came from; None is not known."""

    url: str | None
    seen_at: datetime | None
    robots: str | None
    method: str | None
    snippet: str | None
    fetched_at: datetime | None
    status: int | None
    final_url: str | None
    verdict: str | None
    outcome: str | None

    def is_whole(self) -> bool:
        """Say whether it is the whole way back to a page that we might fetch."""
        return (
            None not in astuple(self)
            and self.url == self.final_url
            and str(self.url).endswith(".bv/team")
            and self.robots == self.verdict
            and (self.status, self.outcome) == (200, "done")
            and bool(self.method and self.snippet)
        )


async def origins(line: Line, sites: int) -> dict[tuple[str, str, str], list[Origin]]:
    """Visit sites; return every value of every contact with its origins."""
    for number in range(sites):
        host = f"o{number}.bv"
        if number % 2:
            line.web.text(f"{host}/robots.txt", "User-agent: *\nDisallow: /private")
        line.web.page(f"{host}/team", page_of(number))
        await line.add_page(f"http://{host}/team")
    await line.work("page_curation")
    found: dict[tuple[str, str, str], list[Origin]] = {}
    for contact, field, value, *known in await line.rows(ORIGINS):
        found.setdefault((contact, field, value), []).append(Origin(*known))
    return found


async def test_every_value_of_a_contact_leads_to_the_page_that_was_fetched(
    line: Line,
) -> None:
    found = await origins(line, sites=3)

    fields = {field for _, field, _ in found}
    assert fields >= {
        "email", "name", "role", "address", "phone", "fax", "facebook", "github",
    }  # fmt: skip
    every = [origin for ways in found.values() for origin in ways]
    assert [origin for origin in every if not origin.is_whole()] == []
    assert {origin.robots for origin in every} == {
        "allowed",
        "no rules: the server answered 404",
    }


@pytest.mark.long
async def test_a_thousand_values_lead_to_the_pages_that_were_fetched(
    line: Line,
) -> None:
    found = await origins(line, sites=100)

    lost = [
        value for value, ways in found.items() if not all(o.is_whole() for o in ways)
    ]
    print(f"{len(found)} values, {len(lost)} of them without an origin")
    assert len(found) >= 1_000
    assert lost == []
