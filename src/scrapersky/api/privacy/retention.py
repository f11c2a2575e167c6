"""How long each kind of data is kept."""

from datetime import datetime

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from scrapersky.api.dependency import Admin, Transaction
from scrapersky.api.schema import REFUSALS
from scrapersky.privacy.retention import retention_status
from scrapersky.scheduler.housekeeping import retention_days
from scrapersky.settings import Settings

router = APIRouter()


class KindOut(BaseModel):
    """One kind of data, and for how long it is kept."""

    kind: str = Field(examples=["contacts"])
    setting: str = Field(examples=["CONTACT_DAYS"])
    days: int | None = Field(description="null: until somebody deletes it.")
    what: str = Field(description="What happens then.")
    oldest_at: datetime | None = None
    overdue: int = Field(
        0, description="Your rows that the next purge removes; counted to 10,000."
    )


class RetentionOut(BaseModel):
    """How long everything is kept, and how often that is enforced."""

    kinds: list[KindOut]
    purge_interval_minutes: float


@router.get(
    "/retention",
    operation_id="read_retention",
    summary="Tell how long data is kept",
    responses=REFUSALS,
)
async def read_retention(
    request: Request,
    who: Admin,  # noqa: ARG001 - checked
    connection: Transaction,
) -> RetentionOut:
    """Tell how long each kind of data is kept, and how yours stands."""
    settings: Settings = request.app.state.settings
    standing = [
        KindOut(
            kind=one.kind.name,
            setting=one.kind.setting,
            days=one.days,
            what=one.kind.what,
            oldest_at=one.oldest_at,
            overdue=one.overdue,
        )
        for one in await retention_status(connection, retention_days(settings))
    ]
    return RetentionOut(
        kinds=[
            *standing,
            KindOut(
                kind="content of Google",
                setting="GOOGLE_CONTENT_DAYS",
                days=settings.google_content_days,
                what="forgotten in places and businesses; place ids stay",
            ),
            KindOut(
                kind="attempts and scheduler runs",
                setting="HISTORY_DAYS",
                days=settings.history_days,
                what="deleted",
            ),
        ],
        purge_interval_minutes=settings.purge.interval_minutes,
    )
