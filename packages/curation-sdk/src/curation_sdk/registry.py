"""The stages of an application, checked before anything starts."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from asyncpg import InsufficientPrivilegeError, UndefinedTableError
from sqlalchemy import Column, Index, inspect
from sqlalchemy.exc import DBAPIError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.orm import InstrumentedAttribute, Mapper

from curation_sdk import statements
from curation_sdk.connection import is_transient, refuse_autocommit, root_of
from curation_sdk.control import execute
from curation_sdk.errors import CurationSdkError, InvalidStage
from curation_sdk.migrations import refuse_old_tables
from curation_sdk.queue import (
    Queue,
    column_of,
    only_key,
    queue_of,
    refuse_subclass,
    terms_of,
    touched_column,
)
from curation_sdk.stage import Attribute, Order, Stage, Term

AnyStage = Stage[Any, Any]
"""A stage of any model, with any tools."""


@dataclass(frozen=True, slots=True)
class CheckedStage:
    """A stage that passed the check: its queue, and whether its index ends in the key."""

    stage: AnyStage
    queue: Queue
    keyed: bool


class Registry:
    """Every stage of an application; `queues` are columns that some stage must consume.

    Refused, with a hint: two stages with one name or one column, a stage in `feeds` or a
    column in `queues` that no stage consumes. A worker's start also refuses a missing table
    or partial index, a status the column cannot hold, a primary key of several columns or
    one that the database lets occur twice, a table with partitions, and a tenant column that
    may be null.
    """

    def __init__(
        self, stages: Iterable[AnyStage], *, queues: Iterable[Attribute] = ()
    ) -> None:
        self._stages: dict[str, AnyStage] = {}
        for stage in stages:
            refuse_other_objects(stage)
            if stage.name in self._stages:
                raise InvalidStage(
                    stage.name,
                    "two stages have this name",
                    hint="Give each a name of its own.",
                )
            self._stages[stage.name] = stage
        refuse_shared_columns(self._stages.values())
        refuse_unconsumed(self._stages.values(), queues)

    def __iter__(self) -> Iterator[AnyStage]:
        return iter(self._stages.values())

    def __getitem__(self, name: str) -> AnyStage:
        return self._stages[name]

    def __contains__(self, name: object) -> bool:
        return name in self._stages

    async def check(
        self, engine: AsyncEngine, stages: Sequence[AnyStage] | None = None
    ) -> list[CheckedStage]:
        """Check stages (all, unless some are given) against the database; record them."""
        chosen = list(stages) if stages is not None else list(self)
        async with engine.connect() as connection:
            await refuse_reading_only(connection)
            await refuse_autocommit(connection)
            await refuse_missing_privileges(connection)
            await refuse_old_tables(connection)
            ready = await check_stages(connection, chosen)
            await refuse_other_tables(connection, [each.queue for each in ready])
            await connection.rollback()
        # In the order of names: two starting workers must not lock crosswise.
        queues = sorted((each.queue for each in ready), key=lambda queue: queue.stage)
        async with engine.begin() as connection:
            await execute(
                connection,
                statements.REGISTER,
                [queue.stage for queue in queues],
                [queue.dumps() for queue in queues],
            )
        return ready


def queue_index(
    claims: Attribute,
    queued: object,
    *,
    order_by: Order | None = None,
    priority: Attribute | None = None,
    tenant: Attribute | None = None,
) -> Index:
    """Add the partial index that a stage's claims need to its table, and return it.

    Pass `order_by`, `priority` and `tenant` as the stage has them. Its `info["claims"]` is
    the column, so that an application can list the queues that its tables have.
    """
    mapper: Mapper[Any] = inspect(claims.class_)
    refuse_subclass(claims.key, mapper)
    status: Column[Any] = claims.property.columns[0]
    key = mapper.primary_key[0]
    columns: list[Any] = []
    if tenant is not None:
        columns.append(tenant.property.columns[0])
    if priority is not None:
        columns.append(priority.property.columns[0].desc().nulls_last())
    by = order_by if order_by is not None else claims.class_.updated_at
    columns += [term for term in map(index_term, terms_of(by)) if term is not key]
    columns.append(key)
    name = f"{status.table.name}_{status.name}_queue"
    is_queued = status == queued
    return Index(
        name[:63], *columns, postgresql_where=is_queued, info={"claims": claims}
    )


def index_term(term: Term) -> Any:  # noqa: ANN401 - a column, or its direction
    """Return a term of an order as an index takes it."""
    is_column = isinstance(term, InstrumentedAttribute)
    return term.property.columns[0] if is_column else term


def refuse_other_objects(stage: object) -> None:
    """Raise for what is not a stage, such as a function without `@stage`."""
    if not isinstance(stage, Stage):
        raise CurationSdkError(
            f"{stage!r} is not a stage.",
            hint="Put @stage above the function, as the topmost decorator.",
        )


def refuse_shared_columns(stages: Iterable[AnyStage]) -> None:
    """Raise if two stages own one column."""
    owners: dict[str, str] = {}
    for stage in stages:
        column = str(column_of(stage, stage.claims))
        if column in owners:
            raise InvalidStage(
                stage.name,
                f"stage '{owners[column]}' owns {column} already",
                hint="Give each stage a status column of its own.",
            )
        owners[column] = stage.name


def refuse_unconsumed(stages: Iterable[AnyStage], queues: Iterable[Attribute]) -> None:
    """Raise if a queue is filled that no stage empties."""
    known = {stage.name: str(column_of(stage, stage.claims)) for stage in stages}
    for stage in stages:
        for fed in stage.feeds:
            if fed not in known:
                raise InvalidStage(
                    stage.name,
                    f"it feeds '{fed}', which no registered stage consumes",
                    hint=f"Register '{fed}' too, or correct the name in feeds=. If another "
                    "process works it: Worker(..., registry=Registry([all stages])).",
                )
    for queue in queues:
        column = str(queue.property.columns[0])
        if column not in known.values():
            raise CurationSdkError(
                f"Rows queued in {column} would wait forever: no stage consumes it.",
                hint="Register the stage that claims this column.",
            )


async def check_stages(
    connection: AsyncConnection, stages: Sequence[AnyStage]
) -> list[CheckedStage]:
    """Check stages against the tables they name, all of them by a few statements."""
    asked = [(stage, queue_of(stage, connection.dialect)) for stage in stages]
    await refuse_unknown_statuses(connection, asked)
    await refuse_unwritable_tables(connection, asked)
    await refuse_ambiguous_rows(connection, asked)
    for stage in stages:
        refuse_nullable_tenant(stage)
    if await use_partial_indexes(connection, [queue for _, queue in asked]):
        return [CheckedStage(stage, queue, keyed=True) for stage, queue in asked]
    return [await ready_alone(connection, *each) for each in asked]


async def ready_alone(
    connection: AsyncConnection, stage: AnyStage, queue: Queue
) -> CheckedStage:
    """Find out by which index one stage claims."""
    for keyed in (True, False):
        if await uses_partial_index(connection, queue, keyed=keyed):
            return CheckedStage(stage, queue, keyed)
    raise InvalidStage(
        stage.name,
        f"{queue.table} has no partial index for its claims, so every claim would "
        "read the whole table",
        hint=f"Create it: {statements.create_index(queue)}",
    )


async def refuse_unknown_statuses(
    connection: AsyncConnection, asked: Sequence[tuple[AnyStage, Queue]]
) -> None:
    """Raise if the database's column cannot hold one of a stage's statuses."""
    try:
        async with connection.begin_nested():
            await execute(
                connection, statements.cast_statuses([queue for _, queue in asked])
            )
    except DBAPIError as error:
        if is_transient(error):
            raise  # it says nothing about the stages
        if len(asked) == 1:
            raise status_refused(*asked[0], error) from error
        # PostgreSQL does not say of which stage it speaks.
        for each in asked:
            await refuse_unknown_statuses(connection, [each])


def status_refused(stage: AnyStage, queue: Queue, error: DBAPIError) -> InvalidStage:
    """Return what is wrong with a stage whose statuses the database did not cast."""
    cause = root_of(error)
    if isinstance(cause, UndefinedTableError):
        return InvalidStage(
            stage.name,
            f"table {queue.table} does not exist",
            hint="Run the migrations, or create the table.",
        )
    if isinstance(cause, InsufficientPrivilegeError):
        return InvalidStage(
            stage.name, f"{cause}", hint=f"GRANT SELECT, UPDATE ON {queue.table}."
        )
    if isinstance(error, ProgrammingError):
        return InvalidStage(
            stage.name,
            f"{cause}",
            hint="Model and table must have the same columns; run the migrations.",
        )
    return InvalidStage(
        stage.name,
        f"the database refuses one of its statuses: {cause}",
        hint="Code and database must know the same statuses; run the migrations.",
    )


async def refuse_unwritable_tables(
    connection: AsyncConnection, asked: Sequence[tuple[AnyStage, Queue]]
) -> None:
    """Raise if the role may not read a stage's table and change its status."""
    tables = [queue.table for _, queue in asked]
    columns = [[column.name for column in written_columns(s)] for s, _ in asked]
    found = await execute(
        connection, statements.TABLE_PRIVILEGES, tables, json.dumps(columns)
    )
    for (stage, queue), row in zip(asked, found, strict=True):
        if row.unknown is not None:
            raise InvalidStage(
                stage.name,
                f'column "{row.unknown}" of {queue.table} does not exist',
                hint="Model and table must have the same columns; run the migrations.",
            )
        lacking = [] if row.can_select else ["SELECT"]
        lacking += [] if row.can_update else ["UPDATE"]
        if lacking:
            privileges = ", ".join(lacking)
            raise InvalidStage(
                stage.name,
                f"role {row.role} lacks {privileges} on {queue.table}",
                hint=f"GRANT {privileges} ON {queue.table} TO {row.role};",
            )


