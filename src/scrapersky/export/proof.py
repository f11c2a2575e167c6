"""What an exported row carries to be verified: its record, the readers, and its pages.

It is one column, such as `contacts 0193... 0.5.0+3fa94c01b2d7 @20261119T093000Z 9f86d0...`: the
kind and number of the record, who read it, when it was exported, and the hash of each page that a
value of it follows from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from contact_extraction.reader import reader_version
from scrapersky.kit.clock import utc_now

PROOF: Final = "proof"
MOMENT: Final = "%Y%m%dT%H%M%SZ"
MOST_PAGES: Final = 40
"""Pages that the proof of one record names at most."""

# Of each value one page is named: one that still says it, and that most values follow from.
SEEN: Final = """SELECT DISTINCT o.owner AS id, o.hash FROM (
    SELECT DISTINCT ON (owner, field, value) owner, hash FROM (
      SELECT {owner} AS owner, e.field, e.value, s.hash, e.gone_at IS NOT NULL AS is_gone,
        count(*) OVER (PARTITION BY {owner}, s.hash) AS values
      FROM {records} JOIN page_snapshots s ON s.id = e.snapshot_id
      WHERE {mine}) AS seen
    ORDER BY owner, field, value, is_gone, values DESC, hash) AS o"""
NAMED: Final = """SELECT {owner}, s.hash FROM {records},
  LATERAL jsonb_array_elements(p.evidence) AS n (j)
  JOIN page_snapshots s ON s.id = CAST(n.j->>'snapshot' AS uuid) WHERE {mine}"""
OF_CONTACTS: Final = " UNION ".join(
    (
        SEEN.format(
            owner="e.contact_id",
            records="contact_evidence e",
            mine="e.tenant_id = :tenant AND e.contact_id = ANY(:ids)",
        ),
        NAMED.format(
            owner="c.id",
            records="""contacts c CROSS JOIN LATERAL (SELECT evidence FROM people
      WHERE domain_id = c.domain_id AND gone_at IS NULL
      ORDER BY standing DESC, id LIMIT 1) AS p""",
            mine="c.tenant_id = :tenant AND c.id = ANY(:ids)",
        ),
    )
)
OF_COMPANIES: Final = " UNION ".join(
    (
        SEEN.format(
            owner="k.id",
            records="""companies k JOIN contacts c ON c.domain_id = k.domain_id
      JOIN contact_evidence e ON e.contact_id = c.id AND (e.value = k.phone
        OR c.id = k.email_contact_id AND e.field = 'email')""",
            mine="k.tenant_id = :tenant AND k.id = ANY(:ids)",
        ),
        NAMED.format(
            owner="k.id",
            records="companies k JOIN people p ON p.id = k.decision_maker_id",
            mine="k.tenant_id = :tenant AND k.id = ANY(:ids)",
        ),
    )
)
PAGES_OF: Final = {"contacts": text(OF_CONTACTS), "companies": text(OF_COMPANIES)}
"""The kinds whose values can be verified, and how the pages of their records are found."""


@dataclass(frozen=True, slots=True)
class RowProof:
    """What a row says that it follows from."""

    kind: str
    record_id: UUID
    reader: str
    hashes: tuple[bytes, ...]
    at: datetime | None = None
    """When it was exported: what a source says later makes no older file false."""

    def __str__(self) -> str:
        words = (
            self.kind,
            self.record_id,
            self.reader,
            *([f"@{self.at:{MOMENT}}"] if self.at else []),
            *(h.hex() for h in self.hashes),
        )
        return " ".join(map(str, words))

    @classmethod
    def read(cls, written: str) -> "RowProof | None":
        """Read what an export wrote; None if it is not that."""
        kind, _, rest = written.strip().partition(" ")
        words = rest.split()
        if kind not in PAGES_OF or len(words) < 2 or len(words) > MOST_PAGES + 3:  # noqa: PLR2004
            return None
        try:
            at = None
            if words[2:] and words[2].startswith("@"):
                at = datetime.strptime(words.pop(2)[1:], MOMENT).replace(tzinfo=UTC)
            hashes = tuple(map(bytes.fromhex, words[2:]))
            return cls(kind, UUID(words[0]), words[1], hashes, at)
        except ValueError:
            return None


async def with_proofs(
    connection: AsyncConnection, tenant_id: UUID, kind: str, rows: Sequence[Any]
) -> list[dict[str, Any]]:
    """Return rows of records with the proof of each."""
    ids = [row["id"] for row in rows]
    values = {"tenant": tenant_id, "ids": ids}
    hashes: dict[UUID, list[bytes]] = {each: [] for each in ids}
    for row in await connection.execute(PAGES_OF[kind], values):
        hashes[row.id].append(bytes(row.hash))
    reader, now = reader_version(), utc_now()
    return [
        {
            **row,
            PROOF: str(
                RowProof(
                    kind,
                    row["id"],
                    reader,
                    tuple(sorted(hashes[row["id"]])[:MOST_PAGES]),
                    now,
                )
            ),
        }
        for row in rows
    ]
