"""WF1: what was searched for, where, and how far it got."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, Numeric, String, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import ERROR_LIMIT, Base, Json, OwnedRecord
from scrapersky.records.kind import Kind
from scrapersky.records.link import HITS, LinkedField, LinkTable, Related
from scrapersky.records.status import TASK_STATUS, TaskStatus
from scrapersky.records.work_queue import work_queue


class PlaceSearch(OwnedRecord, Base):
    """One search of a source for businesses of a kind in an area."""

    __tablename__ = "place_searches"
    __table_args__ = (
        Index("ix_place_searches_by_time", "tenant_id", "updated_at", "id"),
        Index(
            "ix_place_searches_repeats_id",
            "repeats_id",
            postgresql_where=text("repeats_id IS NOT NULL"),
        ),
    )

    business_type: Mapped[str]
    location: Mapped[str | None]
    radius_m: Mapped[int | None]
    area: Mapped[Json | None]
    source: Mapped[str]
    params: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    budget: Mapped[Decimal | None] = mapped_column(Numeric(12, 4))
    spent: Mapped[Decimal] = mapped_column(Numeric(12, 4), server_default=text("0"))
    status: Mapped[TaskStatus] = mapped_column(
        TASK_STATUS, server_default=TaskStatus.QUEUED.value
    )
    progress: Mapped[Json] = mapped_column(server_default=text("'{}'"))
    problems: Mapped[list[Any]] = mapped_column(
        JSONB(none_as_null=True), server_default=text("'[]'")
    )
    """Rows of a file that could not be used, with their line numbers."""
    coverage: Mapped[Json | None]
    found_count: Mapped[int] = mapped_column(server_default=text("0"))
    new_count: Mapped[int] = mapped_column(server_default=text("0"))
    error: Mapped[str | None] = mapped_column(String(ERROR_LIMIT))
    finished_at: Mapped[datetime | None]
    repeats_id: Mapped[UUID | None]
    """The search of which this is another run."""
    followed_at: Mapped[datetime | None]
    """When everything it found had been followed to its contacts, for the first time."""


SEARCH_QUEUE = work_queue(
    PlaceSearch.status,
    error=PlaceSearch.error,
    queued=TaskStatus.QUEUED,
    processing=TaskStatus.IN_PROGRESS,
    done=TaskStatus.COMPLETED,
    failed=TaskStatus.ERROR,
)


class PlaceSearchHit(Base):
    """A place found by a search: one place may be found by many."""

    __tablename__ = "place_search_hits"

    search_id: Mapped[UUID] = mapped_column(
        ForeignKey("place_searches.id", ondelete="CASCADE"), primary_key=True
    )
    place_id: Mapped[UUID] = mapped_column(
        ForeignKey("places_staging.id", ondelete="CASCADE"),
        primary_key=True,
        index=True,
    )
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE")
    )
    found_at: Mapped[datetime] = mapped_column(server_default=text("clock_timestamp()"))
    facts_hash: Mapped[str | None]
    """What the place looked like to this search, so that the next one sees what changed."""


SEARCHES = Kind(
    PlaceSearch,
    path="/searches",
    singular="search",
    plural="searches",
    label=func.concat_ws(
        " in ", func.nullif(PlaceSearch.business_type, ""), PlaceSearch.location
    ),
    icon="search",
    facets=("status", "source"),
    words=(PlaceSearch.business_type, PlaceSearch.location),
    # Where a source goes on is its own business.
    extras={"progress": PlaceSearch.progress.op("-")("state")},
    linked={"search_id": LinkedField("place_searches", "id", lambda matches: matches)},
    related=(Related(kind="places", through=LinkTable(HITS, "search_id", "place_id")),),
)