async def refuse_ambiguous_rows(
    connection: AsyncConnection, asked: Sequence[tuple[AnyStage, Queue]]
) -> None:
    """Raise if a key, or a row's place, may stand for more than one row of a table."""
    tables = [queue.table for _, queue in asked]
    keys = [only_key(stage, inspect(stage.model)).name for stage, _ in asked]
    found = await execute(connection, statements.ROWS_OF_TABLE, tables, keys)
    for (stage, queue), (is_one_table, is_unique) in zip(asked, found, strict=True):
        if not is_one_table:
            raise InvalidStage(
                stage.name,
                f"{queue.table} is not an ordinary table, or has partitions or children",
                hint="Keep the status in an ordinary table, "
                "and refer to the rows from there.",
            )
        if not is_unique:
            raise InvalidStage(
                stage.name,
                f"{queue.table} may have several rows with the same {queue.key}",
                hint=f"ALTER TABLE {queue.table} ADD PRIMARY KEY ({queue.key});",
            )


async def refuse_other_tables(
    connection: AsyncConnection, queues: Sequence[Queue]
) -> None:
    """Raise if a stage of this name has rows of another table in work.

    Claims name the stage and the key: the rows of one table would pass for the other's.
    """
    names = [queue.stage for queue in queues]
    tables = [queue.table for queue in queues]
    for row in await execute(connection, statements.OTHER_TABLES, names, tables):
        raise InvalidStage(
            row.name,
            f"a stage of this name works rows of {row.known}, and some are claimed",
            hint="Give this stage a name of its own, or let that one finish its rows.",
        )


