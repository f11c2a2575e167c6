"""Tables of records and their queues, as a revision adds them.

What is made here equals what `OwnedRecord`, `list_indexes` and `work_queue` declare; a test
compares them. A revision says every name itself: what it once made stays as it was.
"""

from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

from scrapersky.db.migrations.row_security import hide_stage, protect, show_stage
from scrapersky.db.migrations.steps import (
    add_column,
    add_index,
    add_word_index,
    commit,
    has_table,
)

ERROR_CHARACTERS: Final = 1024


def add_record_table(
    name: str, *columns: sa.Column[Any], status: str, words: Sequence[str] = ()
) -> None:
    """Create a table whose rows belong to tenants, with the indexes of its list.

    `status` is the column that people decide in, `words` are those that the list is
    searched by. Tenants see only their own rows.
    """
    if has_table(name):
        return
    every = (
        sa.Column("id", sa.Uuid, server_default=sa.func.time_ordered_uuid()),
        reference("tenant_id", "tenants", on_delete="CASCADE", nullable=False),
        *columns,
        reference("created_by", "users", on_delete="SET NULL"),
        moment("created_at"),
        moment("updated_at"),
    )
    for column in every:
        for key in column.foreign_keys:
            key.name = f"fk_{name}_{column.name}"
    op.create_table(name, *every, sa.PrimaryKeyConstraint("id", name=f"pk_{name}"))
    for suffix, leading in (("time", []), ("status", [status])):
        order = ["tenant_id", *leading, "updated_at", "id"]
        op.create_index(f"ix_{name}_by_{suffix}", name, order)
    op.execute(
        f"CREATE TRIGGER touch_updated_at BEFORE UPDATE ON {name} "
        "FOR EACH ROW EXECUTE FUNCTION touch_updated_at()"
    )
    protect(name)
    if words:
        add_word_index(name, words)
    commit()


def reference(
    column: str,
    table: str,
    *,
    on_delete: str,
    **options: Any,  # noqa: ANN401 - those of a column
) -> sa.Column[Any]:
    """Make a column that names a row of another table."""
    key = sa.ForeignKey(f"{table}.id", ondelete=on_delete)
    return sa.Column(column, sa.Uuid, key, **options)


def moment(column: str) -> sa.Column[Any]:
    """Make a column that holds when its row was written."""
    now = sa.func.clock_timestamp()
    kind = sa.DateTime(timezone=True)
    return sa.Column(column, kind, nullable=False, server_default=now)


def add_queue(
    stage: str,
    table: str,
    status: sa.Column[Any],
    *,
    error: str,
    queued: str,
    processing: str,
    priority: str | None = None,
) -> None:
    """Make a status column of a table a queue: the columns, their indexes, who sees it.

    Each tenant sees the claims, attempts and dead letters of its own rows.
    """
    add_column(table, status)
    add_column(table, sa.Column(error, sa.String(ERROR_CHARACTERS)))
    first = [sa.text(f"{priority} DESC NULLS LAST")] if priority else []
    add_index(
        f"{table}_{status.name}_queue",
        table,
        ["tenant_id", *first, "updated_at", "id"],
        postgresql_where=sa.text(f"{status.name} = '{queued}'"),
    )
    add_index(
        f"{table}_{status.name}_in_work",
        table,
        ["id"],
        postgresql_where=sa.text(f"{status.name} = '{processing}'"),
    )
    show_stage(stage, table)
    commit()


def drop_queue(stage: str, table: str, *columns: str) -> None:
    """Take a queue back, for a downgrade; its indexes go with its columns."""
    hide_stage(stage)
    for column in columns:
        op.drop_column(table, column)
