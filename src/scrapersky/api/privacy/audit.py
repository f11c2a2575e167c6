"""The audit log: who changed what, and when."""

from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from scrapersky.api.dependency import Admin, Transaction
from scrapersky.api.privacy.shape import FilteredListParameters, read_list
from scrapersky.api.schema import REFUSALS, ListOut
from scrapersky.records import AuditEntry

router = APIRouter()


class AuditOut(BaseModel):
    """One action of a person, a rule or a program."""

    id: UUID
    created_at: datetime
    actor: str = Field(examples=["Ada Lovelace"])
    action: str = Field(examples=["decided"])
    subject: str = Field(examples=["pages"])
    details: dict[str, Any] | None
    request_id: str | None


@router.get(
    "/audit",
    operation_id="list_audit",
    summary="List who changed what",
    response_model=ListOut[AuditOut],
    responses=REFUSALS,
)
async def list_audit(
    request: Request, who: Admin, connection: Transaction, asked: FilteredListParameters
) -> Any:  # noqa: ANN401 - the response model has the type
    """List the actions of your tenant, the latest first."""
    columns = (
        AuditEntry.id, AuditEntry.created_at, AuditEntry.actor, AuditEntry.action,
        AuditEntry.subject, AuditEntry.details, AuditEntry.request_id,
    )  # fmt: skip
    return await read_list(request, connection, who, columns, asked)
