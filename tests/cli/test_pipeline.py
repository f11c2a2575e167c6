"""The pipeline from the command line: real processes, real databases, local sources."""

import asyncio
import csv
import json
import shlex
import signal
import subprocess
import time
from collections.abc import Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar
from uuid import UUID

import pytest
from sqlalchemy import text

from scrapersky.cli.run import travel
from scrapersky.configuration import load_settings
from scrapersky.crawler.sandbox import Sandbox
from scrapersky.db.connection import connect, parse_target
from scrapersky.db.migrate import downgrade
from scrapersky.demo.services import town_services
from scrapersky.privacy.subject import any_subject
from scrapersky.privacy.suppression import suppress
from scrapersky.providers.source import PlaceQuery
from scrapersky.records.audit import Actor
from scrapersky.stages import STAGES
from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import HUNG, wait_until
from simulated_town.town import Town
from tests.cli.rig import (
    CLEAN,
    COMMAND,
    Command,
    execute,
    run,
    run_here,
)
from tests.conftest import TestDatabase
from tests.durable import bare_database, durable_server, home, installed
from tests.how_to.guide import commands_of
from tests.providers.servers.nominatim import NominatimServer
from tests.providers.servers.overpass import OverpassServer
from tests.providers.town import a_town

pytestmark = pytest.mark.slow

ServerT = TypeVar("ServerT")
ResultT = TypeVar("ResultT")


__all__ = ["bare_database", "durable_server", "home", "installed"]


@pytest.fixture
def database(installed: TestDatabase) -> TestDatabase:
    """Give a database of a server that the commands accept."""
    return installed


@pytest.fixture
def settings(home: Path, database: TestDatabase) -> dict[str, str]:
    return {"SCRAPERSKY_DATA_DIR": str(home), "DATABASE_URL": database.url}


