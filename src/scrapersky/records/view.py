"""Lists that a person looks at again and again, under a name."""

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base, Json, OwnedRecord


class SavedView(OwnedRecord, Base):
    """The filters, words and sort of a list, kept for whoever made it."""

    __tablename__ = "saved_views"
    __table_args__ = (
        # Whoever sits at the machine without a login has views of their own too.
        Index(
            "uq_saved_views_owner_name",
            "tenant_id",
            text("coalesce(created_by, '00000000-0000-0000-0000-000000000000'::uuid)"),
            "kind",
            "name",
            unique=True,
        ),
    )

    name: Mapped[str]
    kind: Mapped[str]
    query: Mapped[Json]
    is_shared: Mapped[bool] = mapped_column(server_default=text("false"))
    """Whether everybody of the tenant sees it."""
