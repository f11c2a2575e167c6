"""What a website says differently since its pages were read before.

What it said is what its contacts and people have evidence for. A value is gone when no page
has it any more; what a person wrote by hand is never touched.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.text import name_key
from scrapersky.records.contact import BY_HAND
from scrapersky.records.difference import DifferenceType
from scrapersky.revisits.difference import FoundDifference, store_differences

FIELDS: Final = ("email", "phone", "mobile", "fax", "address")
NAMING: Final = ("name", "role")
"""Fields that follow their page without being listed: their people are."""
PHONES: Final = ("phone", "mobile")
WORD: Final = re.compile(r"\w+")
MOST_VALUES: Final = 20_000

VALUES: Final = text(
    f"""SELECT e.id, c.domain_id, e.page_id, e.contact_id, e.field, e.value, e.url, e.seen_at,
      e.gone_at IS NOT NULL AS is_gone
    FROM contact_evidence e JOIN contacts c ON c.id = e.contact_id
    WHERE c.domain_id = ANY(:domains) AND e.method <> '{BY_HAND}'
      AND e.field = ANY(:fields) ORDER BY e.id LIMIT {MOST_VALUES}"""  # noqa: S608 - our own words
)
PEOPLE: Final = text(
    f"""SELECT id, domain_id, name_key, name, role, evidence, gone_at IS NOT NULL AS is_gone
    FROM people WHERE domain_id = ANY(:domains) ORDER BY id LIMIT {MOST_VALUES}"""  # noqa: S608
)
MARK_VALUES: Final = text(
    """UPDATE contact_evidence SET gone_at = CASE WHEN id = ANY(:gone) THEN clock_timestamp() END
    WHERE id = ANY(:gone) OR id = ANY(:back)"""
)
KEY: Final = """e.contact_id = c.id AND e.value = coalesce(c.email, c.phone)
  AND (e.field = 'email') = (c.email IS NOT NULL)"""
MARK_CONTACTS: Final = text(
    f"""UPDATE contacts c SET gone_at = CASE WHEN c.gone_at IS NULL THEN clock_timestamp() END
    WHERE c.id = ANY(:contacts)
      AND EXISTS (SELECT FROM contact_evidence e WHERE {KEY})
      AND (c.gone_at IS NULL) = NOT EXISTS (SELECT FROM contact_evidence e
        WHERE {KEY} AND (e.gone_at IS NULL OR e.method = '{BY_HAND}'))"""  # noqa: S608
)
# The number beside an address follows the page, unless a person wrote it.
RENUMBER: Final = text(
    f"""WITH lost AS (
      SELECT e.contact_id, array_agg(DISTINCT e.value) AS numbers FROM contact_evidence e
      WHERE e.contact_id = ANY(:contacts) AND e.field = ANY(:phones)
        AND e.gone_at IS NOT NULL AND NOT EXISTS (SELECT FROM contact_evidence o
          WHERE o.contact_id = e.contact_id AND o.value = e.value
            AND (o.gone_at IS NULL OR o.method = '{BY_HAND}'))
      GROUP BY e.contact_id)
    UPDATE contacts c SET phones = c.phones - lost.numbers,
      phone = CASE WHEN c.phone = ANY(lost.numbers) THEN (
        SELECT e.value FROM contact_evidence e WHERE e.contact_id = c.id
          AND e.field = ANY(:phones) AND e.gone_at IS NULL
        ORDER BY e.confidence DESC, e.id LIMIT 1) ELSE c.phone END
    FROM lost WHERE c.id = lost.contact_id AND c.email IS NOT NULL"""  # noqa: S608 - ours
)
# Who is behind an address, and as what, follows the page in the same way.
LOST: Final = f"""(EXISTS (SELECT FROM contact_evidence e WHERE e.contact_id = c.id
      AND e.field = '{{field}}' AND e.value = c.{{field}} AND e.gone_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM contact_evidence e WHERE e.contact_id = c.id
      AND e.field = '{{field}}' AND (e.method = '{BY_HAND}'
        OR e.value = c.{{field}} AND e.gone_at IS NULL)))"""  # noqa: S608 - our own words
INSTEAD: Final = """(SELECT e.value FROM contact_evidence e WHERE e.contact_id = c.id
    AND e.field = '{field}' AND e.gone_at IS NULL ORDER BY e.confidence DESC, e.id LIMIT 1)"""
RENAME_CONTACTS: Final = """UPDATE contacts c SET {changes}
  WHERE c.id = ANY(:contacts) AND c.gone_at IS NULL AND ({lost})"""
RENAME: Final = text(
    RENAME_CONTACTS.format(
        changes=", ".join(
            f"{field} = CASE WHEN {LOST.format(field=field)}"
            f" THEN {INSTEAD.format(field=field)} ELSE c.{field} END"
            for field in NAMING
        ),
        lost=" OR ".join(LOST.format(field=field) for field in NAMING),
    )
)
GIVE_ROLES: Final = text(
    f"""UPDATE contacts c SET role = g.role
    FROM json_to_recordset(CAST(:rows AS json)) AS g (name text, old text, role text)
    WHERE c.domain_id = :domain AND c.name = g.name AND c.role = g.old
      AND NOT EXISTS (SELECT FROM contact_evidence e WHERE e.contact_id = c.id
        AND e.field = 'role' AND (e.method = '{BY_HAND}'
          OR e.value = g.old AND e.gone_at IS NULL))"""  # noqa: S608 - our own words
)
READDRESS: Final = text(
    """UPDATE contacts c SET address = g.address
    FROM json_to_recordset(CAST(:rows AS json)) AS g (id uuid, old text[], address jsonb)
    WHERE c.id = g.id AND c.address->>'text' = ANY(g.old)"""
)
UNNAME: Final = text(
    """UPDATE people SET evidence = g.evidence,
      gone_at = CASE WHEN g.evidence = '[]' THEN clock_timestamp() END
    FROM json_to_recordset(CAST(:rows AS json)) AS g (id uuid, evidence jsonb)
    WHERE people.id = g.id"""
)


@dataclass(frozen=True, slots=True)
class PageValue:
    """A value beside the contact that has it."""

    contact_id: UUID
    field: str
    value: str


@dataclass(frozen=True, slots=True)
class PageReadAgain:
    """What a page says now that has been read before; nothing where it is gone."""

    tenant_id: UUID
    domain_id: UUID
    page_id: UUID
    url: str
    addresses: Mapping[UUID, Mapping[str, Any] | None]
    """By contact, the address that stands with it."""
    values: frozenset[PageValue]
    urls: frozenset[str]
    """Its address, and where that led."""
    names: Mapping[str, str | None]
    """By the keys of their names, the people on it and as what."""


@dataclass(frozen=True, slots=True)
class KnownValue:
    """A value as it was known before the visit."""

    id: UUID
    page_id: UUID | None
    seen: PageValue
    url: str
    seen_at: datetime
    is_gone: bool


@dataclass(frozen=True, slots=True)
class KnownPerson:
    """Somebody as they were known before the visit."""

    id: UUID
    key: str
    name: str
    role: str | None
    evidence: Sequence[Mapping[str, Any]]
    is_gone: bool


@dataclass(frozen=True, slots=True)
class KnownSites:
    """What websites had said before they were visited again."""

    values: Mapping[UUID, Sequence[KnownValue]]
    people: Mapping[UUID, Sequence[KnownPerson]]


async def known_sites(
    connection: AsyncConnection, domains: Collection[UUID]
) -> KnownSites:
    """Read what is known of some websites."""
    asked = {"domains": sorted(domains)}
    values: dict[UUID, list[KnownValue]] = defaultdict(list)
    for row in await connection.execute(
        VALUES, {**asked, "fields": [*FIELDS, *NAMING]}
    ):
        seen = PageValue(row.contact_id, row.field, row.value)
        values[row.domain_id].append(
            KnownValue(row.id, row.page_id, seen, row.url, row.seen_at, row.is_gone)
        )
    people: dict[UUID, list[KnownPerson]] = defaultdict(list)
    for row in await connection.execute(PEOPLE, asked):
        person = KnownPerson(
            row.id, row.name_key, row.name, row.role, row.evidence, row.is_gone
        )
        people[row.domain_id].append(person)
    return KnownSites(values, people)


async def note_site_differences(
    connection: AsyncConnection, known: KnownSites, pages: Sequence[PageReadAgain]
) -> set[UUID]:
    """Keep what pages that were read again say differently, and mark what they have lost.

    Returns the sites on which something differs.
    """
    by_domain: dict[UUID, list[PageReadAgain]] = defaultdict(list)
    for page in pages:
        by_domain[page.domain_id].append(page)
    found: list[FoundDifference] = []
    for domain_id, some in by_domain.items():
        found += await compare_values(connection, known.values.get(domain_id, ()), some)
        found += await compare_people(connection, known.people.get(domain_id, ()), some)
    await store_differences(connection, found)
    return {one.domain_id for one in found if one.domain_id is not None}


async def compare_values(
    connection: AsyncConnection,
    known: Sequence[KnownValue],
    pages: Sequence[PageReadAgain],
) -> list[FoundDifference]:
    """Mark which values the pages of one website have lost and found; return what differs."""
    by_page = {page.page_id: page for page in pages}
    here = [one for one in known if one.page_id in by_page]
    gone = [
        one for one in here if not one.is_gone and not says(by_page[page_of(one)], one)
    ]
    back = [one for one in here if one.is_gone and says(by_page[page_of(one)], one)]
    if gone or back:
        marks = {"gone": [one.id for one in gone], "back": [one.id for one in back]}
        await connection.execute(MARK_VALUES, marks)
        await correct_contacts(connection, [*gone, *back], pages)
    lost = {one.id for one in gone}
    known = [one for one in known if one.seen.field in FIELDS]
    before = {value_key(one.seen): one for one in known if not one.is_gone}
    stays = {
        value_key(one.seen) for one in known if not one.is_gone and one.id not in lost
    }
    now = {
        value_key(seen): (seen, page)
        for page in pages
        for seen in sorted(page.values, key=lambda one: (one.field, one.value))
        if seen.field in FIELDS
    }
    appeared = {key: now[key] for key in now if key not in before}
    vanished = {
        key: one for key, one in before.items() if key not in stays and key not in now
    }
    return [*differing(vanished, appeared, pages)]


def says(page: PageReadAgain, one: KnownValue) -> bool:
    """Say whether a page still has a value; somebody's name may stand apart from the address."""
    is_named = one.seen.field == "name" and name_key(one.seen.value) in page.names
    return is_named or one.seen in page.values


