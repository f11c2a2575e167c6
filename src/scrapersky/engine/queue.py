"""A stage's column as PostgreSQL knows it: names quoted, statuses as stored.

It is kept in the database too, so that a rescue, a replay or a dashboard needs only
the stage's name and none of the code that declared it.
"""

from dataclasses import asdict, dataclass
from typing import Any, cast

import orjson
from sqlalchemy import Column, Dialect, Enum, inspect
from sqlalchemy.orm import Mapper

from scrapersky.engine.stage import Attribute, Stage
from scrapersky.errors import StageRefused


@dataclass(frozen=True, slots=True)
class Queue:
    """Where a stage's items are; every name is quoted, ready for SQL."""

    stage: str
    table: str
    key: str
    key_type: str
    status: str
    status_type: str
    queued: str
    processing: str
    done: str
    failed: str
    error: str | None
    touched: str | None
    order_by: str
    order_type: str
    priority: str | None
    tenant: str | None
    tenant_type: str | None
    lease: float
    max_deaths: int

    @property
    def order(self) -> str:
        """The order of claims, without the key that breaks ties."""
        ranked = f"m.{self.priority} DESC NULLS LAST, " if self.priority else ""
        return f"{ranked}m.{self.order_by}"

    def dumps(self) -> str:
        """Write it as JSON."""
        return orjson.dumps(asdict(self)).decode()

    @classmethod
    def loads(cls, text: str) -> "Queue":
        """Read what `dumps` wrote, also when a newer version added fields."""
        known = cls.__dataclass_fields__
        return cls(**{k: v for k, v in orjson.loads(text).items() if k in known})


def queue_of(stage: Stage[Any, Any], dialect: Dialect) -> Queue:
    """Translate a stage's declaration; raise if its column cannot be a queue."""
    mapper: Mapper[Any] = inspect(stage.model)
    key = only_key(stage, mapper)
    quote = dialect.identifier_preparer
    status = column_of(stage, stage.claims)
    return Queue(
        stage=stage.name,
        table=quote.format_table(key.table),
        key=quote.format_column(key),
        key_type=type_of(key, dialect),
        status=quote.format_column(status),
        status_type=type_of(status, dialect),
        queued=stored(stage, stage.queued, dialect),
        processing=stored(stage, stage.processing, dialect),
        done=stored(stage, stage.done, dialect),
        failed=stored(stage, stage.failed, dialect),
        error=quoted(stage, stage.error, dialect),
        touched=touched_column(mapper, dialect),
        order_by=quoted(stage, stage.order_by, dialect) or quote.format_column(key),
        order_type=type_of(column_of(stage, stage.order_by), dialect)
        if stage.order_by is not None
        else type_of(key, dialect),
        priority=quoted(stage, stage.priority, dialect),
        tenant=quoted(stage, stage.tenant, dialect),
        tenant_type=type_of(column_of(stage, stage.tenant), dialect)
        if stage.tenant is not None
        else None,
        lease=stage.lease.total_seconds(),
        max_deaths=stage.max_deaths,
    )


def stored(stage: Stage[Any, Any], status: object, dialect: Dialect) -> str:
    """Return a status as the column stores it; raise if the column cannot hold it."""
    column = column_of(stage, stage.claims)
    kind = column.type
    if isinstance(kind, Enum):
        known = (*(kind.enum_class or ()), *kind.enums)
        if status not in known:
            raise StageRefused(
                stage.name,
                f"{status!r} is not a status of {column}",
                hint=f"It knows {', '.join(kind.enums)}.",
            )
    process = kind.dialect_impl(dialect).bind_processor(dialect)
    value = process(status) if process else status
    return str(getattr(value, "value", value))


def literal(value: str) -> str:
    """Quote a text for SQL; a parameter would hide the partial index."""
    return "'" + value.replace("'", "''") + "'"


def only_key(stage: Stage[Any, Any], mapper: Mapper[Any]) -> Column[Any]:
    """Return the model's key column; raise if it has several."""
    keys = mapper.primary_key
    if len(keys) != 1:
        raise StageRefused(
            stage.name,
            f"{stage.model.__name__} has a key of {len(keys)} columns",
            hint="A queue needs a single-column primary key (uuid, integer or text).",
        )
    return cast("Column[Any]", keys[0])


def column_of(stage: Stage[Any, Any], attribute: Attribute) -> Column[Any]:
    """Return the table column behind a model attribute of this stage's model."""
    column = attribute.property.columns[0]
    if attribute.class_ is not stage.model or not isinstance(column, Column):
        raise StageRefused(
            stage.name, f"{attribute} is not a column of {stage.model.__name__}"
        )
    return column


def quoted(
    stage: Stage[Any, Any], attribute: Attribute | None, dialect: Dialect
) -> str | None:
    """Return the attribute's column name, quoted for SQL."""
    if attribute is None:
        return None
    return dialect.identifier_preparer.format_column(column_of(stage, attribute))


def type_of(column: Column[Any], dialect: Dialect) -> str:
    """Return the column's type as SQL."""
    return column.type.compile(dialect=dialect)


def touched_column(mapper: Mapper[Any], dialect: Dialect) -> str | None:
    """Return `updated_at` if the model says every update renews it."""
    column = mapper.columns.get("updated_at")
    if column is None or (column.onupdate is None and column.server_onupdate is None):
        return None
    return dialect.identifier_preparer.format_column(column)
