"""What BI tools read: views in the schema `reporting`, each reader's tenant and nothing else.

A reader has no right to any table. The views belong to the owner of the tables, show chosen
columns, and choose the rows themselves: by the role that asks, so nothing that a reader can set
shows it another tenant.
"""
# ruff: noqa: S608 - built from our own words, and names that are quoted

import secrets
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from scrapersky.db.connection import sqlstate_of
from scrapersky.db.migrations.row_security import ROLE as API_ROLE
from scrapersky.db.roles import literal, quote_name
from scrapersky.errors import DatabaseUnsuitable

SCHEMA: Final = "reporting"
PASSWORD_BYTES: Final = 24
NO_RIGHT: Final = "42501"
MOST_CONNECTIONS: Final = 5
"""Of a reader that is made here: dashboards share them, and leave the others to our processes."""
MADE_SCHEMA: Final = f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"
MADE_READERS: Final = (
    f"CREATE TABLE IF NOT EXISTS {SCHEMA}.readers (role name PRIMARY KEY, tenant_id uuid"
    " NOT NULL, created_at timestamptz NOT NULL DEFAULT clock_timestamp())"
)
MINE: Final = (
    f"tenant_id = (SELECT r.tenant_id FROM {SCHEMA}.readers r"
    " WHERE r.role = current_user::name)"
)
STOPPED_STATUS: Final = "Do Not Contact"
"""The label of the records' `LeadStatus`, which stands above this package; a test compares them."""
STOPPED: Final = f"k.lead_status = {literal(STOPPED_STATUS)}"
VIEWS: Final[Mapping[str, str]] = {
    "companies": f"""SELECT c.id, c.name, c.categories, c.street, c.city, c.region,
      c.postal_code, c.country, c.latitude, c.longitude, c.phone, c.website, d.domain,
      e.email, p.name AS decision_maker, p.role AS decision_maker_role, c.rating,
      c.reviews_count, c.confidence, c.lead_status::text AS status, c.tags, c.follow_up_on,
      c.first_seen_at, c.seen_at AS last_seen_at, c.updated_at
    FROM public.companies c LEFT JOIN public.domains d ON d.id = c.domain_id
    LEFT JOIN public.contacts e ON e.id = c.email_contact_id
    LEFT JOIN public.people p ON p.id = c.decision_maker_id
    WHERE c.{MINE} AND NOT EXISTS (SELECT FROM public.companies k
      WHERE k.tenant_id = c.tenant_id AND {STOPPED} AND (k.id = c.id
        OR k.domain_id = c.domain_id OR k.phone = c.phone
        OR k.email_contact_id = c.email_contact_id))""",
    "contacts": f"""SELECT c.id, d.domain, c.email, c.email_type::text AS email_type, c.name,
      c.role, c.phone, c.deliverability::text AS deliverability, c.confidence,
      c.contact_curation_status::text AS status, c.tags, c.created_at, c.updated_at
    FROM public.contacts c JOIN public.domains d ON d.id = c.domain_id
    WHERE c.{MINE} AND NOT EXISTS (SELECT FROM public.companies k
      WHERE k.tenant_id = c.tenant_id AND {STOPPED} AND (k.domain_id = c.domain_id
        OR k.email_contact_id = c.id OR k.phone = c.phone))""",
    "people": f"""SELECT c.id, d.domain, c.name, c.role, c.seniority::text AS seniority,
      c.email, c.phone, c.confidence, c.created_at, c.updated_at
    FROM public.people c JOIN public.domains d ON d.id = c.domain_id
    WHERE c.{MINE} AND NOT EXISTS (SELECT FROM public.companies k
      WHERE k.tenant_id = c.tenant_id AND {STOPPED} AND (k.domain_id = c.domain_id
        OR k.decision_maker_id = c.id OR k.phone = c.phone))""",
    "searches": f"""SELECT c.id, c.business_type, c.location, c.source,
      c.status::text AS status, c.found_count AS found, c.new_count AS new, c.spent,
      c.created_at, c.finished_at, c.followed_at
    FROM public.place_searches c WHERE c.{MINE}""",
}
"""Who must not be contacted is in none, as in no file. Erased and suppressed rows are deleted."""
# Everybody who can log in may make temporary tables, hold any advisory lock and store large
# objects: enough to stop our processes, or to fill the disk. The API's role keeps the locks, and
# with it the owner and the users of our processes, who are its members.
KEEP_TO_OURSELVES: Final = f"""DO $$
DECLARE found regprocedure;
BEGIN
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  IF (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    FOR found IN SELECT oid FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace
      AND proname ~ '^(pg_(try_)?advisory_|lo_(creat|create|from_bytea|put)$)'
    LOOP
      EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', found);
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO {API_ROLE}', found);
    END LOOP;
  END IF;
END $$"""
HAS_SCHEMA: Final = text("SELECT to_regclass('reporting.readers') IS NOT NULL")
READERS: Final = text("SELECT role FROM reporting.readers ORDER BY role")


