"""Keep tenants apart in the database: what every revision with a new table calls.

The API works under the role `scrapersky_api`, which sees of a table only the rows of
the tenant that the transaction names in `scrapersky.tenant_id`, and none without.
"""
# ruff: noqa: S608 - built only from the names of our own tables

from alembic import op
from sqlalchemy import text

from scrapersky.errors import DatabaseUnsuitable

ROLE = "scrapersky_api"
ITEM_TABLES = ("claim", "attempt", "dead_letter")
"""The tables of the SDK that hold what happens to items."""

TENANT = "(SELECT nullif(current_setting('scrapersky.tenant_id', true), '')::uuid)"
"""The tenant of the transaction; without one it is NULL, which equals nothing.

A sub-select is evaluated once for a statement, and not for every row.
"""

FOREIGN_KEYS = """
    SELECT a.attname AS column_name, f.confrelid::regclass::text AS target,
      b.attname AS target_column
    FROM pg_constraint f
    JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]
    JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = f.confkey[1]
    WHERE f.contype = 'f' AND f.conrelid = CAST(:name AS regclass)
      AND f.confrelid <> f.conrelid AND cardinality(f.conkey) = 1
      AND f.confrelid NOT IN ('tenants'::regclass, 'users'::regclass)
      AND EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = f.confrelid
        AND t.attname = 'tenant_id')
    ORDER BY f.conname
"""


def protect(*tables: str) -> None:
    """Show the API of each table the tenant's rows only, and let it change those.

    The table has a column `tenant_id`. A row may refer to no row of another tenant:
    foreign keys are checked by the owner of the table, who sees everything, so the
    policy asks again with the eyes of the tenant.
    """
    for table in tables:
        mine = f"tenant_id = {TENANT}"
        checks = [mine, *references(table)]
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
        op.execute(
            f"CREATE POLICY tenant ON {table} TO {ROLE} "
            f"USING ({mine}) WITH CHECK ({' AND '.join(checks)})"
        )
        op.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {ROLE}")


def close(*tables: str) -> None:
    """Show the API nothing of tables that belong to no tenant."""
    for table in tables:
        op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")


def open_again(*tables: str) -> None:
    """Take the protection of tables back, for a downgrade."""
    for table in tables:
        op.execute(f"DROP POLICY IF EXISTS tenant ON {table}")
        op.execute(f"REVOKE ALL ON {table} FROM {ROLE}")
        op.execute(f"ALTER TABLE {table} DISABLE ROW LEVEL SECURITY")


def show_stage(stage: str, table: str) -> None:
    """Show the API of a new stage's claims, attempts and dead letters what is the tenant's."""
    hide_stage(stage)
    for name in ITEM_TABLES:
        mine = f"EXISTS (SELECT FROM {table} WHERE {table}.id = {name}.item::uuid)"
        op.execute(
            f"CREATE POLICY tenant_{stage} ON curation.{name} TO {ROLE} "
            f"USING (CASE {name}.stage WHEN '{stage}' THEN {mine} ELSE false END)"
        )


def hide_stage(stage: str) -> None:
    """Take back what `show_stage` did."""
    for name in ITEM_TABLES:
        op.execute(f"DROP POLICY IF EXISTS tenant_{stage} ON curation.{name}")


def references(table: str) -> list[str]:
    """Write the checks that what a row refers to is the tenant's own."""
    rows = op.get_bind().execute(text(FOREIGN_KEYS), {"name": table})
    return [
        f"({table}.{row.column_name} IS NULL OR EXISTS (SELECT FROM {row.target} "
        f"WHERE {row.target}.{row.target_column} = {table}.{row.column_name}))"
        for row in rows
    ]


def make_role() -> None:
    """Create the API's role unless the server has it, and let this user take it on.

    A role belongs to the whole server, where other databases may be migrating at the
    same moment: whoever comes second finds it made.
    """
    connection = op.get_bind()
    connection.execute(text(MAKE_ROLE))
    state = connection.execute(text(CAN_TAKE_ON), {"role": ROLE}).one()
    if state.may:
        return
    raise DatabaseUnsuitable(
        f"The database user {state.name} may not create or take on the role {ROLE}, "
        "under which the API keeps tenants apart.",
        hint=f"Let an administrator run: CREATE ROLE {ROLE} NOLOGIN; "
        f'GRANT {ROLE} TO "{state.name}"; and then start again.',
    )


CAN_SET = """CASE WHEN current_setting('server_version_num')::int >= 160000
    THEN 'SET' ELSE 'MEMBER' END"""
"""The right to take a role on; servers before 16 know only members."""

MAKE_ROLE = f"""
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
    BEGIN
      CREATE ROLE {ROLE} NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation OR insufficient_privilege THEN
      NULL;
    END;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}'
      AND NOT pg_has_role(current_user, oid, {CAN_SET})) THEN
    BEGIN
      EXECUTE format('GRANT {ROLE} TO %I', current_user);
    EXCEPTION WHEN insufficient_privilege OR unique_violation OR internal_error THEN
      NULL;
    END;
  END IF;
END $$
"""

CAN_TAKE_ON = f"""
SELECT current_user AS name, EXISTS (SELECT FROM pg_roles
  WHERE rolname = :role AND pg_has_role(current_user, oid, {CAN_SET})) AS may
"""