def page_of(one: KnownValue) -> UUID:
    """Return the page of a value that has one."""
    assert one.page_id is not None  # noqa: S101 - asked for by its page
    return one.page_id


def value_key(seen: PageValue) -> tuple[str, str]:
    """Return by what a value is known: a mobile is a phone, commas make no other address."""
    if seen.field == "address":
        return seen.field, " ".join(WORD.findall(seen.value.casefold()))
    return "phone" if seen.field in PHONES else seen.field, seen.value


async def correct_contacts(
    connection: AsyncConnection,
    touched: Sequence[KnownValue],
    pages: Sequence[PageReadAgain],
) -> None:
    """Let contacts say what their pages say now; what people wrote stays."""
    contacts = sorted({one.seen.contact_id for one in touched})
    await connection.execute(MARK_CONTACTS, {"contacts": contacts})
    numbers = {"contacts": contacts, "phones": [*PHONES]}
    await connection.execute(RENUMBER, numbers)
    await connection.execute(RENAME, {"contacts": contacts})
    addresses = {
        contact: address
        for page in pages
        for contact, address in page.addresses.items()
        if address is not None
    }
    old: dict[UUID, list[str]] = defaultdict(list)
    for one in touched:
        if one.seen.field == "address":
            old[one.seen.contact_id].append(one.seen.value)
    rows = [
        {"id": contact, "old": texts, "address": addresses[contact]}
        for contact, texts in old.items()
        if contact in addresses
    ]
    if rows:
        await connection.execute(
            READDRESS, {"rows": orjson.dumps(rows, default=str).decode()}
        )


