"""Commands that have an end, stopped before it: nothing half, and no word of success."""

import signal
from pathlib import Path

import psycopg
import pytest

from sdk_tests.rig.waiting import wait_until
from tests.stopping.rig import House

pytestmark = pytest.mark.slow

TERMINATED = 128 + signal.SIGTERM
CONTACTS = 20_000
A_SITE = """INSERT INTO domains (tenant_id, domain, home_url)
  SELECT id, 'a.example', 'https://a.example/' FROM tenants"""
SOME_CONTACTS = f"""INSERT INTO contacts (tenant_id, domain_id, email, notes)
  SELECT tenant_id, id, n || '@a.example', repeat(md5(n::text), 20)
  FROM domains, generate_series(1, {CONTACTS}) AS n"""
AT_WORK = """SELECT count(*) > 0 FROM pg_stat_activity
  WHERE application_name = '{}' AND state = 'active' AND query ILIKE '{}%%'"""


def is_in_words(said: str) -> bool:
    return "Stopped before it was done" in said


def written_beside(path: Path) -> bool:
    """Say whether something of a file is written that is not there yet."""
    others = [one for one in path.parent.iterdir() if one != path]
    return not path.exists() and any(one.stat().st_size > 0 for one in others)


@pytest.fixture
def place(house: House) -> Path:
    """Give a directory in which nothing else is written."""
    directory = house.home / "out"
    directory.mkdir()
    return directory


def test_a_stopped_submit_ended_in_a_traceback(house: House) -> None:
    lines = house.home / "sites.txt"
    lines.write_text("".join(f"site-{n}.example\n" for n in range(8_000)))
    some = "SELECT count(*) BETWEEN 1000 AND 7000 FROM domains"
    with (
        house.slowly("batch_items", "INSERT"),
        house.running("submit", str(lines)) as command,
    ):
        house.wait_for(some)
        command.stop("a list of 8,000 sites", TERMINATED)

    assert is_in_words(command.words)
    assert house.ask(some)
    assert house.ask("SELECT count(*) FROM domains") == house.ask(
        "SELECT count(*) FROM batch_items"
    )
    with house.running("submit", str(lines)) as command:
        command.wait()
    assert house.ask("SELECT count(*) FROM domains") == 8_000


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_stopped_export_said_that_it_was_written(
    house: House, place: Path, form: str
) -> None:
    file = place / f"contacts.{form}"
    house.run(A_SITE, SOME_CONTACTS)
    with house.running("export", "--out", str(file)) as command:
        if form == "csv":
            wait_until(lambda: written_beside(file), "the file is begun")
        else:
            # A workbook lies in files without a name until it is whole.
            house.wait_for(AT_WORK.format("scrapersky-cli", ""))
        # It waits here, however quick the machine is.
        with psycopg.connect(house.database.dsn) as other:
            other.execute("LOCK TABLE contacts IN ACCESS EXCLUSIVE MODE")
            command.stop(f"an export as {form}", TERMINATED)

    assert is_in_words(command.words)
    assert "Written" not in command.words
    assert [*place.iterdir()] == []
    with house.running("export", "--out", str(file)) as command:
        command.wait()
    assert file.exists()
    if form == "csv":
        assert file.read_text().count("@a.example") == CONTACTS


def test_stopped_leads_said_that_they_were_written(house: House, place: Path) -> None:
    file = place / "leads.csv"
    house.run(
        """INSERT INTO places_staging (tenant_id, source, source_place_id, name)
          SELECT id, 'test', n::text, 'Salon ' || md5(n::text)
          FROM tenants, generate_series(1, 6000) AS n"""
    )
    some = "SELECT count(*) BETWEEN 1 AND 5999 FROM company_members WHERE is_matched"
    with (
        house.slowly("company_members", "UPDATE"),
        house.running("leads", "--out", str(file)) as command,
    ):
        house.wait_for(some)
        command.stop("matching for the lead list", TERMINATED)

    assert is_in_words(command.words)
    assert house.ask(some)
    assert [*place.iterdir()] == []
    with house.running("leads", "--out", str(file)) as command:
        command.wait()
    assert file.read_text().count("Salon ") == 6_000
    assert house.ask("SELECT count(*) FROM companies") == 6_000


def test_a_stopped_backup_ended_in_a_traceback(house: House, place: Path) -> None:
    file = place / "backup"
    house.run(A_SITE, SOME_CONTACTS)
    with house.running("backup", str(file)) as command:
        house.wait_for(AT_WORK.format("scrapersky-backup", "COPY"))
        command.stop("a backup", TERMINATED)

    assert is_in_words(command.words)
    assert [*place.iterdir()] == []
    with house.running("backup", str(file)) as command:
        command.wait()
    assert [*place.iterdir()] == [file]


@pytest.mark.parametrize("how", ["stopped", "killed"])
def test_a_restore_that_was_cut_off_left_what_was_there(
    house: House, place: Path, how: str
) -> None:
    file = place / "backup"
    house.run(A_SITE, SOME_CONTACTS)
    with house.running("backup", str(file)) as command:
        command.wait()
    house.run("DELETE FROM contacts WHERE email > '5'")
    left = house.ask("SELECT count(*) FROM contacts")
    with house.running("restore", str(file), "--replace") as command:
        house.wait_for(AT_WORK.format("scrapersky-restore", "COPY"))
        if how == "stopped":
            command.stop("a restore", TERMINATED)
            assert is_in_words(command.words)
        else:
            command.kill()
            house.wait_for(
                "SELECT count(*) = 0 FROM pg_stat_activity"
                " WHERE application_name = 'scrapersky-restore'"
            )

    assert house.ask("SELECT count(*) FROM contacts") == left
    with house.running("restore", str(file), "--replace") as command:
        command.wait()
    assert house.ask("SELECT count(*) FROM contacts") == CONTACTS


def test_a_stopped_move_left_the_other_database_empty(house: House) -> None:
    house.run(A_SITE, SOME_CONTACTS)
    there = house.empty("other")
    with house.running("move", there.database.url) as command:
        house.wait_for(AT_WORK.format("scrapersky-restore", "COPY"))
        command.stop("a move", TERMINATED)

    assert is_in_words(command.words)
    assert there.ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
    with house.running("move", there.database.url) as command:
        command.wait()
    assert there.ask("SELECT count(*) FROM contacts") == CONTACTS


def test_a_stopped_migration_said_that_it_was_done(house: House) -> None:
    """A deployment that asks for it goes on when the command ends with 0."""
    empty = house.empty("migrated")
    with psycopg.connect(empty.database.dsn) as other:
        # Not committed, so that whoever makes the same table waits for it.
        other.execute("CREATE TABLE tenants (id int)")
        with empty.running("migrate") as command:
            empty.wait_for(AT_WORK.format("scrapersky-migrate", "-- The schema"))
            command.stop("a migration", TERMINATED)
        other.rollback()

    assert is_in_words(command.words)
    assert empty.ask("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0
    with empty.running("migrate") as command:
        command.wait()
    assert empty.ask("SELECT count(*) FROM tenants") == 1
