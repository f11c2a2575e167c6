"""The page about slow queries, followed while one waits and one reads a whole table."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest

import scrapersky
from sdk_tests.rig.cluster import BINARIES, Cluster, running_cluster
from sdk_tests.rig.waiting import wait_until
from tests.how_to.guide import PAGES, Shell, Step, steps_of
from tests.how_to.running import RunningProcess, running

PAGE = "find-a-slow-query.md"
FILL = """INSERT INTO domains (tenant_id, domain, status, description)
    SELECT id, n || '.example', 'completed', repeat(md5(n::text), 10)
    FROM tenants, generate_series(1, 30000) AS n"""
UNINDEXED = "/api/v3/domains?filter=description:contains:nowhere"
WAITS = """SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'
    AND now() - query_start > interval '300 milliseconds'"""


@dataclass(frozen=True, slots=True)
class Followed:
    """An installation that is slow, and whoever finds out why."""

    cluster: Cluster
    shell: Shell
    settings: dict[str, object]

    def follow(self, heading: str) -> list[str]:
        """Do what stands below a heading; return what each step printed."""
        return [self.shell.follow(step) for step in steps_of(PAGE, heading)]

    def ask(self, statement: str) -> list[tuple[object, ...]]:
        return self.cluster.execute(statement, database="live")


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Followed]:
    """Give an installation on a server that counts statements."""
    counting = {"shared_preload_libraries": "pg_stat_statements"}
    with running_cluster(settings=counting) as cluster:
        cluster.create_database("live")
        settings = {
            "DATABASE_URL": cluster.dsn("live"),
            "SCRAPERSKY_DATA_DIR": tmp_path,
        }
        shell = Shell(tmp_path, **settings)
        shell.environment["PATH"] = f"{BINARIES}:{shell.environment['PATH']}"
        shell.type(f"export DB='{cluster.dsn('live')}' PATIENCE='0 seconds' TIMES=3")
        shell.type("scrapersky migrate")
        (imports := tmp_path / "imports").mkdir()
        (imports / "one.csv").write_text("id,name\n1,One\n")
        yield Followed(cluster, shell, settings)


@pytest.mark.slow
def test_a_request_that_waits_for_a_forgotten_transaction_is_found_and_freed(
    live: Followed,
) -> None:
    with (
        running("serve", live.settings) as api,
        ThreadPoolExecutor() as beside,
        closing(forgotten(live)) as report,
    ):
        live.shell.type(f"export API={api.address}/api/v3")
        live.follow("Is it the database?")
        written, off = log_steps()
        for step in written:
            live.shell.follow(step)
        wait_until(lambda: live.ask("SHOW log_min_duration_statement") == [("200ms",)])
        report.execute("LOCK TABLE place_searches IN EXCLUSIVE MODE")
        waiting = beside.submit(search, api)
        wait_until(lambda: live.ask(WAITS) == [(1,)], "somebody who waits")

        (runs,) = live.follow("What runs now")
        assert "scrapersky-api" in line_with(runs, "INSERT INTO place_searches")
        assert "Lock" in line_with(runs, "INSERT INTO place_searches")
        wait_until(lambda: live.ask(WAITS) == [(1,)], "the same, or its repetition")
        waits, ended = live.follow("Who waits for whom")
        found = line_with(waits, "report")
        assert "scrapersky-api" in found
        assert "idle in transaction" in found
        assert ended.strip() == f"{report.info.backend_pid}|t"

        assert waiting.result().status_code == 201
        wait_until(lambda: "INSERT INTO place_searches" in slow_lines(live))
        assert "one.csv" not in slow_lines(live)
        for step in off:
            live.shell.follow(step)
        wait_until(lambda: live.ask("SHOW log_min_duration_statement") == [("-1",)])


@pytest.mark.slow
def test_a_filter_without_an_index_is_found_and_explained_as_the_tenant(
    live: Followed,
) -> None:
    count, reset, look, sample = steps_of(PAGE, "What costs most over a time")
    live.ask(FILL)
    (tenant,) = live.ask("SELECT id FROM tenants")
    (other,) = live.ask("SELECT gen_random_uuid()")
    with running("serve", live.settings) as api:
        live.shell.type(f"export API={api.address}/api/v3")
        live.shell.follow(count)
        live.shell.follow(reset)
        for _ in range(5):
            answer = api.ask("GET", UNINDEXED)
            assert answer.status_code == 200, answer.text
        costly = live.shell.follow(look)
        live.shell.follow(sample)
    assert "description" in line_with(costly, "FROM domains")

    query = "SELECT id FROM domains WHERE description ILIKE '%nowhere%'"
    live.shell.type(f'export QUERY="{query}" TENANT={tenant[0]}')
    (plan,) = live.follow("Explain it as the tenant sees it")
    assert "Rows Removed by Filter: 30000" in plan
    # By row-level security: the administrator's plan has no such condition.
    assert "(tenant_id = (InitPlan" in plan
    live.shell.type(f"export TENANT={other[0]}")
    (others,) = live.follow("Explain it as the tenant sees it")
    assert "Rows Removed by Filter: 30000" not in others

    live.shell.type(f"export TENANT={tenant[0]}")
    tables, *_ = live.follow("What to do about it")
    assert "30000" in line_with(tables, "domains")
    (better,) = live.follow("Explain it as the tenant sees it")
    assert "own_domains_description" in better


def test_every_name_of_a_session_is_on_the_page() -> None:
    page = (PAGES / PAGE).read_text()
    source = Path(scrapersky.__file__).parent.rglob("*.py")
    names = {
        name
        for file in source
        for name in re.findall(r'connect.*?name="scrapersky(-\w+)"', flat(file))
    }

    assert len(names) > 10
    assert [
        name for name in sorted(names) if not re.search(rf"`(scrapersky)?{name}`", page)
    ] == []


def flat(file: Path) -> str:
    """Return a file with each call on one line."""
    return re.sub(r"\(\s+|,\s+", "(", file.read_text())


def forgotten(live: Followed) -> "psycopg.Connection[tuple[object, ...]]":
    """Connect as a program that forgets to end its transactions."""
    return psycopg.connect(live.cluster.dsn("live"), application_name="report")


def search(api: RunningProcess) -> httpx.Response:
    """Ask for a search of a file, again whenever it took longer than a request may."""
    asked = {"source": "file", "file": "one.csv"}
    while (answer := api.ask("POST", "/api/v3/searches", json=asked)).is_server_error:
        pass
    return answer


def log_steps() -> tuple[list[Step], list[Step]]:
    """Return the steps that switch the log on, and those that switch it off."""
    steps = list(steps_of(PAGE, "Have slow statements written down"))
    return steps[:4], steps[4:]


def slow_lines(live: Followed) -> str:
    """Return what the server has written down."""
    return live.cluster.log.read_text()


def line_with(printed: str, word: str) -> str:
    """Return the lines of a table that have a word."""
    return "\n".join(line for line in printed.splitlines() if word in line)
