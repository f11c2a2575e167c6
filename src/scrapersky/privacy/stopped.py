"""Companies that must not be contacted, and which values of rows are theirs.

Whether a company is on the list is kept where people see it, in its lead status, and nowhere
a second time: what is asked here is the one answer for every way out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.records.status import LeadStatus

Row = dict[str, Any]
LONGEST_VALUE: Final = 320
"""Characters of the longest address."""
REACHING: Final = (
    "email", "email_reason", "email_kind", "email_person", "email_person_role",
    "decision_maker", "decision_maker_role", "decision_maker_email", "decision_maker_reason",
)  # fmt: skip
"""What of a company leads to people of its website."""

IS_STOPPED: Final = (
    f"k.tenant_id = :tenant AND k.lead_status = '{LeadStatus.DO_NOT_CONTACT}'"
)
# Every way begins at a value that was asked about: there may be many such companies.
STOPPED: Final = text(
    f"""WITH asked AS (
      SELECT k.id FROM companies k WHERE k.id = ANY(:ids) AND {IS_STOPPED}
      UNION SELECT k.id FROM domains d JOIN companies k ON k.domain_id = d.id
        WHERE d.tenant_id = :tenant AND d.domain = ANY(:hosts) AND {IS_STOPPED}
      UNION SELECT k.id FROM companies k
        WHERE k.phone = ANY(:values) AND {IS_STOPPED}
      UNION SELECT k.id FROM contacts x JOIN companies k ON k.email_contact_id = x.id
        WHERE x.tenant_id = :tenant AND x.email = ANY(:values) AND {IS_STOPPED})
    SELECT c.id, c.phone, d.domain, x.email FROM asked a JOIN companies c USING (id)
    LEFT JOIN domains d ON d.id = c.domain_id
    LEFT JOIN contacts x ON x.id = c.email_contact_id"""  # noqa: S608 - our own labels
)
ANY: Final = text(
    f"SELECT EXISTS (SELECT FROM companies k WHERE {IS_STOPPED})"  # noqa: S608 - ours
)


LISTED: Final = text(
    f"""SELECT k.id, k.name, d.domain, k.phone, a.created_at AS since, a.by
    FROM companies k LEFT JOIN domains d ON d.id = k.domain_id
    LEFT JOIN LATERAL (SELECT a.created_at, coalesce(u.name, u.email) AS by
      FROM curation_changes h JOIN curation_actions a ON a.id = h.action_id
      LEFT JOIN users u ON u.id = a.created_by
      WHERE h.record_id = k.id AND a.undone_at IS NULL
        AND a.status = '{LeadStatus.DO_NOT_CONTACT}'
      ORDER BY a.created_at DESC LIMIT 1) a ON true
    WHERE {IS_STOPPED} AND (CAST(:words AS text) IS NULL
        OR position(lower(CAST(:words AS text)) IN lower(k.name)) > 0)
      AND (CAST(:after AS uuid) IS NULL OR (k.updated_at, k.id) < (SELECT n.updated_at, n.id
        FROM companies n WHERE n.id = CAST(:after AS uuid)))
    ORDER BY k.updated_at DESC, k.id DESC LIMIT :most"""  # noqa: S608 - our own labels
)


@dataclass(frozen=True, slots=True)
class StoppedCompanies:
    """What of some rows is of companies that must not be contacted."""

    ids: frozenset[UUID] = frozenset()
    hosts: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    """Their best addresses and their phone numbers."""

    def __bool__(self) -> bool:
        return bool(self.ids)

    def hides(self, written: object) -> bool:
        """Say whether a value is theirs."""
        if not isinstance(written, str):
            return False
        return written in self.values or written.rpartition("@")[2] in self.hosts

    def without_rows(self, rows: Sequence[Row]) -> list[Row]:
        """Leave out rows that are of such a company, or lead to one."""
        return [row for row in rows if not self._is_theirs(row)]

    def without_companies(self, rows: Sequence[Row]) -> list[Row]:
        """Leave out such companies, and what others share with them."""
        return [self._own_of(row) for row in rows if row["id"] not in self.ids]

    def _is_theirs(self, row: Row) -> bool:
        asked = (row.get("domain"), row.get("email"), row.get("phone"))
        return any(map(self.hides, asked))

    def _own_of(self, row: Row) -> Row:
        shares_site = row.get("domain") in self.hosts or self.hides(row.get("email"))
        hidden: set[str] = {name for name in REACHING if shares_site and name in row}
        if self.hides(row.get("phone")):
            hidden.add("phone")
        return {**row, **dict.fromkeys(hidden)} if hidden else row


async def stopped_companies(
    connection: AsyncConnection,
    tenant_id: UUID,
    *,
    words: str | None,
    after: UUID | None,
    most: int,
) -> list[Any]:
    """Return companies that must not be contacted, and one more if there are more."""
    values = {"tenant": tenant_id, "words": words, "after": after, "most": most + 1}
    return [*(await connection.execute(LISTED, values)).all()]


async def stopped_among(
    connection: AsyncConnection, tenant_id: UUID, rows: Sequence[Row]
) -> StoppedCompanies:
    """Ask which of these rows' values are of companies that must not be contacted now."""
    if not await connection.scalar(ANY, {"tenant": tenant_id}):
        return StoppedCompanies()
    values = {one for row in rows for one in values_of(row)}
    hosts = {row["domain"] for row in rows if row.get("domain")}
    hosts |= {one.rpartition("@")[2] for one in values if "@" in one}
    asked = {
        "tenant": tenant_id,
        "ids": [row["id"] for row in rows if "lead_status" in row],
        "hosts": [*hosts],
        "values": [*values],
    }
    found = (await connection.execute(STOPPED, asked)).all()
    return StoppedCompanies(
        frozenset(row.id for row in found),
        frozenset(row.domain for row in found if row.domain),
        frozenset(one for row in found for one in (row.phone, row.email) if one),
    )


def values_of(row: Row) -> Iterator[str]:
    """Yield the addresses and the number of a row."""
    for name in ("email", "phone", "business_phone", "decision_maker_email"):
        value = row.get(name)
        if isinstance(value, str) and len(value) <= LONGEST_VALUE:
            yield value
