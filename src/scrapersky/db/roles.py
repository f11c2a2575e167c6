"""Rights of database users who own nothing: that of our processes, and that of reports.

The owner migrates. The user of the processes may change rows, of every tenant, and nothing else; a
reader may read records, of one tenant or of all. Row-level security stays on: a policy
lets each see what it may see, so nobody needs BYPASSRLS.
"""
# ruff: noqa: S608 - built from names of our own tables, and names that are quoted

import re
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import Connection, MetaData, text
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.db.migrations.row_security import CAN_SET
from scrapersky.db.migrations.row_security import ROLE as API_ROLE
from scrapersky.errors import DatabaseUnsuitable

POLICY: Final = "every row for "
"""How the policy is called under which a user sees all tenants; the user's name follows."""
MAX_PROBLEMS: Final = 5
"""Tables that a message names."""
PLAIN: Final = ("alembic_version", "version")
"""Tables that only a migration writes."""
API_ROLE_MADE: Final = f"""DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{API_ROLE}') THEN
    CREATE ROLE {API_ROLE} NOLOGIN;
  END IF;
  EXECUTE format('GRANT {API_ROLE} TO %I',
    (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()));
END $$;"""
"""Makes the role of the API, and lets the owner of the database take it on."""


def quote_name(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """Quote a text for SQL."""
    return "'" + value.replace("'", "''") + "'"


def administrators_part(app: str | None, reader: str | None) -> list[str]:
    """Write what only somebody who may make roles can run, once and before migrating.

    The owner of the database migrates, and need not be able to make the role of the API.
    """
    made = [f"CREATE ROLE {quote_name(name)} LOGIN;" for name in (app, reader) if name]
    return (
        [*made, API_ROLE_MADE, f"GRANT {API_ROLE} TO {quote_name(app)};"]
        if app
        else made
    )


def app_rights(app: str) -> list[str]:
    """Write what the owner grants to the user of our processes."""
    role, policy = quote_name(app), policy_of(app)
    return [
        f"GRANT USAGE ON SCHEMA public, curation TO {role};",
        f"""DO $$
DECLARE found record;
BEGIN
  FOR found IN SELECT c.oid::regclass AS name, relname, relkind, relrowsecurity AND NOT EXISTS
      (SELECT FROM pg_policy WHERE polrelid = c.oid AND polname = {literal(policy)}) AS hides
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE nspname IN ('public', 'curation') AND relkind IN ('r', 'p', 'S')
      AND pg_has_role(relowner, 'USAGE')
  LOOP
    EXECUTE format(CASE WHEN found.relkind = 'S' THEN 'GRANT USAGE ON SEQUENCE %s TO %s'
      WHEN found.relname IN ({", ".join(map(literal, PLAIN))}) THEN 'GRANT SELECT ON %s TO %s'
      ELSE 'GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO %s' END, found.name, {literal(role)});
    IF found.hides THEN
      EXECUTE format('CREATE POLICY %s ON %s TO %s USING (true) WITH CHECK (true)',
        {literal(quote_name(policy))}, found.name, {literal(role)});
    END IF;
  END LOOP;
END $$;""",
    ]


def reader_rights(
    reader: str, tables: Sequence[str], tenant: UUID | None = None
) -> list[str]:
    """Write what the owner grants to a user who only reads records."""
    role, policy = quote_name(reader), quote_name(f"read by {reader}"[:63])
    seen = "true" if tenant is None else f"tenant_id = '{tenant}'"
    return [
        f"GRANT USAGE ON SCHEMA public TO {role};",
        *(
            statement
            for table in tables
            for statement in (
                f"GRANT SELECT ON {table} TO {role};",
                f"DROP POLICY IF EXISTS {policy} ON {table};",
                f"CREATE POLICY {policy} ON {table} FOR SELECT TO {role} USING ({seen});",
            )
        ),
    ]


def policy_of(app: str) -> str:
    """Return what the policy of a user is called."""
    return f"{POLICY}{app}"[:63]


def renew_rights(connection: Connection) -> None:
    """Grant again to the users of our processes: a migration may have made tables."""
    for app in apps_of(connection):
        for statement in app_rights(app):
            connection.exec_driver_sql(statement)


def apps_of(connection: Connection) -> Sequence[str]:
    """Name the users of our processes that own nothing."""
    query = text(
        "SELECT rolname FROM pg_policy p JOIN pg_roles r ON r.oid = ANY(p.polroles)"
        " WHERE polrelid = to_regclass('tenants') AND starts_with(polname::text, :policy)"
    )
    return connection.scalars(query, {"policy": POLICY}).all()


def rights_granted(connection: Connection, tables: Sequence[str]) -> list[str]:
    """Write what grants again what users of this database were granted.

    Whoever drops the tables and makes them anew runs it afterwards.
    """
    found = [one for app in apps_of(connection) for one in app_rights(app)]
    for reader, seen in connection.execute(READERS, {"tables": list(tables)}):
        tenant = UUID_IN.search(seen)
        found += reader_rights(reader, tables, UUID(tenant[0]) if tenant else None)
    return found


READERS = text(
    "SELECT rolname, min(pg_get_expr(polqual, polrelid)) FROM pg_policy p"
    " JOIN pg_roles r ON r.oid = ANY(p.polroles) JOIN pg_class c ON c.oid = polrelid"
    " WHERE relname = ANY(:tables) AND polname = left('read by ' || rolname, 63)"
    " GROUP BY rolname ORDER BY rolname"
)
UUID_IN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

RIGHTS = text(
    f"""
    SELECT current_user AS me, pg_get_userbyid(relowner) AS owner, relname AS name,
      ARRAY(SELECT p FROM unnest(CAST(CASE WHEN relname = ANY(:plain) THEN '{{SELECT}}'
          ELSE '{{SELECT,INSERT,UPDATE,DELETE}}' END AS text[])) p
        WHERE NOT has_schema_privilege(n.oid, 'USAGE')
          OR NOT has_table_privilege(c.oid, p)) AS lacking,
      row_security_active(c.oid) AND NOT EXISTS (SELECT FROM pg_policy p WHERE polrelid = c.oid
        AND pg_get_expr(polqual, polrelid) = 'true'
        AND EXISTS (SELECT FROM unnest(polroles) r
          WHERE r = 0 OR pg_has_role(r, 'USAGE'))) AS hides,
      EXISTS (SELECT FROM pg_roles WHERE rolname = '{API_ROLE}'
        AND pg_has_role(current_user, oid, {CAN_SET})) AS acts
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE nspname || '.' || relname = ANY(:tables) ORDER BY relname
    """
)


async def check_rights(engine: AsyncEngine, *metadata: MetaData) -> None:
    """Raise DatabaseUnsuitable, with the cause, unless this user may do our work."""
    tables = [
        f"{table.schema or 'public'}.{table.name}"
        for part in metadata
        for table in part.sorted_tables
    ]
    async with engine.connect() as connection:
        given = {
            "tables": ["public.alembic_version", *tables],
            "plain": list(PLAIN),
        }
        rows = (await connection.execute(RIGHTS, given)).all()
    if not rows:
        return  # nothing is there yet, which is said elsewhere
    me, owner = rows[0].me, rows[0].owner
    fix = f"Connect as {owner}, or let {owner} run: scrapersky roles --app {me} --apply"
    if lacking := [row for row in rows if row.lacking]:
        asked = f"{', '.join(lacking[0].lacking)} on {lacking[0].name}"
        more = f" and rights on {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise DatabaseUnsuitable(
            f"The database user {me} lacks {asked}{more}: the tables belong to {owner}.",
            hint=fix,
        )
    if hidden := [row.name for row in rows if row.hides]:
        more = ", ..." if len(hidden) > MAX_PROBLEMS else ""
        raise DatabaseUnsuitable(
            f"Row-level security hides rows from the database user {me} "
            f"({', '.join(hidden[:MAX_PROBLEMS])}{more}): the tables belong to {owner}.",
            hint=fix,
        )
    if not rows[0].acts:
        raise DatabaseUnsuitable(
            f"The database user {me} may not take on the role {API_ROLE}, under which "
            "the API keeps tenants apart.",
            hint=f"Let an administrator run: GRANT {API_ROLE} TO {quote_name(me)};",
        )