def differing(
    vanished: Mapping[tuple[str, str], KnownValue],
    appeared: Mapping[tuple[str, str], tuple[PageValue, PageReadAgain]],
    pages: Sequence[PageReadAgain],
) -> list[FoundDifference]:
    """Say what differs: one value for one other has changed, others are gone or new."""
    tenant_id, domain_id = pages[0].tenant_id, pages[0].domain_id
    urls = {page.page_id: page.url for page in pages}
    found = []
    fields = dict.fromkeys(field for field, _ in [*vanished, *appeared])
    for field in fields:
        old = [one for key, one in vanished.items() if key[0] == field]
        new = [one for key, one in appeared.items() if key[0] == field]
        pairs: list[
            tuple[KnownValue | None, tuple[PageValue, PageReadAgain] | None]
        ] = []
        if len(old) == len(new) == 1:
            pairs = [(old[0], new[0])]
        else:
            pairs = [*((one, None) for one in old), *((None, one) for one in new)]
        for was, become in pairs:
            what = DifferenceType.CHANGED
            if become is None:
                what = DifferenceType.GONE
            elif was is None:
                what = DifferenceType.NEW
            elif field == "address":
                what = DifferenceType.MOVED
            source = (
                become[1].url if become else urls.get(page_of(was)) if was else None
            )
            found.append(
                FoundDifference(
                    tenant_id=tenant_id,
                    domain_id=domain_id,
                    what=what,
                    field=field,
                    contact_id=become[0].contact_id if become else None,
                    old_contact_id=was.seen.contact_id if was else None,
                    old_value=was.seen.value if was else None,
                    new_value=become[0].value if become else None,
                    old_source=was.url if was else None,
                    new_source=source,
                    old_seen_at=was.seen_at if was else None,
                )
            )
    return found


