"""Plant one row of a tenant in every table it can have rows in, made from the models."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    ARRAY,
    Boolean,
    Column,
    Date,
    DateTime,
    Float,
    Integer,
    Interval,
    LargeBinary,
    Numeric,
    Table,
    Uuid,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import BYTEA, ENUM, JSONB, insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.records import Base
from scrapersky.stages import PIPELINE

FIXED: Mapping[tuple[str, str], Any] = {
    ("suppressions", "kind"): "email",
    ("selection_rules", "kind"): "pages",
    ("selection_rules", "status"): "Selected",
    ("selection_rules", "conditions"): {"all": []},
    ("batch_jobs", "kind"): "domains",
    ("curation_actions", "kind"): "pages",
    ("curation_actions", "status"): "Selected",
    ("curation_actions", "selection"): {"conditions": []},
    ("saved_views", "kind"): "pages",
    ("contact_evidence", "field"): "email",
    ("contact_evidence", "robots"): "allowed",
    ("idempotency_keys", "holder"): UUID(int=7),
    ("place_searches", "source"): "openstreetmap",
    ("api_keys", "scopes"): ["read"],
    ("search_schedules", "every"): "weekly",
    ("webhook_endpoints", "format"): "event",
    ("webhook_endpoints", "schemes"): ["v1"],
    # Whoever delivers leaves it alone, and the row as it is.
    ("webhook_endpoints", "is_active"): False,
    ("webhook_endpoints", "disabled_at"): datetime(2026, 1, 1, tzinfo=UTC),
    ("webhook_deliveries", "state"): "delivered",
    ("sync_connections", "is_active"): False,
    ("differences", "what"): "changed",
    ("webhook_endpoints", "events"): ["company.changed"],
}
CLOSED = {"tenants", "login_sessions", "contact_notices"}
"""The last are made by the database, with their contacts."""
FIRST = {"domains", "sitemap_files"}
REFERENCES = {
    "domain_id": "domains",
    "sitemap_file_id": "sitemap_files",
    "page_id": "pages",
    "record_id": "pages",
}
"""References that the database keeps by other means than foreign keys."""
WORDS = ("name", "title", "description", "address", "notes", "url", "email", "phone")
"""Columns that get the tenant's mark even where they may stay empty."""


async def plant(engine: AsyncEngine, tenant: UUID, mark: str) -> dict[str, UUID]:
    """Give a tenant a row in every table; return the ids by table."""
    ids: dict[str, UUID] = {}
    async with engine.begin() as connection:
        for table in sorted(
            Base.metadata.sorted_tables, key=lambda t: t.name not in FIRST
        ):
            if "tenant_id" in table.columns and table.name not in CLOSED:
                await plant_row(connection, table, tenant, mark, ids)
        for stage, name in (("page_curation", "pages"), ("domain_metadata", "domains")):
            await bury(connection, stage, str(ids[name]), mark)
    return ids


async def plant_row(
    connection: AsyncConnection,
    table: Table,
    tenant: UUID,
    mark: str,
    ids: dict[str, UUID],
) -> None:
    values = {
        column.name: value_for(table, column, mark, ids)
        for column in table.columns
        if is_given(column)
    }
    values["tenant_id"] = tenant
    if "id" in table.columns:
        values["id"] = ids[table.name] = uuid4()
    # Of some tables a tenant that has worked has its one row already.
    await connection.execute(insert(table).values(values).on_conflict_do_nothing())


DIE = (
    "INSERT INTO curation.dead_letter (stage, item, fence, kind, why, tries, deaths) "
    "VALUES (:stage, :item, 1, 'gave_up', :mark, 1, 0)"
)
TRY = (
    "INSERT INTO curation.attempt (stage, item, fence, tries, outcome, why) "
    "VALUES (:stage, :item, 1, 1, 'gave_up', :mark)"
)


async def bury(connection: AsyncConnection, stage: str, item: str, mark: str) -> None:
    found = next(one for one in PIPELINE if one.name == stage)
    await connection.execute(
        update(found.model)
        .where(found.model.id == UUID(item))
        .values({found.claims.key: found.failed})
    )
    for statement in (DIE, TRY):
        await connection.execute(
            text(statement), {"stage": stage, "item": item, "mark": mark}
        )


def is_given(column: Column[Any]) -> bool:
    if column.name in {"id", "tenant_id", "created_by", "is_system"}:
        return False
    if column.name in WORDS or (column.table.name, column.name) in FIXED:
        return True
    if column.foreign_keys or column.name in REFERENCES:
        return True
    return not column.nullable and column.server_default is None


def value_for(
    table: Table, column: Column[Any], mark: str, ids: Mapping[str, UUID]
) -> Any:
    if (table.name, column.name) in FIXED:
        return FIXED[table.name, column.name]
    if column.name in REFERENCES:
        return ids.get(REFERENCES[column.name]) or uuid4()
    for key in column.foreign_keys:
        return ids.get(key.column.table.name)
    match column.type:
        case ENUM() as kind:
            return kind.enums[0]
        case Uuid():
            # Whatever it names, it is one of this tenant's.
            return ids.get("pages") or uuid4()
        case Interval():
            return timedelta(days=1)
        case JSONB():
            return {"mark": mark}
        case ARRAY():
            return [mark]
        case BYTEA() | LargeBinary():
            return mark.encode()
        case Boolean():
            return False
        case Date():
            return date(2099, 1, 1)
        case DateTime():
            return datetime(2099, 1, 1, tzinfo=UTC)
        case Integer() | Numeric() | Float():
            return 1
    return (
        f"{mark}@{mark}.example" if column.name == "email" else f"{mark}-{column.name}"
    )


async def picture(engine: AsyncEngine, tenant: UUID) -> dict[str, str]:
    """Return every row of a tenant as text, by table, so that a failure says what changed."""
    found = {}
    async with engine.connect() as connection:
        for table in Base.metadata.sorted_tables:
            if "tenant_id" in table.columns:
                found[table.name] = await connection.scalar(
                    text(
                        "SELECT coalesce(string_agg(t::text, E'\n' ORDER BY t::text), '')"
                        f" FROM {table.name} t WHERE tenant_id = :id"
                    ),
                    {"id": tenant},
                )
        found["dead letters"] = await connection.scalar(
            text("SELECT count(*)::text FROM curation.dead_letter")
        )
    return found
