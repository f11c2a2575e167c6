"""`scrapersky tenant delete`."""

import sys
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from scrapersky.api.auth.credential import AnyRow
from scrapersky.cli.operator import HOME, operator
from scrapersky.cli.table import PlainTable, print_table
from scrapersky.cli.up import say
from scrapersky.cli.user import on_database, tenant_named
from scrapersky.errors import InvalidUserChange
from scrapersky.privacy.tenant_deletion import count_rows
from scrapersky.privacy.tenant_deletion import delete_tenant as delete_everything
from scrapersky.stages import PIPELINE


def delete_tenant(slug: str, *, dry_run: bool = False, yes: bool = False) -> None:
    """Delete a tenant and everything it has, or count what that would be."""
    if dry_run:
        show_counts(on_database(lambda engine: counted(engine, slug)))
        return
    if not yes:
        confirm(slug)
    rows = on_database(lambda engine: deleted(engine, slug))
    if rows is None:
        print("Stopped; nobody of it is let in. The same command goes on.")
        return
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