async def compare_people(
    connection: AsyncConnection,
    known: Sequence[KnownPerson],
    pages: Sequence[PageReadAgain],
) -> list[FoundDifference]:
    """Mark whom the pages of one website name no more; return who left and who came."""
    tenant_id, domain_id = pages[0].tenant_id, pages[0].domain_id
    changed, found = [], []
    for one in known:
        silent = {
            url for page in pages if one.key not in page.names for url in page.urls
        }
        left = [seen for seen in one.evidence if seen.get("url") not in silent]
        if one.is_gone or len(left) == len(one.evidence):
            continue
        changed.append({"id": one.id, "evidence": left})
        if left or any(one.key in page.names for page in pages):
            continue
        first = one.evidence[0]
        found.append(
            FoundDifference(
                tenant_id=tenant_id,
                domain_id=domain_id,
                what=DifferenceType.GONE,
                field="person",
                person_id=one.id,
                old_value=one.name,
                old_source=first.get("url"),
                new_source=first.get("url"),
                old_seen_at=moment(first.get("seen_at")),
            )
        )
    if changed:
        await connection.execute(
            UNNAME, {"rows": orjson.dumps(changed, default=str).decode()}
        )
    found += await compare_roles(connection, known, pages)
    there = {one.key for one in known if not one.is_gone}
    came = {name: page for page in pages for name in page.names if name not in there}
    if came:
        asked = {"domains": [domain_id]}
        rows = (await connection.execute(PEOPLE, asked)).all()
        found += [
            FoundDifference(
                tenant_id=tenant_id,
                domain_id=domain_id,
                what=DifferenceType.NEW,
                field="person",
                person_id=row.id,
                new_value=row.name,
                new_source=came[row.name_key].url,
            )
            for row in rows
            if row.name_key in came
        ]
    return found


async def compare_roles(
    connection: AsyncConnection,
    known: Sequence[KnownPerson],
    pages: Sequence[PageReadAgain],
) -> list[FoundDifference]:
    """Return who is something else by now; where a role is merely left out it stays."""
    tenant_id, domain_id = pages[0].tenant_id, pages[0].domain_id
    said = {
        one.id: (one, page)
        for page in pages
        for one in known
        if one.role and not one.is_gone and is_other(one.role, page.names.get(one.key))
    }
    if not said:
        return []
    rows = (await connection.execute(PEOPLE, {"domains": [domain_id]})).all()
    # Another page may know more of them: what counts is what is stored of them now.
    changed = [
        (*said[row.id], row.role)
        for row in rows
        if row.id in said and is_other(said[row.id][0].role, row.role)
    ]
    roles = [
        {"name": one.name, "old": one.role, "role": now} for one, _, now in changed
    ]
    given = {"domain": domain_id, "rows": orjson.dumps(roles).decode()}
    await connection.execute(GIVE_ROLES, given)
    return [
        FoundDifference(
            tenant_id=tenant_id,
            domain_id=domain_id,
            what=DifferenceType.CHANGED,
            field="role",
            person_id=one.id,
            old_value=f"{one.name}: {one.role}",
            new_value=f"{one.name}: {now}",
            old_source=one.evidence[0].get("url") if one.evidence else None,
            new_source=page.url,
            old_seen_at=moment(one.evidence[0].get("seen_at"))
            if one.evidence
            else None,
        )
        for one, page, now in changed
    ]


def is_other(old: str | None, new: str | None) -> bool:
    """Say whether a role is another one, however it is spelt."""
    return None not in {old, new} and name_key(old) != name_key(new)


def moment(written: object) -> datetime | None:
    """Read a time out of evidence."""
    return datetime.fromisoformat(written) if isinstance(written, str) else None
