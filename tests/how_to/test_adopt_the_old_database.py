"""The page about adopting the database of the old system, followed."""

from pathlib import Path

import pytest

from tests.adopt.old_system import small_town
from tests.cli.rig import execute
from tests.conftest import TestDatabase
from tests.how_to.guide import Shell, steps_of


@pytest.mark.slow
def test_the_old_database_is_adopted_as_the_page_says(
    installed: TestDatabase, empty_database: TestDatabase, home: Path, tmp_path: Path
) -> None:
    small_town(empty_database)
    shell = Shell(
        tmp_path,
        DATABASE_URL=installed.url,
        SCRAPERSKY_DATA_DIR=home,
        OLD_DATABASE_URL=empty_database.dsn,
    )

    for step in steps_of("adopt-the-old-database.md"):
        shell.follow(step)

    assert execute(installed, "SELECT email FROM contacts") == [
        ("ada@harbour-dental.bv",)
    ]
