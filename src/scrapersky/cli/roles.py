"""`scrapersky roles`."""

from uuid import UUID

from sqlalchemy.exc import DBAPIError

from scrapersky.cli.database import a_database
from scrapersky.cli.signals import raised_signals, run_stoppable
from scrapersky.configuration import load_settings
from scrapersky.db.connection import Target, connect, driver_error
from scrapersky.db.roles import administrators_part, app_rights, reader_rights
from scrapersky.errors import DatabaseUnsuitable
from scrapersky.records import KINDS


def roles(
    *,
    app: str | None = None,
    reader: str | None = None,
    tenant: UUID | None = None,
    apply: bool = False,
) -> None:
    """Print the SQL for database users who own nothing: our processes, and reports.

    The owner of the tables migrates; the API and the workers can connect as a user who may change
    rows and nothing else, reports as one who may read records. Neither needs to be a superuser or
    to bypass row-level security. Without names it is printed for `scrapersky_app` and
    `scrapersky_reader`.

    Parameters
    ----------
    app
        The user of the API and the workers.
    reader
        The user of reports.
    tenant
        The only tenant whose records the reader sees (`scrapersky tenant list`); all without.
    apply
        Run the owner's part now, as the user of DATABASE_URL, instead of printing.
    """
    if app is None and reader is None:
        app, reader = "scrapersky_app", "scrapersky_reader"
    granted = [*(app_rights(app) if app else ())]
    granted += reader_rights(reader, tables(), tenant) if reader else []
    if not apply:
        print(
            "-- An administrator, once, in this database and before it is migrated; "
            "give each a password or another way in:"
        )
        print(*administrators_part(app, reader), sep="\n")
        print("\n-- The owner of the tables, after `scrapersky migrate`:")
        print(*granted, sep="\n")
        return
    with raised_signals(), a_database(load_settings().settings) as target:
        run_stoppable(run(target, granted))
    names = " and ".join(name for name in (app, reader) if name)
    print(f"Granted to {names}.")


def tables() -> list[str]:
    """Name the tables of records that people look at."""
    return sorted({kind.record.__tablename__ for kind in KINDS.values()})


async def run(target: Target, statements: list[str]) -> None:
    """Run the owner's part, all of it or nothing."""
    engine = connect(target, name="scrapersky-roles", pool_size=1)
    try:
        async with engine.begin() as connection:
            for statement in statements:
                await connection.exec_driver_sql(statement)
    except DBAPIError as error:
        raise DatabaseUnsuitable(
            f"The rights could not be granted: {driver_error(error)}.",
            hint="An administrator runs the first part of what `scrapersky roles` prints, "
            "then the owner of the tables this.",
        ) from error
    finally:
        await engine.dispose()