def written_columns(stage: AnyStage) -> list[Column[Any]]:
    """Return the columns that settling an item changes."""
    mapper: Mapper[Any] = inspect(stage.model)
    columns = [column_of(stage, stage.claims)]
    if stage.error is not None:
        columns.append(column_of(stage, stage.error))
    touched = touched_column(mapper)
    return columns if touched is None else [*columns, touched]


async def refuse_reading_only(connection: AsyncConnection) -> None:
    """Raise on a standby, or for a role that may only read."""
    if (await execute(connection, statements.IS_READ_ONLY)).scalar_one():
        raise CurationSdkError(
            "This connection may only read: transaction_read_only is on.",
            hint="Connect to the primary server, as a role without "
            "default_transaction_read_only.",
        )


async def refuse_missing_privileges(connection: AsyncConnection) -> None:
    """Raise if the role may not use the SDK's tables as a worker must."""
    rows = (await execute(connection, statements.MISSING_PRIVILEGES)).all()
    if not rows:
        return
    role = rows[0].role
    lacking: dict[str, list[str]] = {}
    for row in rows:
        lacking.setdefault(row.what, []).append(row.privilege)
    listed = [f"{', '.join(names)} ON {what}" for what, names in lacking.items()]
    raise CurationSdkError(
        f"Role {role} lacks {'; '.join(listed)}.",
        hint=" ".join(f"GRANT {each} TO {role};" for each in listed),
    )


