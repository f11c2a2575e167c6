"""`scrapersky bi`."""

from typing import Annotated, Any

from cyclopts import App, Parameter
from sqlalchemy.ext.asyncio import AsyncEngine

from scrapersky.cli.operator import operator
from scrapersky.cli.options import CARE, AsJson, TenantName
from scrapersky.cli.table import PlainTable, print_done, print_json, print_table
from scrapersky.cli.user import on_database, tenant_named
from scrapersky.db.reporting import grant_reading, list_readers, revoke_reading
from scrapersky.errors import InvalidUserChange
from scrapersky.records.audit import note

bi_commands = App(
    name="bi",
    group=CARE,
    help="""\
Let BI tools read a tenant's records in the database: list, grant and revoke.
""",
)
Reader = Annotated[str, Parameter(help="The database user that the tool connects as.")]
MAX_NAME = 63


@bi_commands.command(name="list")
def list_all(*, json: AsJson = False) -> None:
    """List the database users that read records, and of which tenant."""

    async def act(engine: AsyncEngine) -> list[dict[str, Any]]:
        async with engine.connect() as connection:
            return await list_readers(connection)

    found = on_database(act)
    if json:
        print_json(found)
        return
    table = PlainTable("user", "tenant", "since")
    for one in found:
        table.add_row(one["name"], one["tenant"] or "", str(one["created_at"]))
    print_table(table, whole=("user", "tenant"))


@bi_commands.command(name="grant")
def grant(name: Reader, *, tenant: TenantName = None, json: AsJson = False) -> None:
    """Let a database user read the views of `reporting`: one tenant's records, and nothing else.

    A user that is not there is made; its password is printed once.
    """
    if not 0 < len(name.encode()) <= MAX_NAME:
        raise InvalidUserChange(f"A database user has a name of 1 to {MAX_NAME} bytes.")

    async def act(engine: AsyncEngine) -> dict[str, Any]:
        async with engine.begin() as connection:
            place = await tenant_named(connection, tenant)
            password = await grant_reading(connection, name, place.id)
            about = {"reader": name}
            actor = operator(place.id)
            await note(connection, actor, "reporting.granted", "reporting", about)
            return {"user": name, "tenant": place.slug, "password": password}

    made = on_database(act)
    if json:
        print_json(made)
        return
    print(f"{name} can read the schema reporting: the records of {made['tenant']}.")
    if made["password"]:
        print(f"Password (shown once): {made['password']}")


@bi_commands.command(name="revoke")
def revoke(name: Reader, *, json: AsJson = False) -> None:
    """Show a database user nothing any more."""

    async def act(engine: AsyncEngine) -> bool:
        async with engine.begin() as connection:
            was_reader = await revoke_reading(connection, name)
            place = await tenant_named(connection, None)
            about = {"reader": name}
            actor = operator(place.id)
            await note(connection, actor, "reporting.revoked", "reporting", about)
            return was_reader

    if not on_database(act):
        raise InvalidUserChange(
            f"{name} reads nothing.", hint="`scrapersky bi list` says who does."
        )
    print_done(f"{name} can read nothing any more.", {"user": name}, as_json=json)
