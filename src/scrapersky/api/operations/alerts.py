"""What is wrong with the installation, for those who run it."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import select

from scrapersky.api.dependency import Operator, SystemTransaction
from scrapersky.records import Alert

router = APIRouter(prefix="/api/v3/alerts", tags=["system"])

MAX_ALERTS = 500


class AlertOut(BaseModel):
    """One rule that holds for one thing, or did."""

    model_config = ConfigDict(from_attributes=True)

    rule: str = Field(examples=["oldest_item"])
    subject: str = Field(
        description="The stage, job or process it is about.", examples=["page_curation"]
    )
    summary: str = Field(examples=["The head of page_curation has waited 75 minutes."])
    advice: str = Field(description="What to do.", examples=["Start more workers."])
    since: datetime
    ended_at: datetime | None = Field(None, description="When it was over.")
    sent_at: datetime | None = Field(None, description="When somebody was notified.")


@router.get("", operation_id="list_alerts")
async def list_alerts(
    *,
    who: Operator,  # noqa: ARG001 - checked
    connection: SystemTransaction,
    over: Annotated[
        bool, Query(description="Also those that are over, of the last 30 days.")
    ] = False,
) -> list[AlertOut]:
    """List what is wrong, the latest first; looked at once a minute by one process."""
    query = select(Alert.__table__).order_by(Alert.since.desc(), Alert.rule)
    if not over:
        query = query.where(Alert.ended_at.is_(None))
    rows = await connection.execute(query.limit(MAX_ALERTS))
    return [AlertOut.model_validate(row) for row in rows]
