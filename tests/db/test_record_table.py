"""A revision makes the tables and queues that the records declare."""

from collections.abc import AsyncIterator, Callable
from functools import partial
from uuid import UUID

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    MetaData,
    SmallInteger,
    Text,
    text,
)
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrations.record_table import (
    add_queue,
    add_record_table,
    drop_queue,
    reference,
)
from scrapersky.records.base import (
    Base,
    OwnedRecord,
    Priority,
    StageError,
    list_indexes,
)
from scrapersky.records.status import (
    CURATION_STATUS,
    DEEP_SCAN_STATUS,
    Curated,
    DeepScanStatus,
)
from scrapersky.records.work_queue import work_queue
from scrapersky.stages import PIPELINE
from tests.conftest import TestDatabase


class Own(DeclarativeBase):
    """The root of a record that no other test sees."""

    metadata = MetaData(naming_convention=Base.metadata.naming_convention)
    type_annotation_map = Base.type_annotation_map


for name in ("tenants", "users", "domains"):
    Base.metadata.tables[name].to_metadata(Own.metadata)


class Postcard(OwnedRecord, Own):
    """A record that a person decides about and a stage works on."""

    __tablename__ = "postcards"
    __table_args__ = list_indexes("postcards", "status")

    domain_id: Mapped[UUID] = mapped_column(
        ForeignKey("domains.id", ondelete="CASCADE"), index=True
    )
    subject: Mapped[str]
    status: Mapped[Curated]
    priority: Mapped[Priority]
    sending_status: Mapped[DeepScanStatus | None] = mapped_column(DEEP_SCAN_STATUS)
    sending_error: Mapped[StageError]


work_queue(
    Postcard.sending_status,
    error=Postcard.sending_error,
    queued=DeepScanStatus.QUEUED,
    processing=DeepScanStatus.PROCESSING,
    done=DeepScanStatus.COMPLETED,
    failed=DeepScanStatus.ERROR,
    priority=Postcard.priority,
)

COLUMNS = """SELECT attname, format_type(atttypid, atttypmod), attnotnull,
    pg_get_expr(adbin, adrelid)
  FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attrelid = CAST(:table AS regclass) AND attnum > 0 AND NOT attisdropped"""
INDEXES = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = :table"
KEYS = """SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
  WHERE conrelid = CAST(:table AS regclass) AND contype <> 'n'"""
POLICIES = (
    "SELECT tablename FROM pg_policies WHERE policyname = 'tenant_postcard_sending'"
)


def definition(connection: Connection, table: str) -> set[tuple[object, ...]]:
    """Read what a table is made of."""
    return {
        tuple(row)
        for query in (COLUMNS, INDEXES, KEYS)
        for row in connection.execute(text(query), {"table": table})
    }


def revise(connection: Connection, step: Callable[[], None]) -> None:
    """Run a part of a revision."""
    context = MigrationContext.configure(connection)
    with Operations.context(context):
        step()


def add_postcards() -> None:
    add_record_table(
        "postcards",
        reference(
            "domain_id", "domains", on_delete="CASCADE", nullable=False, index=True
        ),
        Column("subject", Text, nullable=False),
        Column("status", CURATION_STATUS, nullable=False, server_default="New"),
        Column("priority", SmallInteger, nullable=False, server_default=text("0")),
        status="status",
    )
    add_queue(
        "postcard_sending",
        "postcards",
        Column("sending_status", DEEP_SCAN_STATUS),
        error="sending_error",
        queued="Queued",
        processing="Processing",
        priority="priority",
    )


@pytest.fixture
async def engine(database: TestDatabase) -> AsyncIterator[AsyncEngine]:
    engine = connect(parse_target(database.url))
    yield engine
    await engine.dispose()


async def test_a_revision_as_the_page_showed_it_made_another_table_than_the_record(
    engine: AsyncEngine,
) -> None:
    async with engine.connect() as connection:
        await connection.run_sync(Own.metadata.tables["postcards"].create)
        declared = await connection.run_sync(definition, "postcards")
        await connection.rollback()
        for _ in range(2):  # it can be repeated, if an upgrade was interrupted
            await connection.run_sync(revise, add_postcards)
        made = await connection.run_sync(definition, "postcards")
        seen = await connection.scalars(text(POLICIES))

        assert made == declared
        assert sorted(seen) == ["attempt", "claim", "dead_letter"]

        columns = ("sending_status", "sending_error")
        await connection.run_sync(
            revise, lambda: drop_queue("postcard_sending", "postcards", *columns)
        )
        left = await connection.run_sync(definition, "postcards")

        assert [one for one in left if "sending" in str(one)] == []
        assert (await connection.scalars(text(POLICIES))).all() == []


async def test_a_queue_of_a_revision_lacked_an_index_that_every_stage_has(
    engine: AsyncEngine,
) -> None:
    async with engine.connect() as connection:
        for stage in PIPELINE:
            table, column = stage.model.__tablename__, stage.claims.key
            before = await connection.run_sync(definition, table)
            for suffix in ("queue", "in_work"):
                await connection.execute(text(f"DROP INDEX {table}_{column}_{suffix}"))
            again = partial(
                add_queue,
                f"{stage.name}_again",
                table,
                Column(column, DEEP_SCAN_STATUS),
                error=str(stage.error and stage.error.key),
                queued=stage.queued,
                processing=stage.processing,
                priority=stage.priority.key if stage.priority else None,
            )
            await connection.run_sync(revise, again)
            assert await connection.run_sync(definition, table) == before
