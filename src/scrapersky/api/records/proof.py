"""What one value of a contact follows from: page, place in it, and who read it."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text

from scrapersky.api.dependency import Reader, Transaction
from scrapersky.api.records.detail import record_of
from scrapersky.api.records.router import address_of
from scrapersky.api.schema import NOT_FOUND, REFUSALS
from scrapersky.records import KINDS
from scrapersky.records.snapshot import VoidReason

CONTACTS = KINDS["contacts"]
MOST_PROOFS = 200
PROOFS = text("""
SELECT e.field, e.value, e.url, e.method, e.snippet, e.span_start, e.span_end, e.seen_at,
  encode(s.hash, 'hex') AS hash, s.reader, s.void_reason,
  EXISTS (SELECT FROM page_contents c WHERE c.tenant_id = s.tenant_id AND c.hash = s.hash)
    AND s.voided_at IS NULL AS is_kept
FROM contact_evidence e LEFT JOIN page_snapshots s ON s.id = e.snapshot_id
WHERE e.contact_id = :contact AND (CAST(:field AS text) IS NULL OR e.field = :field)
  AND (CAST(:value AS text) IS NULL OR e.value = :value)
ORDER BY e.field, e.confidence DESC, e.id LIMIT :most
""")

router = APIRouter(tags=["records"])


class ProofOut(BaseModel):
    """What one value follows from."""

    model_config = ConfigDict(from_attributes=True)

    field: str
    value: str
    url: str
    method: str = Field(description="How it was read; `by hand` has no page behind it.")
    snippet: str
    span_start: int | None = Field(
        description="From which character of the page's text it stands; null where it is in no"
        " text, as in structured data."
    )
    span_end: int | None
    seen_at: datetime
    hash: str | None = Field(description="SHA-256 of the page's bytes.")
    reader: str | None = Field(
        description="Version and fingerprint of the readers that read it.",
        examples=["0.5.0+3fa94c01b2d7"],
    )
    is_kept: bool = Field(description="Whether the bytes are there to be read again.")
    void_reason: VoidReason | None = Field(
        description="Why they are not, if they were."
    )


class ProofList(BaseModel):
    """What the values of a contact follow from, the surest first of each field."""

    items: list[ProofOut]


@router.get(
    f"{address_of(CONTACTS)}/{{record_id}}/proofs",
    operation_id="list_contact_proofs",
    summary="What the values of a contact follow from",
    responses=REFUSALS | NOT_FOUND,
)
async def list_proofs(
    who: Reader,  # noqa: ARG001 - checked
    connection: Transaction,
    record_id: UUID,
    field: Annotated[str | None, Query(max_length=50)] = None,
    value: Annotated[str | None, Query(max_length=2_000)] = None,
) -> ProofList:
    """Report the page, the place in it and the readers behind each value, or behind one."""
    await record_of(connection, CONTACTS, record_id)
    values = {"contact": record_id, "field": field, "value": value, "most": MOST_PROOFS}
    rows = (await connection.execute(PROOFS, values)).all()
    return ProofList(items=[ProofOut.model_validate(row) for row in rows])
