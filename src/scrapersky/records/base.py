"""What every record has: a key, a tenant, and times set by the database."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    FetchedValue,
    ForeignKey,
    Index,
    MetaData,
    SmallInteger,
    String,
    Text,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, ENUM, JSONB
from sqlalchemy.orm import (
    DeclarativeBase,
    Mapped,
    declared_attr,
    mapped_column,
)
from sqlalchemy.types import TypeEngine

PHONES_AS_WRITTEN = frozenset(
    {"places_staging", "local_businesses", "companies", "company_members"}
)
"""Tables with numbers of sources: one without a country is kept as it was written."""
ERROR_LIMIT = 1024
"""Characters of an error kept on the row; the attempt keeps the full story."""

Json = dict[str, Any]

# Columns that many tables have.
Texts = Annotated[list[str], mapped_column(ARRAY(Text), server_default=text("'{}'"))]
JsonObject = Annotated[
    Json, mapped_column(JSONB(none_as_null=True), server_default=text("'{}'"))
]
StageError = Annotated[str | None, mapped_column(String(ERROR_LIMIT))]
Priority = Annotated[int, mapped_column(SmallInteger, server_default=text("0"))]


class Base(DeclarativeBase):
    """The root of all records."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it once
        datetime: DateTime(timezone=True),
        str: Text(),
        int: BigInteger(),
        Json: JSONB(none_as_null=True),
        UUID: Uuid(),
    }


class Record:
    """The columns every table has."""

    id: Mapped[UUID] = mapped_column(
        primary_key=True, server_default=func.time_ordered_uuid(), sort_order=-2
    )
    created_at: Mapped[datetime] = mapped_column(
        server_default=func.clock_timestamp(), sort_order=2
    )
    updated_at: Mapped[datetime] = mapped_column(
        server_default=func.clock_timestamp(), sort_order=2
    )
    """Kept by a trigger, so that plain SQL keeps it too."""


class OwnedRecord(Record):
    """A record that belongs to one tenant, and perhaps to the person who made it."""

    @declared_attr
    @classmethod
    def tenant_id(cls) -> Mapped[UUID]:
        """Return the tenant whose row this is; no other tenant ever sees it."""
        return mapped_column(
            ForeignKey("tenants.id", ondelete="CASCADE"), sort_order=-1
        )

    @declared_attr
    @classmethod
    def created_by(cls) -> Mapped[UUID | None]:
        """Return the user who made it; background work stamps the system user."""
        return mapped_column(ForeignKey("users.id", ondelete="SET NULL"), sort_order=1)


def derived(kind: TypeEngine[Any]) -> Any:  # noqa: ANN401 - a column of whatever is annotated
    """Make a column that a trigger writes whenever what it is made of is written."""
    return mapped_column(
        kind, server_default=FetchedValue(), server_onupdate=FetchedValue()
    )


def ordering() -> Any:  # noqa: ANN401 - a column of whatever is annotated
    """Make the column that puts a name where people look for it: Ábel before Zoe.

    It is the text without accents and capitals. Not every PostgreSQL knows the alphabets of
    the world (ICU), and where one does, a new version of them would spoil the indexes.
    """
    return derived(Text(collation="C"))


def list_indexes(table: str, status: str) -> tuple[Index, Index]:
    """Make the indexes that lists are read by: by time, and by time within a status."""
    return (
        Index(f"ix_{table}_by_time", "tenant_id", "updated_at", "id"),
        Index(f"ix_{table}_by_status", "tenant_id", status, "updated_at", "id"),
    )


def phone_digits_index(table: str) -> Index:
    """Make the index by which numbers are found that were stored as written."""
    return Index(
        f"ix_{table}_phone_digits",
        "tenant_id",
        text("phone_digits(phone)"),
        postgresql_where=text("phone_digits(phone) IS NOT NULL"),
    )


class NativeEnum(ENUM):
    """An enum that may have labels of a newer version: those are read as plain text."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:  # noqa: ANN401 - as above it
        """Return what turns a label into a member; a row with another label is still read."""
        known = super().result_processor(dialect, coltype)  # type: ignore[no-untyped-call]

        def member_or_text(value: str | None) -> object:
            try:
                return known(value)
            except LookupError:
                return value

        return member_or_text


def native_enum(values: type[StrEnum], name: str) -> ENUM:
    """Make the PostgreSQL enum of a status: its labels are the values, spelt once."""
    return NativeEnum(
        values,
        name=name,
        values_callable=lambda kind: [member.value for member in kind],
        create_type=False,
    )
