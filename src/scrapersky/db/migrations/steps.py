"""Change tables that hold rows so that nobody has to wait: what revisions call.

A database that is in use is migrated step by step. Each function here commits, and can be
repeated: an upgrade that was interrupted begins again at the revision it was in. So a
revision calls these first, and what can be done only once (a new table, a policy) comes last,
in the transaction that also records the revision.

A database that is only being made or restored is migrated in one transaction; there the same
functions do the same at once. `scrapersky upgrade --check` tries the revisions on samples of
the tables (`db/trial.py`) and reads from their statements what they would do to whom.
"""
# ruff: noqa: S608 - built only from the names of our own tables and columns

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from alembic import op
from sqlalchemy.exc import DBAPIError

Done = TypeVar("Done")

LOCK_TIMEOUT: Final = "500ms"
"""How long a step may wait for a table in use: meanwhile others queue behind it."""
LOCK_TRIES: Final = 120
RETRY_SECONDS: Final = 0.5
"""Seconds before a step that had to wait is tried again: others go first."""
BATCH_SECONDS: Final = 0.25
"""How long the rows of one batch should stay locked."""
MIN_BATCH_ROWS, MAX_BATCH_ROWS = 50, 20_000
IN_BATCHES: Final = "/* in batches */"
"""Marks a statement whose rows are changed some at a time."""
BUSY: Final = frozenset({"55P03", "40P01"})
"""The codes of PostgreSQL for a lock that was not got in time, and for a deadlock."""

KEEP_UPDATED_AT: Final = "SET LOCAL scrapersky.keep_updated_at = 'on'"
TOUCH_UPDATED_AT: Final = """
CREATE OR REPLACE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('scrapersky.keep_updated_at', true) = 'on' THEN
        RETURN NEW;
    END IF;
    NEW.updated_at := clock_timestamp();
    RETURN NEW;
END $$
"""
INVALID: Final = sa.text(
    "SELECT indrelid::regclass::text FROM pg_index"
    " WHERE indexrelid = to_regclass(:name) AND NOT indisvalid"
)

WORD_OPERATORS: Final = "gin_trgm_ops"
HAS_OPERATORS: Final = sa.text(
    "SELECT true FROM pg_opclass WHERE opcname = :name AND pg_opclass_is_visible(oid)"
)


def is_stepwise() -> bool:
    """Say whether others use the database while it is migrated."""
    return bool(op.get_context().opts.get("stepwise"))


def is_trial() -> bool:
    """Say whether this is only tried, on samples of the tables."""
    return bool(op.get_context().opts.get("trial"))


def begin(connection: sa.Connection) -> None:
    """Begin a step: it gives way to whoever uses what it needs."""
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")


def commit() -> None:
    """Make what was done so far lasting, and let go of its locks."""
    if is_stepwise():
        op.get_bind().commit()
        begin(op.get_bind())
    elif is_trial():
        op.get_context().opts["trial"].end_step()


def is_busy(error: DBAPIError) -> bool:
    """Say whether a statement gave way to others, and may be tried again."""
    return getattr(error.orig, "sqlstate", None) in BUSY


def add_column(table: str, column: sa.Column[Any]) -> None:
    """Add a column; with a default, it must be one value for all rows (or all are rewritten)."""
    op.add_column(table, column, if_not_exists=True)
    commit()


def add_index(
    name: str,
    table: str,
    columns: Sequence[str | sa.TextClause | sa.ColumnElement[Any]],
    **options: Any,  # noqa: ANN401 - those of op.create_index
) -> None:
    """Build an index beside those who read and write; what an interruption left is dropped."""
    if is_stepwise():
        drop_invalid(f"{options['schema']}.{name}" if "schema" in options else name)
    with outside_transaction():
        op.create_index(
            name,
            table,
            columns,
            if_not_exists=True,
            postgresql_concurrently=is_stepwise() or is_trial(),
            **options,
        )


def add_word_index(table: str, columns: Sequence[str]) -> None:
    """Let a list be searched by words, where the server has what such an index needs."""
    if not op.get_bind().scalar(HAS_OPERATORS, {"name": WORD_OPERATORS}):
        return
    add_index(
        f"ix_{table}_words",
        table,
        list(columns),
        postgresql_using="gin",
        postgresql_ops=dict.fromkeys(columns, WORD_OPERATORS),
    )


def drop_invalid(name: str) -> None:
    """Drop an index whose building was interrupted."""
    connection = op.get_bind()
    table = connection.scalar(INVALID, {"name": name})
    if table is None:
        return
    # The server may still be building for a client that is gone: its lock is waited for.
    connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
    connection.exec_driver_sql(f"LOCK TABLE {table} IN SHARE UPDATE EXCLUSIVE MODE")
    commit()
    if connection.scalar(INVALID, {"name": name}) is None:
        return
    with outside_transaction():
        connection.exec_driver_sql(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


def drop_index(name: str, table: str) -> None:
    """Drop an index if it is there."""
    op.drop_index(name, table, if_exists=True)
    commit()


def add_unique(name: str, table: str, columns: Sequence[str]) -> None:
    """Add a unique constraint: its index is built first, beside everybody."""
    if has_constraint(name, table):
        return
    add_index(name, table, columns, unique=True)
    op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} UNIQUE USING INDEX {name}")
    commit()


def add_check(name: str, table: str, condition: str) -> None:
    """Add a check, or replace the one of this name; old rows are checked afterwards."""
    op.execute(
        f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}, "
        f"ADD CONSTRAINT {name} CHECK ({condition}) NOT VALID"
    )
    commit()
    op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")
    commit()


