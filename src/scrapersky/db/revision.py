"""Which revisions of the schema there are, and which the database is at.

Kept apart from the migrations themselves: a start that has nothing to migrate should
not have to load what migrates.
"""

from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.exc import ProgrammingError

from scrapersky.errors import SchemaMismatch

MIGRATIONS = Path(__file__).parent / "migrations"


def revisions() -> tuple[str, ...]:
    """Name every revision this code knows, oldest first: one file each, in order."""
    files = sorted((MIGRATIONS / "versions").glob("[0-9]*.py"))
    return tuple(file.stem for file in files)


def current_revision(connection: Connection) -> str | None:
    """Read which revision the database is at; None for a database without ours."""
    try:
        with connection.begin_nested():
            found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    except ProgrammingError:
        return None
    return None if found is None else str(found)


def refuse_newer_schema(revision: str | None) -> None:
    """Raise if the database was migrated by a ScraperSky newer than this one."""
    if is_newer(revision):
        raise SchemaMismatch(
            f"The database is at revision {revision}, which this ScraperSky does not "
            f"know; its newest is {revisions()[-1]}.",
            hint="A newer ScraperSky has used this database: install that version.",
        )


def is_newer(revision: str | None) -> bool:
    """Say whether a database was migrated by a ScraperSky newer than this one."""
    return revision is not None and revision not in revisions()
