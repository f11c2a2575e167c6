"""A stage's column as PostgreSQL knows it: names quoted, statuses as stored.

It is kept in the database too, so that a rescue, a replay or a dashboard needs only
the stage's name and none of the code that declared it.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from sqlalchemy import Column, Dialect, Enum, String, UnaryExpression, inspect
from sqlalchemy.orm import InstrumentedAttribute, Mapper
from sqlalchemy.sql import operators

from curation_sdk.errors import InvalidStage
from curation_sdk.log import get_logger
from curation_sdk.stage import Attribute, Order, Stage, Term


@dataclass(frozen=True, slots=True)
class Queue:
    """Where a stage's items are: table, columns and statuses, with every name quoted for SQL."""

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
    max_crashes: int
    ordering: tuple[str, ...] = ()
    """The terms of ORDER BY, where it is more than the column `order_by`."""
    logger: str = "curation_sdk"
    """The name of the logger of lines about its items."""

    @property
    def log(self) -> Any:  # noqa: ANN401 - as structlog types it
        """The logger of lines about its items; each says of which stage."""
        return get_logger(self.logger, stage=self.stage)

    @property
    def order(self) -> str:
        """The order of claims, without the key that breaks ties."""
        ranked = f"m.{self.priority} DESC NULLS LAST, " if self.priority else ""
        return ranked + ", ".join(f"m.{term}" for term in self.order_terms)

    @property
    def order_terms(self) -> tuple[str, ...]:
        """The columns that order the queue, each with its direction."""
        return self.ordering or (self.order_by,)

    @property
    def has_cursor(self) -> bool:
        """Whether claims can go on from the last row claimed: one column, ascending."""
        return not self.ordering and not self.priority and not self.tenant

    def dumps(self) -> str:
        """Write it as JSON."""
        values = asdict(self)
        # The name that workers of older versions read.
        values["max_deaths"] = values.pop("max_crashes")
        return json.dumps(values)

    @classmethod
    def loads(cls, text: str) -> "Queue":
        """Read what `dumps` wrote, also when a newer version added fields."""
        values = json.loads(text)
        values["max_crashes"] = values.pop("max_deaths")
        values["ordering"] = tuple(values.get("ordering", ()))
        known = cls.__dataclass_fields__
        return cls(**{k: v for k, v in values.items() if k in known})


def queue_of(stage: Stage[Any, Any], dialect: Dialect) -> Queue:
    """Translate a stage's declaration; raise if its column cannot be a queue."""
    mapper: Mapper[Any] = inspect(stage.model)
    refuse_subclass(stage.name, mapper)
    key = only_key(stage, mapper)
    quote = dialect.identifier_preparer
    status = column_of(stage, stage.claims)
    terms = order_terms(stage)
    touched = touched_column(mapper)
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
        touched=None if touched is None else quote.format_column(touched),
        order_by=quote.format_column(terms[0].column),
        order_type=type_of(terms[0].column, dialect),
        ordering=ordering_of(terms, dialect),
        priority=quoted(stage, stage.priority, dialect),
        tenant=quoted(stage, stage.tenant, dialect),
        tenant_type=type_of(column_of(stage, stage.tenant), dialect)
        if stage.tenant is not None
        else None,
        lease=stage.lease.total_seconds(),
        max_crashes=stage.max_crashes,
        logger=stage.logger_name,
    )


def stored(stage: Stage[Any, Any], status: object, dialect: Dialect) -> str:
    """Return a status as the column stores it; raise if the column cannot hold it."""
    column = column_of(stage, stage.claims)
    kind = column.type
    if isinstance(kind, Enum):
        known = (*(kind.enum_class or ()), *kind.enums)
        if status not in known:
            raise InvalidStage(
                stage.name,
                f"{status!r} is not a status of {column}",
                hint=f"It knows {', '.join(kind.enums)}.",
            )
    process = kind.dialect_impl(dialect).bind_processor(dialect)
    value = process(status) if process else status
    text = str(getattr(value, "value", value))
    if isinstance(kind, String) and kind.length is not None and len(text) > kind.length:
        raise InvalidStage(
            stage.name,
            f"{text!r} is longer than {column} may be ({kind.length})",
            hint="Make the column longer, or the status shorter.",
        )
    return text