def set_not_null(table: str, column: str) -> None:
    """Forbid NULL; that no row has it is proved by a check, and not under a lock."""
    proof = f"{table}_{column}_is_given"
    add_check(proof, table, f"{column} IS NOT NULL")
    op.execute(
        f"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL, "
        f"DROP CONSTRAINT {proof}"
    )
    commit()


def derive(table: str, column: str, expression: str, *, source: str) -> None:
    """Let a trigger write a column whenever its source is written.

    A stored generated column would be the same, but adding one rewrites the table under a
    lock. The expression calls the row NEW. Rows that are there already are filled by `fill`.
    """
    op.execute(
        f"CREATE OR REPLACE FUNCTION derive_{table}_{column}() RETURNS trigger "
        f"LANGUAGE plpgsql AS $$ BEGIN NEW.{column} := {expression}; RETURN NEW; END $$"
    )
    op.execute(
        f"CREATE OR REPLACE TRIGGER derive_{column} "
        f"BEFORE INSERT OR UPDATE OF {source}, {column} ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION derive_{table}_{column}()"
    )


def underive(table: str, column: str) -> None:
    """Take back what `derive` did, for a downgrade."""
    op.execute(f"DROP TRIGGER IF EXISTS derive_{column} ON {table}")
    op.execute(f"DROP FUNCTION IF EXISTS derive_{table}_{column}")


def fill(table: str, changes: str, where: str, *, key: str = "id") -> None:
    """Change rows that lack something, in batches; when they were last changed is kept."""
    op.execute(TOUCH_UPDATED_AT)
    commit()

    def change(part: str, bounds: Mapping[str, object]) -> None:
        connection = op.get_bind()
        connection.exec_driver_sql(KEEP_UPDATED_AT)
        connection.execute(
            sa.text(
                f"UPDATE {IN_BATCHES} {table} SET {changes} WHERE ({where}) AND {part}"
            ),
            dict(bounds),
        )
        connection.exec_driver_sql("SET LOCAL scrapersky.keep_updated_at = 'off'")

    for_each_batch(table, change, key=key)


def for_each_batch(
    table: str,
    change: Callable[[str, Mapping[str, object]], None],
    *,
    key: str = "id",
) -> None:
    """Call with a condition that picks some rows by their key, until all had their turn.

    Each batch is committed; how many rows it has depends on how long the last one took.
    """
    if not is_stepwise():
        change("true", {})
        commit()
        return
    progress = StepProgress(table)
    after: object = None
    size = MIN_BATCH_ROWS
    while True:
        began = time.monotonic()
        upto = in_turn(partial(bound, table, key, after, size))
        bounds = {"after": after, "upto": upto}
        given = {name: value for name, value in bounds.items() if value is not None}
        limits = {"after": f"{key} > :after", "upto": f"{key} <= :upto"}
        part = " AND ".join(limits[name] for name in given) or "true"
        in_turn(partial(change, part, given))
        if upto is None:
            return
        progress.add(size)
        after = upto
        size = next_size(size, time.monotonic() - began)


def bound(table: str, key: str, after: object, size: int) -> object:
    """Return the key that ends a batch; None if there are fewer rows than that."""
    where, given = (f"WHERE {key} > :after", {"after": after}) if after else ("", {})
    query = f"SELECT {key} FROM {table} {where} ORDER BY {key} OFFSET {size} LIMIT 1"
    return op.get_bind().scalar(sa.text(query), given)


def next_size(size: int, seconds: float) -> int:
    """Choose how many rows the next batch has, by how long the last one took."""
    wanted = size * BATCH_SECONDS / max(seconds, BATCH_SECONDS / 2)
    return max(MIN_BATCH_ROWS, min(MAX_BATCH_ROWS, int(wanted)))


def in_turn(step: Callable[[], Done]) -> Done:
    """Do and commit a step that can be repeated, again while others are in its way."""
    for _ in range(LOCK_TRIES):
        try:
            done = step()
            commit()
        except DBAPIError as error:
            if not is_stepwise() or not is_busy(error):
                raise
            op.get_bind().rollback()
            time.sleep(RETRY_SECONDS)
            begin(op.get_bind())
        else:
            return done
    return step()


@contextmanager
def outside_transaction() -> Iterator[None]:
    """Run statements that PostgreSQL refuses within a transaction."""
    if not is_stepwise():
        yield
        commit()
        return
    connection = op.get_bind()
    connection.commit()
    connection.execution_options(isolation_level="AUTOCOMMIT")
    try:
        yield
    finally:
        connection.rollback()
        connection.execution_options(isolation_level="READ COMMITTED")
        begin(connection)


def has_constraint(name: str, table: str) -> bool:
    """Say whether a table has a constraint."""
    query = sa.text(
        "SELECT true FROM pg_constraint"
        " WHERE conname = :name AND conrelid = to_regclass(:table)"
    )
    return bool(op.get_bind().scalar(query, {"name": name, "table": table}))


def has_table(name: str) -> bool:
    """Say whether an earlier try of this revision made a table."""
    query = sa.text("SELECT to_regclass(:name) IS NOT NULL")
    return bool(op.get_bind().scalar(query, {"name": name}))


class StepProgress:
    """Tells now and then how far a long step is."""

    EVERY: Final = 5.0

    def __init__(self, table: str) -> None:
        self.table = table
        self.rows = 0
        self.said = time.monotonic()
        query = sa.text("SELECT reltuples FROM pg_class WHERE oid = to_regclass(:name)")
        self.total = op.get_bind().scalar(query, {"name": table}) or 0

    def add(self, rows: int) -> None:
        """Count rows that are done."""
        self.rows += rows
        report = op.get_context().opts.get("report")
        if report and time.monotonic() - self.said > self.EVERY:
            self.said = time.monotonic()
            total = f" of about {int(self.total):,}" if self.total > 0 else ""
            report(f"{self.table}: {self.rows:,}{total} rows looked through")