@pytest.fixture
def command(
    settings: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Command:
    """Give commands that run in this process, on the database of the test."""
    ask = run_here(monkeypatch, capsys)
    return lambda *arguments: ask(*arguments, **settings)


@pytest.fixture
def without_parsers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load none beforehand: no page is read, and they take longer than all the rest."""

    async def rest(_sandbox: Sandbox) -> None:
        pass

    monkeypatch.setattr(Sandbox, "warm_up", rest)


@contextmanager
def serving(server: AbstractAsyncContextManager[ServerT]) -> Iterator[ServerT]:
    """Open a server on a loop of its own: a command has the one of this thread."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    def wait_for(doing: Coroutine[Any, Any, ResultT]) -> ResultT:
        return asyncio.run_coroutine_threadsafe(doing, loop).result(HUNG)

    stack = AsyncExitStack()
    try:
        yield wait_for(stack.enter_async_context(server))
        wait_for(stack.aclose())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def running_worker(settings: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [COMMAND, "worker"], env=CLEAN | settings, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if "is running" in line:
                break
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(database: TestDatabase, question: str) -> None:
    wait_until(lambda: bool(execute(database, question)[0][0]), question)


def add_file_search(database: TestDatabase, file: str) -> None:
    """Queue the search that `run` finds again by what is asked for."""
    params = PlaceQuery(business_type="", file=file).to_json()
    del params["business_type"]
    execute(
        database,
        "INSERT INTO place_searches (tenant_id, business_type, source, params)"
        " SELECT id, '', 'file', %s::jsonb FROM tenants",
        json.dumps(params),
    )


@pytest.mark.parametrize(
    ("size", "apart"), [(4, False), pytest.param(30, True, marks=pytest.mark.long)]
)
def test_the_demo_ends_by_itself_with_nothing_invented(
    home: Path,
    size: int,
    apart: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    begin = run if apart else run_here(monkeypatch, capsys)

    done = begin(
        "demo", "--size", str(size), "--exit",
        SCRAPERSKY_DATA_DIR=home, PORT=free_port(),
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    table = {
        words[0]: words[1:]
        for line in done.stdout.splitlines()
        if (words := line.split()) and words[0] in {"email", "phone"}
    }
    assert {name: cells[2:4] for name, cells in table.items()} == {
        "email": ["0", "0"],
        "phone": ["0", "0"],
    }
    assert " 0 at the same time" in done.stdout


@pytest.mark.usefixtures("without_parsers")
def test_places_of_a_file_go_through_and_a_csv_is_written(
    home: Path, command: Command
) -> None:
    rows = "name,phone\nAda's Bakery,+44 20 7946 0018\nBob's Garage,\n"
    (home / "imports" / "places.csv").write_text(rows)
    out = home / "contacts.csv"

    done = command(
        "run", "bakers", "--source", "file", "--file", "places.csv", "--out", str(out)
    )

    assert done.returncode == 0, done.stderr
    assert "0 contacts written" in done.stdout
    assert out.read_text(encoding="utf-8-sig").startswith("business,domain,email")


@pytest.mark.usefixtures("without_parsers")
def test_the_map_is_searched_through_the_servers_of_the_settings(
    home: Path, settings: dict[str, str], database: TestDatabase, command: Command
) -> None:
    town = [replace(business, website=None) for business in a_town(12)]
    with serving(OverpassServer(town)) as overpass, serving(NominatimServer()) as names:
        settings |= {"OVERPASS_URL": overpass.interpreter, "NOMINATIM_URL": names.url}
        done = command(
            "run", "dentists in Austin, TX", "--limit", "5",
            "--out", str(home / "contacts.csv"),
        )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "free" in done.stdout
    found = execute(
        database,
        "SELECT (SELECT status::text FROM place_searches), count(*),"
        " count(*) FILTER (WHERE domain_extraction_status = 'Completed')"
        " FROM local_businesses",
    )
    assert found == [("Completed", 5, 5)]


async def test_a_run_follows_every_place_to_its_contacts_and_can_be_repeated(
    home: Path, database: TestDatabase
) -> None:
    settings = load_settings({"SCRAPERSKY_DATA_DIR": str(home)}, dotenv=None).settings
    async with (
        Town.open(size=6, trouble=False) as town,
        town_services(town.endpoint) as services,
    ):
        businesses = [b for b in town.plan.businesses if b.host and b.mailboxes]
        lines = [f"{b.name},http://{b.host}/\n" for b in businesses]
        (home / "imports" / "town.csv").write_text("name,website\n" + "".join(lines))
        out = home / "contacts.csv"
        query = PlaceQuery(file="town.csv")
        for _ in range(2):
            code = await travel(
                settings, parse_target(database.url), query,
                source="file", budget=Decimal(0), out=out, services=services,
            )  # fmt: skip
            assert code == 0

    with out.open(encoding="utf-8-sig", newline="") as file:
        found = {row["email"] for row in csv.DictReader(file)} - {""}
    assert found == {
        box.address.lower() for business in businesses for box in business.mailboxes
    }
    assert execute(database, "SELECT count(*) FROM place_searches") == [(1,)]
    told = "SELECT details FROM record_changes WHERE event = 'finished'"
    ((details,),) = execute(database, told)
    assert details["page_curation"]["done"] > 0, (
        "it did not say that the search was over"
    )


def test_a_run_left_behind_what_is_tried_again_later(
    home: Path, settings: dict[str, str], database: TestDatabase, command: Command
) -> None:
    (home / "imports" / "late.csv").write_text("name\nAda's Bakery\n")
    words = ("run", "", "--source", "file", "--file", "late.csv", "--json", "--out")
    add_file_search(database, "late.csv")
    # It failed for now, and is due again in an hour.
    execute(
        database,
        "WITH held AS (UPDATE place_searches SET status = 'InProgress' RETURNING id)"
        " INSERT INTO curation.claim (stage, item, due_at, claimed_at, tries)"
        " SELECT 'place_search', id, now() + interval '1 hour', now(), 1 FROM held",
    )

    left = command(*words, str(home / "left.csv"))
    with subprocess.Popen(
        [COMMAND, *words, str(home / "whole.csv"), "--wait"],
        env=CLEAN | settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as waiting:  # fmt: skip
        assert waiting.stderr
        for line in waiting.stderr:
            if "requests" in line:  # the estimate, before it starts
                break
        time.sleep(1.5)  # three looks at what is left
        assert waiting.poll() is None
        execute(database, "UPDATE curation.claim SET due_at = now()")
        whole, _ = waiting.communicate(timeout=HUNG)

    assert left.returncode == 0, left.stderr
    assert "1 items could not be had now" in left.stderr
    told = json.loads(left.stdout)
    assert (told["waiting"], told["is_finished"]) == (1, False)
    assert waiting.returncode == 0
    told = json.loads(whole)
    assert (told["waiting"], told["is_finished"]) == (0, True)


def test_a_list_is_submitted_and_every_line_accounted_for(
    home: Path, command: Command
) -> None:
    file = home / "list.csv"
    file.write_text("name,domain\nAda,a.bv\nBob,https://www.b.bv/x\nEve,not one\n")

    done = command("submit", str(file))
    reported = command("stages", "--json")

    assert done.returncode == 0, done.stderr
    assert "2 accepted, 0 already in your list, 1 refused" in done.stdout
    assert "line 3" in done.stderr
    lines = {line["stage"]: line for line in json.loads(reported.stdout)}
    assert lines["domain_metadata"]["queued"] == 2
    assert [*lines] == [*STAGES]


def test_a_list_is_exported_in_the_form_its_name_asks_for(
    home: Path, command: Command, database: TestDatabase
) -> None:
    execute(
        database,
        "INSERT INTO domains (tenant_id, domain, title) SELECT id, n || '.bv', '=1'"
        " FROM tenants, generate_series(1, 3) AS n RETURNING 1",
    )
    out = home / "list.csv"

    done = command("export", "domains", "--out", str(out), "--filter",
                   "domain:not_equal:2.bv", "--sort", "domain",
                   "--columns", "domain,title")  # fmt: skip
    lines = command("export", "domains", "--out", str(home / "x.jsonl"))
    wrong = command("export", "domains", "--out", str(home / "x.doc"))

    assert done.returncode == 0, done.stderr
    written = out.read_text(encoding="utf-8-sig").splitlines()
    assert written == ["domain,title", "1.bv,'=1", "3.bv,'=1"]
    assert lines.returncode == 0
    assert len((home / "x.jsonl").read_text().splitlines()) == 3
    assert wrong.returncode == 2
    assert ".csv, .xlsx or .jsonl" in wrong.stderr


def test_stages_are_paused_and_dead_letters_replayed_beside_a_worker(
    home: Path,
    settings: dict[str, str],
    database: TestDatabase,
    command: Command,
) -> None:
    with running_worker(settings):
        paused = command("stages", "pause", "place_search")
        add_file_search(database, "missing.csv")
        # Longer than the worker waits between two looks at the queue.
        time.sleep(1.5)
        held = execute(database, "SELECT status::text FROM place_searches")
        changed = command("stages", "set", "place_search", "--rate-per-minute", "30")
        refused = command("stages", "set", "place_search", "--rate-per-minute", "0")
        reported = command("stages", "--json")
        command("stages", "reset", "place_search")
        command("stages", "resume", "place_search")
        wait_for(database, "SELECT bool_and(status = 'Error') FROM place_searches")
        (letter,) = json.loads(command("dead-letters", "--json").stdout)
        story = command("dead-letters", "inspect", "place_search", letter["item"])
        (home / "imports" / "missing.csv").write_text("name\nAda's Bakery\n")
        replayed = command("dead-letters", "replay", "place_search")
        wait_for(database, "SELECT bool_and(status = 'Completed') FROM place_searches")

    assert paused.returncode == 0
    assert held == [("Queued",)]
    paused_why = {line["stage"]: line["paused"] for line in json.loads(reported.stdout)}
    assert paused_why["place_search"] == "paused by hand"
    assert changed.returncode == 0
    assert '"at once, at most 30 a minute"' in reported.stdout
    assert '"changed":{"rate_per_minute":30}' in reported.stdout
    assert "nothing would ever be worked" in refused.stderr
    assert execute(database, "SELECT * FROM stage_overrides") == []
    assert letter["stage"] == "place_search"
    assert "missing.csv" in story.stdout
    assert "1 queued for retry" in replayed.stdout


@pytest.mark.long
def test_two_workers_share_a_database_and_a_stopped_one_hands_its_work_back(
    home: Path, settings: dict[str, str], database: TestDatabase
) -> None:
    names = [f"{number}.csv" for number in range(12)]
    for name in names:
        (home / "imports" / name).write_text(f"id,name\n{name},Business {name}\n")
    with running_worker(settings) as first, running_worker(settings):
        for name in names:
            add_file_search(database, name)
        first.send_signal(signal.SIGTERM)
        first.wait(HUNG)
        wait_for(
            database,
            "SELECT count(*) = 12 FROM place_searches WHERE status = 'Completed'",
        )

    assert first.returncode == 0
    assert execute(database, "SELECT count(*) FROM places_staging") == [(12,)]


MATCHED = "SELECT count(*) > 0 FROM companies"
UNMATCHED = "SELECT count(*) FROM company_members WHERE NOT is_matched"
ALIKE = """INSERT INTO places_staging
    (tenant_id, source, source_place_id, name, phone, latitude, longitude)
  SELECT id, 'test', n::text, 'Salon ' || md5((n / 100)::text),
    '+4989' || (10000000 + n / 100), 48 + (n / 100) * 0.01, 11
  FROM tenants, generate_series(0, 19999) AS n"""


@pytest.mark.slow
def test_a_worker_that_matched_companies_did_not_hear_sigterm(
    settings: dict[str, str], database: TestDatabase
) -> None:
    execute(database, ALIKE)
    often = settings | {"COMPANY_MATCHING_SCHEDULER_INTERVAL_MINUTES": "0.1"}
    with running_worker(often) as first:
        wait_for(database, MATCHED)
        first.send_signal(signal.SIGTERM)
        first.wait(HUNG)
    ((left,),) = execute(database, UNMATCHED)
    with running_worker(often):
        wait_for(database, f"SELECT ({UNMATCHED}) < {left}")

    assert first.returncode == 0
    assert 0 < left < 20_000


def test_the_commands_of_the_guide_were_read_but_never_run(
    database: TestDatabase, command: Command
) -> None:
    typed = commands_of("find-what-is-wrong.md")
    own = [line for line in typed if line.startswith("scrapersky ")]
    answers = {line: command(*shlex.split(line)[1:]) for line in own}

    assert len(own) >= 4
    wrong = {line: a.stderr for line, a in answers.items() if a.returncode}
    # The doctor may well find something: then it says so with 1.
    assert wrong.keys() <= {"scrapersky doctor"}
    assert all(stage in answers["scrapersky stages"].stdout for stage in STAGES)
    assert "database" in answers["scrapersky doctor"].stdout
    assert "DOMAIN_SCHEDULER_BATCH_SIZE" in answers["scrapersky config"].stdout


EXTRACTION = "DOMAIN_EXTRACTION_SCHEDULER"
MANY = 120
BUSIEST_MINUTE = """SELECT max(claims) FROM (SELECT count(*) OVER (ORDER BY claimed_at
  RANGE BETWEEN CURRENT ROW AND '59.999999 seconds' FOLLOWING) AS claims
  FROM curation.attempt WHERE stage = 'domain_extraction') AS minutes"""
MINUTE_OF_TICKS = """WITH run AS (SELECT due_at, items FROM scheduler_runs
    WHERE job_id = 'process_domain_extraction_queue')
  SELECT sum(items) FROM run WHERE due_at <
    (SELECT min(due_at) FROM run WHERE items > 0) + interval '1 minute'"""
QUEUE_BUSINESSES = f"""INSERT INTO local_businesses
  (tenant_id, name, domain_extraction_status)
  SELECT id, 'b' || n, 'Queued' FROM tenants, generate_series(1, {MANY}) n"""
FIRST_CLAIM = "SELECT count(*) > 0 FROM curation.attempt"
A_MINUTE_HAS_PASSED = f"""SELECT count(*) = {MANY}
  OR clock_timestamp() - min(claimed_at) > interval '65 seconds' FROM curation.attempt"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", MANY),
        ("RATE_PER_MINUTE=20", 20),
        ("PACE=interval INTERVAL_MINUTES=1 BATCH_SIZE=12", 12),
        ("PACE=interval INTERVAL_MINUTES=0.1 BATCH_SIZE=2", 20),
        ("PACE=interval INTERVAL_MINUTES=0.1 BATCH_SIZE=5 RATE_PER_MINUTE=8", 8),
    ],
)
def test_each_of_two_processes_kept_the_pace_for_itself_alone(
    given: str, expected: int, settings: dict[str, str], database: TestDatabase
) -> None:
    settings |= {
        f"{EXTRACTION}_{name}": value
        for name, _, value in (word.partition("=") for word in given.split())
    }
    with running_worker(settings), running_worker(settings):
        execute(database, QUEUE_BUSINESSES)
        wait_for(database, FIRST_CLAIM)
        wait_for(database, A_MINUTE_HAS_PASSED)

    by_ticks = "INTERVAL" in given and "RATE" not in given
    ((counted,),) = execute(database, MINUTE_OF_TICKS if by_ticks else BUSIEST_MINUTE)
    # With `-s`: the table of docs/how-to/tune-the-stages.md.
    print(f"{given or 'eager'}: at most {expected}, counted {counted}")
    # A machine too busy to tick in time does less, and never more.
    assert 0 < counted <= expected


PEOPLE = """
WITH d AS (INSERT INTO domains (tenant_id, domain, status, emails)
    SELECT id, 'a.bv', 'completed', '{ada@a.bv,bob@a.bv}' FROM tenants LIMIT 1
    RETURNING id, tenant_id),
  p AS (INSERT INTO pages (tenant_id, domain_id, url, title)
    SELECT tenant_id, id, 'http://a.bv/', 'write to ada@a.bv' FROM d RETURNING id)
INSERT INTO contacts (tenant_id, domain_id, email)
  SELECT tenant_id, id, unnest(emails) FROM d, (VALUES ('{ada@a.bv,bob@a.bv}'::text[]))
    AS v (emails)
"""
HELD = "SELECT array_agg(email ORDER BY email) FROM contacts"


async def forget(database: TestDatabase, address: str) -> None:
    """Erase somebody, as the API does."""
    engine = connect(parse_target(database.url))
    async with engine.begin() as connection:
        tenant = await connection.scalar(text("SELECT id FROM tenants LIMIT 1"))
        actor = Actor(UUID(str(tenant)), None, "test")
        await suppress(connection, actor, [any_subject(address)])
    await engine.dispose()


def test_a_backup_brought_back_whom_somebody_had_erased_since(
    home: Path, database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    execute(database, PEOPLE)
    (home / "imports" / "places.csv").write_text("id,name\n1,One\n")
    file = tmp_path / "backup"

    made = command("backup", str(file))
    asyncio.run(forget(database, "ada@a.bv"))
    (home / "imports" / "places.csv").unlink()
    execute(database, "DELETE FROM contacts")
    refused = command("restore", str(file))
    restored = command("restore", str(file), "--replace")

    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o077 == 0
    assert "--replace" in refused.stderr
    assert restored.returncode == 0, restored.stderr
    assert "erased again" in restored.stdout
    assert execute(database, HELD) == [(["bob@a.bv"],)]
    assert execute(database, "SELECT emails FROM domains") == [(["bob@a.bv"],)]
    assert execute(database, "SELECT title FROM pages") == [("write to [removed]",)]
    assert (home / "imports" / "places.csv").exists()
    assert command("doctor").returncode == 0


LISTED = """INSERT INTO suppressions (tenant_id, kind, value_hash)
  SELECT id, 'email', 'a hash' FROM tenants"""


def test_a_backup_that_cannot_be_used_is_refused_and_changes_nothing(
    settings: dict[str, str], database: TestDatabase, command: Command, tmp_path: Path
) -> None:
    plain, file, keyless = (tmp_path / name for name in ("plain", "file", "keyless"))
    plain.write_text("not a backup")
    assert command("backup", str(file)).returncode == 0
    # A restore takes the key into use.
    settings["SUPPRESSION_KEY"] = "0123456789abcdef" * 2
    assert command("restore", str(file), "--replace").returncode == 0
    execute(database, LISTED)
    assert command("backup", str(keyless)).returncode == 0
    settings |= {
        "SUPPRESSION_OTHER_KEYS": settings["SUPPRESSION_KEY"],
        "SUPPRESSION_KEY": "fedcba9876543210" * 2,
    }
    assert command("restore", str(keyless), "--replace").returncode == 0
    del settings["SUPPRESSION_OTHER_KEYS"]
    with_another = command("restore", str(keyless), "--replace")
    del settings["SUPPRESSION_KEY"]
    without_key = command("restore", str(keyless), "--replace")
    execute(
        database,
        "INSERT INTO processes (name, role, host, pid, version)"
        " VALUES ('other-host-1', 'worker', 'other-host', 1, '0')",
    )
    in_use = command("restore", str(file), "--replace")

    assert "is not a backup of ScraperSky" in command("restore", str(plain)).stderr
    assert "SUPPRESSION_KEY, and another is set" in with_another.stderr
    assert "SUPPRESSION_KEY, and none is set" in without_key.stderr
    assert "Processes work on this database: other-host-1" in in_use.stderr
    assert execute(database, "SELECT count(*) FROM tenants") == [(1,)]


@pytest.mark.long
def test_a_backup_under_load_is_one_moment_and_moves_to_another_server(
    settings: dict[str, str],
    database: TestDatabase,
    bare_database: TestDatabase,
    command: Command,
    tmp_path: Path,
) -> None:
    there = bare_database
    imports = Path(settings["SCRAPERSKY_DATA_DIR"]) / "imports"
    for number in range(60):
        lines = "".join(f"{number}-{n},Business {n}\n" for n in range(50))
        (imports / f"{number}.csv").write_text(f"id,name\n{lines}")
        add_file_search(database, f"{number}.csv")
    with running_worker(settings):
        wait_for(database, "SELECT count(*) > 0 FROM places_staging")
        made = command("backup", str(tmp_path / "backup"))
        moved = command("move", there.url)
        wait_for(
            database,
            "SELECT count(*) = 60 FROM place_searches WHERE status = 'Completed'",
        )
    with running_worker(settings | {"DATABASE_URL": there.url}):
        wait_for(
            there, "SELECT count(*) = 60 FROM place_searches WHERE status = 'Completed'"
        )

    assert made.returncode == 0, made.stderr
    assert moved.returncode == 0, moved.stderr
    # Every search either had all of its places at that moment, or found them afterwards.
    assert execute(there, "SELECT count(*) FROM places_staging") == [(3000,)]
    assert execute(there, "SELECT count(*) FROM place_search_hits") == [(3000,)]


def test_nobody_could_ask_what_a_migration_would_do(
    database: TestDatabase, command: Command
) -> None:
    current = command("upgrade", "--check")
    asyncio.run(go_back(database, "0026_page_choice"))
    behind = command("upgrade", "--check")
    worker = command("worker")

    assert current.returncode == 0
    assert "Nothing to do" in current.stdout
    assert behind.returncode == 1
    assert "0027_site_budgets: What was taken of every site" in behind.stdout
    assert "its definition changes, locked (ACCESS EXCLUSIVE) for a" in behind.stdout
    assert "0.0 MiB more disk (tried on samples, on this server, now)" in behind.stdout
    assert "How much disk the server has free cannot be seen" in behind.stdout
    assert worker.returncode == 1
    assert "What to do: `scrapersky upgrade --check`" in worker.stderr


async def go_back(database: TestDatabase, revision: str) -> None:
    engine = connect(parse_target(database.url))
    await downgrade(engine, revision)
    await engine.dispose()