def literal(value: str) -> str:
    """Quote a text for SQL, where a parameter would hide the partial index."""
    return "'" + value.replace("'", "''") + "'"


def refuse_subclass(name: str, mapper: Mapper[Any]) -> None:
    """Raise for a class that shares its rows with the one it inherits from.

    Claims look at one table, and would take the rows of all its classes.
    """
    if mapper.inherits is not None and not mapper.concrete:
        base, model = mapper.inherits.class_.__name__, mapper.class_.__name__
        column = mapper.polymorphic_on
        kind = column.key if isinstance(column, Column) else "discriminator"
        raise InvalidStage(
            name,
            f"{model} inherits from {base}, whose table holds rows of other classes too",
            hint=f"Declare it for a status column of {base}, and return Skip for rows of "
            f"other classes: each item is a {base}, and only its {kind} says which it is. "
            "Or map the table once more, by itself.",
        )


def only_key(stage: Stage[Any, Any], mapper: Mapper[Any]) -> Column[Any]:
    """Return the model's key column; raise if it has several."""
    keys = mapper.primary_key
    if len(keys) != 1:
        raise InvalidStage(
            stage.name,
            f"{stage.model.__name__} has a key of {len(keys)} columns",
            hint="A queue needs a single-column primary key (uuid, integer or text).",
        )
    return cast("Column[Any]", keys[0])


def column_of(stage: Stage[Any, Any], attribute: Attribute) -> Column[Any]:
    """Return the table column behind a model attribute of this stage's model."""
    column = attribute.property.columns[0]
    if attribute.class_ is not stage.model or not isinstance(column, Column):
        raise InvalidStage(
            stage.name,
            f"{attribute} is not a column of {stage.model.__name__}",
            hint=f"Name a column of {stage.model.__name__}.",
        )
    return column


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """A column that claims are ordered by, and in which direction."""

    column: Column[Any]
    descending: bool = False


def order_terms(stage: Stage[Any, Any]) -> list[OrderTerm]:
    """Return the columns a stage's claims are ordered by; the key, if it names none."""
    wanted = stage.order_by
    if wanted is None:
        return [OrderTerm(only_key(stage, inspect(stage.model)))]
    return [order_term(stage, term) for term in terms_of(wanted)]


def terms_of(order: Order) -> Sequence[Term]:
    """Return the terms of an order, also where it is only one."""
    return order if isinstance(order, tuple | list) else (order,)


def order_term(stage: Stage[Any, Any], term: Term) -> OrderTerm:
    """Read one term of an order: a column, or its `.asc()` or `.desc()`."""
    descending = False
    element: Any = term
    if isinstance(element, UnaryExpression):
        if element.modifier not in {operators.asc_op, operators.desc_op}:
            raise InvalidStage(
                stage.name,
                f"claims cannot be ordered by {term}",
                hint="Order by columns, .asc() or .desc(), without NULLS FIRST or LAST.",
            )
        descending = element.modifier is operators.desc_op
        element = element.element
    name = getattr(element, "key", None)
    attribute = getattr(stage.model, name, None) if isinstance(name, str) else None
    if not isinstance(attribute, InstrumentedAttribute):
        raise InvalidStage(
            stage.name,
            f"{term} is not a column of {stage.model.__name__}",
            hint=f"Order by columns of {stage.model.__name__}.",
        )
    return OrderTerm(column_of(stage, attribute), descending)


def ordering_of(terms: list[OrderTerm], dialect: Dialect) -> tuple[str, ...]:
    """Write the terms of an ORDER BY; none where one ascending column is all of it."""
    if len(terms) == 1 and not terms[0].descending:
        return ()
    quote = dialect.identifier_preparer.format_column
    return tuple(
        f"{quote(term.column)}{' DESC' if term.descending else ''}" for term in terms
    )


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


def touched_column(mapper: Mapper[Any]) -> Column[Any] | None:
    """Return `updated_at` if the model says every update renews it."""
    column = mapper.columns.get("updated_at")
    if column is None or (column.onupdate is None and column.server_onupdate is None):
        return None
    return column
