"""Files that people upload, for whichever machine works on them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, func
from sqlalchemy.orm import Mapped, mapped_column

from scrapersky.records.base import Base


class UploadedPart(Base):
    """A piece of a file; the pieces of one name, by position, are the file."""

    __tablename__ = "uploaded_parts"

    name: Mapped[str] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    tenant_id: Mapped[UUID] = mapped_column(
        ForeignKey("tenants.id", ondelete="CASCADE"), index=True
    )
    content: Mapped[bytes]
    created_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
