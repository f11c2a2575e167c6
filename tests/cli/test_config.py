"""The settings as the command line shows them, and a database that was never set up."""

import json
from pathlib import Path

import pytest

from scrapersky.configuration import VARIABLES
from tests.cli.rig import Command, execute
from tests.conftest import TestDatabase

BATCH = "DEEP_SCAN_SCHEDULER_BATCH_SIZE"


def test_config_gave_the_environment_for_what_a_person_had_changed(
    database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    given = {"DATABASE_URL": database.url, "SCRAPERSKY_DATA_DIR": tmp_path, BATCH: 7}
    command("stages", "set", "deep_scan", "--batch-size", "9", **given)
    command("stages", "set", "deep_scan", "--concurrency", "3", **given)

    changed = json.loads(command("config", "--json", **given).stdout)
    table = command("config", **given).stdout
    one = command("stages", "reset", "deep_scan", "batch-size", **given)
    less = json.loads(command("config", "--json", **given).stdout)
    command("stages", "reset", "deep_scan", **given)
    cleared = json.loads(command("config", "--json", **given).stdout)

    assert changed[BATCH]["value"] == "9"
    assert changed[BATCH]["origin"].startswith("changed by cli (")
    assert "changed by cli (" in table
    assert "DEEP_SCAN_SCHEDULER_CONCURRENCY" in table
    assert (
        one.stdout
        == "batch-size of deep_scan is again as its processes were started.\n"
    )
    assert less[BATCH] == {"value": "7", "origin": "environment"}
    assert less["DEEP_SCAN_SCHEDULER_CONCURRENCY"]["value"] == "3"
    assert cleared["DEEP_SCAN_SCHEDULER_CONCURRENCY"]["origin"] == "default"
    assert execute(database, "SELECT * FROM stage_overrides") == []


def test_a_change_of_a_user_who_is_gone_keeps_the_name(
    database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    given = {"DATABASE_URL": database.url, "SCRAPERSKY_DATA_DIR": tmp_path}
    origins = '{"batch_size": {"by": "gone@a.example", "at": "2026-11-18T09:00:00Z"}}'
    execute(
        database,
        "INSERT INTO stage_overrides (stage, changes, origins)"
        f""" VALUES ('deep_scan', '{{"batch_size": 9}}', '{origins}'),"""
        f""" ('old_stage', '{{"batch_size": 9}}', '{origins}')""",
    )

    shown = command("config", "--json", "--changed", **given)
    stages = command("stages", **given)
    unknown = command("stages", "reset", "no_stage", **given)
    command("stages", "reset", "old_stage", **given)

    origin = "changed by gone@a.example on 2026-11-18"
    assert json.loads(shown.stdout)[BATCH] == {"value": "9", "origin": origin}
    for answer in (shown, stages):
        said = " ".join(answer.stderr.split())
        assert f"no such stage in this version: batch_size ({origin})" in said
        assert "`scrapersky stages reset old_stage` clears them" in said
    assert "no_stage" in unknown.stderr
    assert execute(database, "SELECT stage FROM stage_overrides") == [("deep_scan",)]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (None, "There is no database yet."),
        ("postgresql://u@127.0.0.1:1/d", "The database does not answer."),
    ],
)
def test_config_shows_the_rest_where_no_database_answers(
    url: str | None, why: str, command: Command, tmp_path: Path
) -> None:
    given = {"DATABASE_URL": url} if url else {}

    answer = command("config", SCRAPERSKY_DATA_DIR=tmp_path / "none", **given)

    assert answer.returncode == 0
    assert "HOST" in answer.stdout
    said = " ".join(answer.stderr.split())
    assert f"What was changed while ScraperSky runs is not shown. {why}" in said
    assert not (tmp_path / "none").exists()


def test_config_was_a_wall_of_two_hundred_settings(
    command: Command, tmp_path: Path
) -> None:
    given = {"SCRAPERSKY_DATA_DIR": tmp_path / "none", "SITE_HOSTS": 3}

    short = command("config", **given)
    everything = command("config", "--all", **given)

    assert "DEEP_SCAN_SCHEDULER_BATCH_SIZE" in short.stdout
    assert "SITE_HOSTS" in short.stdout
    assert "SITE_BYTES" not in short.stdout
    assert "--all shows them" in short.stderr
    assert [name for name in VARIABLES if name not in everything.stdout] == []


@pytest.mark.parametrize(
    "words",
    [
        "stages", "stages pause deep_scan", "stages set deep_scan --batch-size 3",
        "stages reset deep_scan", "workers", "dead-letters",
        "dead-letters replay deep_scan", "submit /dev/null",
        "export contacts --out {out}.csv", "leads --out {out}.csv",
    ],
)  # fmt: skip
def test_a_database_that_was_never_set_up_ended_in_a_traceback(
    words: str, empty_database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    answer = command(
        *words.format(out=tmp_path / "list").split(),
        DATABASE_URL=empty_database.url,
        SCRAPERSKY_DATA_DIR=tmp_path,
    )

    assert answer.returncode == 1
    assert "is not set up" in answer.stderr
    assert "`scrapersky migrate`" in answer.stderr


def test_a_user_whom_the_database_does_not_know_ended_in_a_traceback(
    database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    nobody = database.url.replace("://", "://nobody-", 1)

    answer = command("stages", DATABASE_URL=nobody, SCRAPERSKY_DATA_DIR=tmp_path)

    assert answer.returncode == 1
    assert "refused the user name or password" in answer.stderr
