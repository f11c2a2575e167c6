"""Write changes of a table to the change log: what a revision calls for a kind of record.

A trigger for each statement compares the rows before and after it, and writes one entry for each
row that changed, in the transaction that changed it. The columns are compared by name, so a
revision that adds or drops one calls `log_changes` again.
"""

import sqlalchemy as sa
from alembic import op

UNLOGGED = frozenset({"tenant_id", "created_at", "updated_at", "raw"})
"""Columns whose change says nothing: the same for all, set by the database, or shown to nobody."""
EVENTS = ("INSERT", "UPDATE", "DELETE")
COLUMNS = sa.text(
    "SELECT attname FROM pg_attribute a WHERE attrelid = to_regclass(:table)"
    " AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND NOT EXISTS ("
    " SELECT FROM pg_trigger WHERE tgrelid = a.attrelid AND tgname = 'derive_' || attname)"
    " ORDER BY attnum"
)
# One number for all entries of a transaction, however its parts are nested.
TRANSACTION = (
    "pg_current_xact_id()::text::bigint"
    " + (SELECT shift FROM change_epochs ORDER BY id DESC LIMIT 1)"
)
ACTOR = """coalesce(nullif(current_setting('scrapersky.actor', true), ''),
    'stage:' || nullif(current_setting('curation.stage', true), ''),
    current_setting('application_name'))"""
ENTRY = f"""INSERT INTO record_changes
      (tenant_id, transaction_id, kind, record_id, event, fields, actor, action_id)
    SELECT {{row}}.tenant_id, (SELECT {TRANSACTION}), '{{kind}}', {{row}}.{{key}},
      {{event}}, {{fields}}, (SELECT {ACTOR}),
      (SELECT nullif(current_setting('scrapersky.action', true), '')::uuid)
    FROM {{rows}}"""  # noqa: S608 - our own words
"""A sub-select is evaluated once for a statement, and not for every row."""
REMOVAL = """(SELECT coalesce(nullif(current_setting('scrapersky.removal', true), ''),
        'removed'))"""
"""Why rows go, where whoever deletes them has said so."""
SHARED_FUNCTIONS = tuple(
    f"CREATE FUNCTION {name}() RETURNS {kind} STABLE LANGUAGE sql AS $$ SELECT {value} $$"
    for name, kind, value in (
        ("change_transaction", "bigint", TRANSACTION),
        ("change_actor", "text", ACTOR),
    )
)
"""For entries that are written by a statement of ours."""


def logged_columns(connection: sa.Connection, table: str, key: str = "id") -> list[str]:
    """Name the columns whose change is logged, as the table is now."""
    found = connection.scalars(COLUMNS, {"table": table})
    return [column for column in found if column not in UNLOGGED | {key}]


def log_changes(
    table: str, kind: str, *, key: str = "id", events: tuple[str, ...] = EVENTS
) -> None:
    """Log what happens to the rows of a table, as a kind of record.

    What a migration fills in is no change: where `updated_at` is kept, nothing is logged.
    """
    columns = logged_columns(op.get_bind(), table, key)
    # A session plans the function for the first statement that calls it. Planned for one row,
    # it would compare each of the next thousand with all of them.
    op.execute(
        f"CREATE OR REPLACE FUNCTION {function_of(table)}() RETURNS trigger"
        " LANGUAGE plpgsql SET enable_nestloop = off"
        f" AS $$\n{body(kind, key, columns)}\n$$"
    )
    for event in events:
        seen = {
            "INSERT": "NEW TABLE AS new_rows",
            "UPDATE": "OLD TABLE AS old_rows NEW TABLE AS new_rows",
            "DELETE": "OLD TABLE AS old_rows",
        }[event]
        op.execute(
            f"CREATE OR REPLACE TRIGGER log_{event.lower()} AFTER {event} ON {table}"
            f" REFERENCING {seen} FOR EACH STATEMENT"
            f" EXECUTE FUNCTION {function_of(table)}()"
        )


def stop_logging(table: str) -> None:
    """Take back what `log_changes` did, for a downgrade."""
    for event in EVENTS:
        op.execute(f"DROP TRIGGER IF EXISTS log_{event.lower()} ON {table}")
    op.execute(f"DROP FUNCTION IF EXISTS {function_of(table)}")


def function_of(table: str) -> str:
    """Return the name of the function that logs changes of a table."""
    return f"log_{table}_changes"


def body(kind: str, key: str, columns: list[str]) -> str:
    """Write the function: what is the same in both rows is left out."""
    compared = ", ".join(
        f"CASE WHEN n.{one} IS DISTINCT FROM o.{one} THEN '{one}' END"
        for one in columns
    )
    changed = (
        f"new_rows n JOIN old_rows o USING ({key}), LATERAL"
        f" (SELECT array_remove(ARRAY[{compared}], NULL) AS fields) c"
        " WHERE c.fields <> '{}'"
    )
    entries = {
        "INSERT": ENTRY.format(
            row="n",
            kind=kind,
            key=key,
            event="'created'",
            fields="'{}'",
            rows="new_rows n",
        ),
        "UPDATE": ENTRY.format(
            row="n",
            kind=kind,
            key=key,
            event="'changed'",
            fields="c.fields",
            rows=changed,
        ),
        "DELETE": ENTRY.format(
            row="o",
            kind=kind,
            key=key,
            event=REMOVAL,
            fields="'{}'",
            rows="old_rows o",
        ),
    }
    choices = "\n  ELSIF ".join(
        f"TG_OP = '{event}' THEN\n    {entry};" for event, entry in entries.items()
    )
    return f"""BEGIN
  IF current_setting('scrapersky.keep_updated_at', true) = 'on' THEN
    RETURN NULL;
  END IF;
  IF {choices}
  END IF;
  RETURN NULL;
END"""