def drop_views(connection: Connection) -> None:
    """Drop the views before tables change; whoever has changed them makes the views again."""
    if connection.scalar(HAS_SCHEMA):
        for name in VIEWS:
            connection.exec_driver_sql(f"DROP VIEW IF EXISTS {SCHEMA}.{name}")


def renew_views(connection: Connection) -> None:
    """Make the views anew for those who read them, if anyone does."""
    if connection.scalar(HAS_SCHEMA):
        for statement in view_statements(connection.scalars(READERS).all()):
            connection.exec_driver_sql(statement)


def view_statements(readers: Any) -> list[str]:  # noqa: ANN401 - names
    """Write what makes the views, and lets readers read them."""
    found: list[str] = []
    for name, query in VIEWS.items():
        # The barrier: no function of a reader's query sees a row before the view chose it.
        found.append(
            f"CREATE OR REPLACE VIEW {SCHEMA}.{name} WITH (security_barrier) AS {query}"
        )
        found += [
            f"GRANT SELECT ON {SCHEMA}.{name} TO {quote_name(one)}" for one in readers
        ]
    return found


async def grant_reading(
    connection: AsyncConnection, role: str, tenant_id: UUID
) -> str | None:
    """Let a database user read a tenant's records; return the password if it was made now.

    Raises DatabaseUnsuitable if this user may not make users, or does not own the tables.
    """
    known = text("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = :role")
    is_mighty = await connection.scalar(known, {"role": role})
    if is_mighty:
        raise DatabaseUnsuitable(
            f"The database user {role} sees every row whatever it is granted.",
            hint="Choose another name.",
        )
    password = secrets.token_urlsafe(PASSWORD_BYTES) if is_mighty is None else None
    statements = [MADE_SCHEMA, MADE_READERS, KEEP_TO_OURSELVES]
    if password:
        statements.append(
            f"CREATE ROLE {quote_name(role)} LOGIN CONNECTION LIMIT {MOST_CONNECTIONS}"
            f" PASSWORD {literal(password)}"
        )
        statements += [
            f"ALTER ROLE {quote_name(role)} SET {setting}"
            for setting in (
                "default_transaction_read_only = on",
                "statement_timeout = '60s'",
                "idle_in_transaction_session_timeout = '60s'",
                f"search_path = {SCHEMA}",
            )
        ]
    statements.append(f"GRANT USAGE ON SCHEMA {SCHEMA} TO {quote_name(role)}")
    statements += view_statements([role])
    try:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    except DBAPIError as error:
        if sqlstate_of(error) != NO_RIGHT:
            raise
        raise DatabaseUnsuitable(
            f"The user of DATABASE_URL may not grant this to {role}.",
            hint=f"Let an administrator run: CREATE ROLE {quote_name(role)} LOGIN; give it a "
            "password, and run this again as the owner of the tables.",
        ) from error
    entry = text(
        f"INSERT INTO {SCHEMA}.readers (role, tenant_id) VALUES (:role, :tenant)"
        " ON CONFLICT (role) DO UPDATE SET tenant_id = excluded.tenant_id"
    )
    await connection.execute(entry, {"role": role, "tenant": tenant_id})
    return password


async def revoke_reading(connection: AsyncConnection, role: str) -> bool:
    """Show a database user nothing any more; return whether it was shown anything."""
    if not await connection.scalar(HAS_SCHEMA):
        return False
    gone = text(f"DELETE FROM {SCHEMA}.readers WHERE role = :role RETURNING role")
    if await connection.scalar(gone, {"role": role}) is None:
        return False
    for statement in (
        f"REVOKE ALL ON ALL TABLES IN SCHEMA {SCHEMA} FROM {quote_name(role)}",
        f"REVOKE ALL ON SCHEMA {SCHEMA} FROM {quote_name(role)}",
    ):
        await connection.exec_driver_sql(statement)
    return True


async def list_readers(connection: AsyncConnection) -> list[dict[str, Any]]:
    """List who reads, and whose records."""
    if not await connection.scalar(HAS_SCHEMA):
        return []
    query = text(
        "SELECT r.role::text AS name, t.slug AS tenant, r.created_at"
        f" FROM {SCHEMA}.readers r LEFT JOIN tenants t ON t.id = r.tenant_id ORDER BY 1"
    )
    return [row._asdict() for row in await connection.execute(query)]