def refuse_nullable_tenant(stage: AnyStage) -> None:
    """Raise if an item may belong to no tenant: it would have no share at all."""
    if stage.tenant is not None and column_of(stage, stage.tenant).nullable:
        raise InvalidStage(
            stage.name,
            f"{stage.tenant} may be null",
            hint="A tenant column must be NOT NULL to share the work fairly.",
        )


async def use_partial_indexes(
    connection: AsyncConnection, queues: Sequence[Queue]
) -> bool:
    """Return whether every queue is claimed along a partial index that ends in its key."""
    if any(map(is_by_key, queues)):
        return False  # to be asked about alone
    claims = [statements.a_claim(queue, keyed=True, ordered=True) for queue in queues]
    names = await indexes_of(connection, statements.explain(claims))
    if names is None or len(names) != len(queues):
        return False
    counted = await execute(connection, statements.PARTIAL_INDEXES, names)
    return bool(counted.scalar_one() == len(queues))


async def uses_partial_index(
    connection: AsyncConnection, queue: Queue, *, keyed: bool
) -> bool:
    """Return whether the planner can claim along a partial index, in claim order."""
    by_key = is_by_key(queue)
    # The index of the key gives its order too, and would hide the partial one.
    claim = statements.a_claim(queue, keyed=keyed, ordered=not by_key)
    names = await indexes_of(connection, statements.explain([claim]))
    if names is None:
        return False
    if by_key:
        counted = await execute(connection, statements.PARTIAL_BY_KEY, names, queue.key)
    else:
        counted = await execute(connection, statements.PARTIAL_INDEXES, names)
    return bool(counted.scalar_one())


def is_by_key(queue: Queue) -> bool:
    """Return whether a queue is claimed in the order of its key, with no tenants."""
    return queue.order == f"m.{queue.key}" and not queue.tenant


async def indexes_of(connection: AsyncConnection, explain: str) -> list[str] | None:
    """Return the indexes of a plan; None if rows are sorted or a table is read whole."""
    async with connection.begin_nested() as savepoint:
        # Only whether it can, not whether it would: a small table is read whole.
        await execute(connection, statements.PLAN_BY_INDEX_ONLY)
        found = (await execute(connection, explain)).scalar_one()
        await savepoint.rollback()
    nodes = list(plan_nodes(found if isinstance(found, list) else json.loads(found)))
    kinds = {node["Node Type"] for node in nodes}
    if kinds & {"Sort", "Incremental Sort", "Seq Scan", "Bitmap Heap Scan"}:
        return None
    return [node["Index Name"] for node in nodes if "Index Name" in node]


def plan_nodes(plan: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Walk through every node of an EXPLAIN."""
    for top in plan:
        waiting = [top["Plan"]]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.get("Plans", ()))
