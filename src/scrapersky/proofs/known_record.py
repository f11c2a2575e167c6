"""What the database knows of exported records beside the pages: sources, imports, people."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.text import name_key
from scrapersky.curation.imported_line import IMPORTED
from scrapersky.proofs.outcome import Judgement, ProofVerdict
from scrapersky.records import Company
from scrapersky.records.company import JUDGED
from scrapersky.records.company_verdict import verdict_on
from scrapersky.records.contact import BY_HAND
from scrapersky.records.domain import office_addresses

NO_CLAIMS: Final = frozenset(
    {
        "id", "domain_id", "contact_id", "key", "origin", "seen_at", "recorded",
        "updated_at",
    }
)  # fmt: skip
"""What is read of a record beside what its source says."""
SAID: Final = """b.name AS business, b.name, b.categories, b.rating, b.reviews_count,
  b.phone AS business_phone, b.phone, b.street, b.city, b.region AS state, b.region,
  b.postal_code, b.country, b.latitude, b.longitude, b.website, b.attributes->>'origin' AS origin"""
RECORDED: Final = frozenset(
    {
        "confidence", "email_kind", "email_reason", "decision_maker_reason", "domain_id",
        "email_contact_id", "decision_maker_id", "records_count", "contacts_count",
    }
)  # fmt: skip
"""Columns that are made here, and say how good a record is, or which others it has."""
CONTACTS: Final = text(f"""
SELECT c.id, to_jsonb(c) AS recorded, c.updated_at,
  c.domain_id, c.id AS contact_id, coalesce(c.email, c.phone) AS key, d.domain,
  d.home_url, coalesce(p.seen_at, b.updated_at) AS seen_at, {SAID}
FROM contacts c JOIN domains d ON d.id = c.domain_id
LEFT JOIN local_businesses b ON b.domain_id = d.id
LEFT JOIN places_staging p ON p.id = b.place_id
WHERE c.tenant_id = :tenant AND c.id = ANY(:ids)
""")  # noqa: S608 - our names
COMPANIES: Final = text(f"""
SELECT k.id, to_jsonb(k) AS recorded, k.updated_at,
  k.domain_id, x.id AS contact_id, x.email AS key, d.domain, d.home_url,
  p.business_status, p.website AS place_website,
  greatest(coalesce(p.seen_at, b.updated_at), d.updated_at) AS seen_at, {SAID}
