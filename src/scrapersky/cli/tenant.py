"""`scrapersky tenant`."""

import sys
from typing import Any
from uuid import UUID

from cyclopts import App
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.api.account.people import TENANT_COLUMNS, add_tenant
from scrapersky.api.auth.credential import AnyRow
from scrapersky.cli.operator import HOME, operator
from scrapersky.cli.options import CARE, AsJson
from scrapersky.cli.table import PlainTable, print_json, print_table
from scrapersky.cli.up import say
from scrapersky.cli.user import on_database, tenant_named
from scrapersky.errors import InvalidUserChange
from scrapersky.privacy.tenant_deletion import count_rows
from scrapersky.privacy.tenant_deletion import delete_tenant as delete_everything
from scrapersky.records import Tenant
from scrapersky.records.audit import note
from scrapersky.stages import PIPELINE

tenant_commands = App(
    name="tenant",
    group=CARE,
    help="""\
Create, list and delete tenants, each with its own data.
""",
)


@tenant_commands.command(name="create")
def create_tenant(name: str, *, slug: str | None = None, json: AsJson = False) -> None:
    """Make a tenant: its data is invisible to every other.

    Parameters
    ----------
    name
        Its name.
    slug
        Its short name; without it, made out of the name.
    """

    async def act(engine: AsyncEngine) -> AnyRow:
        async with engine.begin() as connection:
            home = await tenant_named(connection, None)
            made = await add_tenant(connection, name=name, slug=slug)
            await note(
                connection,
                operator(home.id),
                "tenant.created",
                f"tenants/{made.id}",
                {"slug": made.slug},
            )
            return made

    made = on_database(act)
    if json:
        print_json({"id": made.id, "name": made.name, "slug": made.slug})
        return
    print(f"{made.name} is a tenant now; its short name is {made.slug}.")
    print(f"Next: scrapersky user create EMAIL --role admin --tenant {made.slug}")


@tenant_commands.command(name="list")
def list_tenants(*, json: AsJson = False) -> None:
    """List all tenants."""

    async def act(engine: AsyncEngine) -> Any:  # noqa: ANN401 - rows
        query = select(*TENANT_COLUMNS).order_by(Tenant.created_at, Tenant.id)
        async with engine.connect() as connection:
            return (await connection.execute(query)).all()

    rows = on_database(act) or ()
    if json:
        print_json([row._asdict() for row in rows])
        return
    table = PlainTable("short name", "name", "id", "suspended")
    for row in rows:
        table.add_row(row.slug, row.name, str(row.id), str(row.suspended_at or ""))
    print_table(table, whole=("short name", "id"))


@tenant_commands.command(name="delete")
def delete_tenant(
    slug: str, *, dry_run: bool = False, yes: bool = False, json: AsJson = False
) -> None:
    """Delete a tenant and everything it has.

    Beside running workers, in short steps; one that was stopped goes on where it was. It cannot
    be undone.

    Parameters
    ----------
    slug
        Its short name, as `scrapersky tenant list` prints it.
    dry_run
        Count what would be deleted, by table, and delete nothing.
    yes
        Do not ask.
    """
    if dry_run:
        counts = on_database(lambda engine: counted(engine, slug))
        if json:
            print_json(counts)
        else:
            show_counts(counts)
        return
    if not yes:
        confirm(slug)
    rows = on_database(lambda engine: deleted(engine, slug))
    if rows is None:
        print("Stopped; nobody of it is let in. The same command goes on.")
        return
    if json:
        print_json({"slug": slug, "rows": rows})
    else:
        print(f"{slug} is deleted: {rows:,} rows.")


async def counted(engine: AsyncEngine, slug: str) -> dict[str, int]:
    """Count what a tenant has, by table."""
    async with engine.connect() as connection:
        found, _ = await tenant_to_delete(connection, slug)
        return await count_rows(connection, found.id, PIPELINE)


async def deleted(engine: AsyncEngine, slug: str) -> int:
    """Delete a tenant; return how many rows it had."""
    async with engine.connect() as connection:
        found, home = await tenant_to_delete(connection, slug)
    done = await delete_everything(
        engine,
        found.id,
        operator(home),
        PIPELINE,
        lambda table, count: say(f"{table}: {count:,} rows deleted"),
    )
    return done.rows


async def tenant_to_delete(
    connection: AsyncConnection, slug: str
) -> tuple[AnyRow, UUID]:
    """Return a tenant that may be deleted, and the installation's own."""
    home = UUID(str(await connection.scalar(HOME)))
    found = await tenant_named(connection, slug)
    if found.id == home:
        raise InvalidUserChange(
            "The installation's own tenant cannot be deleted.",
            hint="To delete everything, drop the database.",
        )
    return found, home


def show_counts(counts: dict[str, int] | None) -> None:
    """Print what would be deleted."""
    table = PlainTable("table", "rows")
    for name, count in (counts or {}).items():
        table.add_row(name, f"{count:,}")
    print_table(table, whole=("table",))


def confirm(slug: str) -> None:
    """Have the short name typed again; refuse where nobody can be asked."""
    if not sys.stdin.isatty():
        raise InvalidUserChange(
            "Deleting a tenant cannot be undone.",
            hint="Look with --dry-run, then say --yes.",
        )
    print(f"Everything of {slug} will be deleted. This cannot be undone.")
    if input("Type its short name to go on: ").strip() != slug:
        raise InvalidUserChange("That is another name; nothing was deleted.")
