"""Give the addresses of a site to the people whom other pages of it name.

A page names the team, another one lists the addresses. What spells somebody's name, and
nobody else's of the site, is theirs wherever it stands.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Final
from uuid import UUID

from contact_extraction.contacts.confidence import LEAST_SURE
from contact_extraction.email_type import EmailType
from contact_extraction.mailbox import spells_alone
from curation_sdk import Transaction
from scrapersky.pipeline.only_person import name_inboxes
from scrapersky.pipeline.settlement import SettleStep
from scrapersky.records.contact import BY_HAND

# Who holds a row is about to settle, and will look here after this transaction.
# What no visitor sees may have been planted, unless it is a mailbox of the site.
FIND_UNNAMED: Final = f"""
SELECT c.id, c.domain_id, split_part(c.email, '@', 1) AS local, c.email
FROM contacts c JOIN domains d ON d.id = c.domain_id
WHERE c.domain_id = ANY($1) AND c.name IS NULL AND c.email IS NOT NULL
  AND NOT EXISTS (SELECT FROM contact_evidence h WHERE h.contact_id = c.id
    AND h.field = 'name' AND h.method = '{BY_HAND}')
  AND c.email_type <> '{EmailType.SERVICE.value}'
  AND (coalesce(c.confidence, 1) >= {LEAST_SURE}
    OR split_part(c.email, '@', 2) = d.domain)
ORDER BY c.id FOR UPDATE OF c SKIP LOCKED
"""  # noqa: S608 - our names
FIND_PEOPLE: Final = """
SELECT id, domain_id, name FROM people WHERE domain_id = ANY($1) AND gone_at IS NULL
"""
LOCK_PEOPLE: Final = """
SELECT id FROM people WHERE id = ANY($1) ORDER BY id FOR UPDATE SKIP LOCKED
"""
NAME_CONTACTS: Final = """
UPDATE contacts c SET name = p.name, role = coalesce(c.role, p.role)
FROM unnest($1::uuid[], $2::uuid[]) AS g (contact_id, person_id)
JOIN people p ON p.id = g.person_id WHERE c.id = g.contact_id
"""
INSERT_EVIDENCE: Final = """
INSERT INTO contact_evidence (tenant_id, page_id, robots, seen_at, contact_id, field,
  value, url, snippet, method, confidence, snapshot_id, span_start, span_end)
SELECT c.tenant_id, p.page_id, e->>'robots', (e->>'seen_at')::timestamptz, c.id, 'name',
  p.name, e->>'url', e->>'snippet', e->>'method', p.confidence, (e->>'snapshot')::uuid,
  (e->'span'->>0)::int, (e->'span'->>1)::int
FROM unnest($1::uuid[], $2::uuid[]) AS g (contact_id, person_id)
JOIN contacts c ON c.id = g.contact_id JOIN people p ON p.id = g.person_id,
  jsonb_array_elements(p.evidence) AS e
ON CONFLICT DO NOTHING
"""
SET_PERSON_EMAIL: Final = """
UPDATE people p SET email = c.email
FROM unnest($1::uuid[], $2::uuid[]) AS g (contact_id, person_id)
JOIN contacts c ON c.id = g.contact_id WHERE p.id = g.person_id AND p.email IS NULL
"""


@SettleStep
async def name_contacts(transaction: Transaction, domains: list[UUID]) -> None:
    """Name the addresses of sites, when all that settles now is stored."""
    some = sorted(set(domains))
    await name_by_spelling(transaction, some)
    await name_inboxes(transaction, some)


async def name_by_spelling(transaction: Transaction, some: list[UUID]) -> None:
    """Give people the addresses that spell their names."""
    unnamed = await transaction.fetch(FIND_UNNAMED, some)
    if not unnamed:
        return
    links = list(links_of(unnamed, await transaction.fetch(FIND_PEOPLE, some)))
    if not links:
        return
    rows = await transaction.fetch(LOCK_PEOPLE, [person for _, person in links])
    free = {row["id"] for row in rows}
    links = [link for link in links if link[1] in free]
    if links:
        pairs = [list(column) for column in zip(*links, strict=True)]
        await transaction.fetch(NAME_CONTACTS, *pairs)
        await transaction.fetch(INSERT_EVIDENCE, *pairs)
        await transaction.fetch(SET_PERSON_EMAIL, *pairs)


def links_of(
    contacts: Iterable[Any], people: Iterable[Any]
) -> Iterator[tuple[UUID, UUID]]:
    """Yield which contact is whose: an address that spells one person of its site."""
    teams: dict[UUID, list[Any]] = defaultdict(list)
    for person in people:
        teams[person["domain_id"]].append(person)
    for contact in contacts:
        spelt = [
            person["id"]
            for person in teams[contact["domain_id"]]
            if spells_alone(contact["local"], person["name"])
        ]
        if len(spelt) == 1:
            yield contact["id"], spelt[0]