FROM companies k LEFT JOIN domains d ON d.id = k.domain_id
LEFT JOIN contacts x ON x.id = k.email_contact_id
LEFT JOIN company_members m ON m.company_id = k.id
LEFT JOIN local_businesses b ON b.id = m.business_id
LEFT JOIN places_staging p ON p.id = m.place_id
WHERE k.tenant_id = :tenant AND k.id = ANY(:ids)
""")  # noqa: S608 - our names
DERIVED: Final = {
    "companies": select(
        Company.id.label("record_id"),
        office_addresses(Company.domain_id).label("addresses"),
        *(verdict_on(field, Company.id).label(name) for name, field in JUDGED.items()),
    )
}
"""Columns that are found from several pages, or from pages and a source."""
RECORDS: Final = {"contacts": CONTACTS, "companies": COMPANIES}
EVIDENCE: Final = text("""
SELECT contact_id, field, value, method, snippet FROM contact_evidence
WHERE tenant_id = :tenant AND contact_id = ANY(:ids)
""")
PEOPLE: Final = text("""
SELECT domain_id, name_key, role, email, n.j->>'method' AS method, n.j->>'snippet' AS snippet
FROM people p CROSS JOIN LATERAL jsonb_array_elements(p.evidence) AS n (j)
WHERE p.tenant_id = :tenant AND p.domain_id = ANY(:domains)
""")
EDITS: Final = text("""
SELECT record_id, details->'after' AS after, actor FROM audit_log
WHERE tenant_id = :tenant AND action = 'edited' AND record_id = ANY(:ids)
""")


@dataclass(slots=True)
class KnownRecord:
    """One record, and what is known of it without its pages."""

    id: UUID
    domain_id: UUID | None
    contact_id: UUID | None
    key: str | None
    """What its contact is known by: the address, or the number."""
    said: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """What records of sources say, by column."""
    recorded: dict[str, set[str]] = field(default_factory=dict)
    """What was made of it here, by column."""
    updated_at: datetime | None = None
    origin: str | None = None
    """Who imported it, where that was no search."""
    seen_at: datetime | None = None
    """When its source, or what is made of it, was seen last."""
    derived: dict[str, set[str]] = field(default_factory=dict)
    """What was found from several pages, or from pages and a source, by column."""
    seen: set[tuple[str, str]] = field(default_factory=set)
    """Fields and values that its pages were once read to say."""
    written: dict[str, tuple[ProofVerdict, str]] = field(default_factory=dict)
    """Values that somebody wrote or imported, and who."""
    people: dict[str, tuple[str, bool]] = field(default_factory=dict)
    """Who is named: by whom or what, and whether that is a page."""

    def has_changed_since(self, at: datetime | None) -> bool:
        """Say whether its source was asked again after a time."""
        return None not in {at, self.seen_at} and self.seen_at > at  # type: ignore[operator]

    def judge_recorded(
        self, column: str, value: str, exported_at: datetime | None
    ) -> Judgement:
        """Judge what was made here: it is as it stands, or has changed since the export."""
        known = self.recorded.get(column)
        if known is None or value in known:
            return Judgement(ProofVerdict.OURS)
        now = f"it says {min(known, default='nothing')}"
        if None in {exported_at, self.updated_at} or self.updated_at > exported_at:  # type: ignore[operator]
            return Judgement(ProofVerdict.CHANGED_SINCE, now)
        return Judgement(ProofVerdict.NOT_THE_RECORD, now)

    def judge_said(self, column: str, value: str) -> Judgement | None:
        """Judge a value that a source may have said; None if it did not."""
        if value not in self.said.get(column, ()):
            return None
        if self.origin:
            return Judgement(ProofVerdict.IMPORT, self.origin)
        return Judgement(ProofVerdict.SOURCE)

    def judge_written(self, value: str) -> Judgement | None:
        """Judge a value that somebody may have written; None if nobody did."""
        found = self.written.get(value.casefold())
        return None if found is None else Judgement(*found)


async def known_records(
    connection: AsyncConnection, tenant_id: UUID, kind: str, ids: Sequence[UUID]
) -> dict[UUID, KnownRecord]:
    """Return what is known of records, by their numbers."""
    values = {"tenant": tenant_id, "ids": [*ids]}
    records: dict[UUID, KnownRecord] = {}
    for row in (await connection.execute(RECORDS[kind], values)).mappings():
        record = records.setdefault(
            row["id"],
            KnownRecord(row["id"], row["domain_id"], row["contact_id"], row["key"]),
        )
        record.origin = record.origin or row["origin"]
        record.updated_at = row["updated_at"]
        record.recorded = {
            name: spellings(value)
            for name, value in row["recorded"].items()
            if name in RECORDED
        }
        record.seen_at = max(
            filter(None, (record.seen_at, row["seen_at"])), default=None
        )
        keep_said(record, row)
    if kind in DERIVED:
        query = DERIVED[kind].where(Company.id.in_(records))
        for row in (await connection.execute(query)).mappings():
            record = records[row["record_id"]]
            record.derived = {
                name: spellings(value)
                for name, value in row.items()
                if name != "record_id"
            }
    by_contact = {one.contact_id: one for one in records.values() if one.contact_id}
    asked = {"tenant": tenant_id, "ids": [*by_contact]}
    for seen in (await connection.execute(EVIDENCE, asked)).all():
        keep_evidence(by_contact[seen.contact_id], seen)
    for edit in (await connection.execute(EDITS, values)).all():
        keep_edit(records[edit.record_id], edit)
    await read_people(connection, tenant_id, records.values())
    return records


async def read_people(
    connection: AsyncConnection, tenant_id: UUID, records: Iterable[KnownRecord]
) -> None:
    """Note who is named at the domains of records, and by whom."""
    at: dict[UUID, list[KnownRecord]] = defaultdict(list)
    for one in records:
        if one.domain_id is not None:
            at[one.domain_id].append(one)
    values = {"tenant": tenant_id, "domains": [*at]}
    for row in (await connection.execute(PEOPLE, values)).all():
        for record in at[row.domain_id]:
            is_page = row.method != BY_HAND
            record.people.setdefault(row.name_key, (row.snippet or "", is_page))
            if not is_page:
                for value in filter(None, (row.role, row.email)):
                    keep_written(record, value, row.snippet)


def keep_said(record: KnownRecord, row: Any) -> None:  # noqa: ANN401 - a row
    """Note what a record of a source says."""
    for name, value in row.items():
        if name not in NO_CLAIMS:
            record.said[name] |= spellings(value)
    record.said["website"] |= spellings(row["home_url"])
    if row.get("place_website"):
        record.said["website"] |= spellings(row["place_website"])


def keep_evidence(record: KnownRecord, row: Any) -> None:  # noqa: ANN401 - a row
    """Note where a value of a contact is known from."""
    if row.method == BY_HAND:
        keep_written(record, row.value, row.snippet)
    else:
        record.seen.add((row.field, row.value))


def keep_edit(record: KnownRecord, row: Any) -> None:  # noqa: ANN401 - a row
    """Note what somebody has changed."""
    for value in (row.after or {}).values():
        for written in spellings(value):
            keep_written(record, written, f"written by {row.actor}")


def keep_written(record: KnownRecord, value: str, by: str) -> None:
    """Note that somebody wrote or imported a value."""
    verdict = ProofVerdict.IMPORT if by.startswith(IMPORTED) else ProofVerdict.HAND
    record.written.setdefault(value.casefold(), (verdict, by))


def spellings(value: Any) -> set[str]:  # noqa: ANN401 - any value of a record
    """Write a value as files do."""
    match value:
        case None | "":
            return set()
        case list():
            return {"; ".join(map(str, value)), *map(str, value)} if value else set()
        case dict():
            return {one for each in value.values() for one in spellings(each)}
        case float() if value.is_integer():
            return {str(value), str(int(value))}
    return {str(value), one_spaced(str(value))}


def one_spaced(text: str) -> str:
    """Write a text as workbooks give it back: with one space between two words."""
    return " ".join(text.split())


def is_named(record: KnownRecord, name: str) -> bool:
    """Say whether the pages of a record's domain were once read to name somebody."""
    return record.people.get(name_key(name), ("", False))[1]
