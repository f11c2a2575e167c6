"""A bad page costs one child, and nobody else anything."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import psutil
import pytest
import pytest_asyncio

from contact_extraction.errors import BadSitemap
from extraction_tests.pace import takes_at_most
from scrapersky.crawler.sandbox import (
    CONFINEMENT_LAYERS,
    LARGE_BODY_BYTES,
    JobQueue,
    Sandbox,
    usable_cpus,
)
from scrapersky.crawler.sandbox_process import ParseJob, SandboxLimits
from scrapersky.errors import ParserUnavailable, Trap
from sdk_tests.rig.size import size
from sdk_tests.rig.waiting import HUNG
from tests.crawler import sandboxed

QUICK = SandboxLimits(cpu=timedelta(seconds=1), wall=timedelta(seconds=HUNG))


@pytest.fixture(autouse=True)
def no_child_left_behind() -> Iterator[None]:
    """Fail the test that leaves a child, alive or dead."""
    before = {child.pid for child in psutil.Process().children()}
    yield
    assert {child.pid for child in psutil.Process().children()} - before == set()


def shared(test: Callable[..., Any]) -> Callable[..., Any]:
    """Let a test have the sandbox that others have had before it."""
    for mark in (
        pytest.mark.asyncio(loop_scope="module"),
        pytest.mark.xdist_group("sandbox"),
    ):
        test = mark(test)
    return test


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[Sandbox]:
    """Keep one fork server for all that neither harm it nor look at how it starts."""
    async with Sandbox(children=1, limits=QUICK) as sandbox:
        await sandbox.warm_up()
        yield sandbox


@pytest.fixture
async def own_sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(children=1, limits=QUICK) as sandbox:
        yield sandbox


@shared
async def test_a_result_comes_back_as_the_type_it_was(sandbox: Sandbox) -> None:
    facts = await sandbox.run(sandboxed.parse, b"hello")

    assert facts == sandboxed.Facts(
        "hello", 5, datetime(2026, 11, 15, tzinfo=UTC), ("a", "b")
    )


def kills_first(pid: int) -> bool:
    return Path(f"/proc/{pid}/oom_score_adj").read_text() == "1000\n"


@shared
async def test_a_healthy_child_is_used_again(sandbox: Sandbox) -> None:
    first = await sandbox.run(sandboxed.pid)
    second = await sandbox.run(sandboxed.pid)

    assert first == second != os.getpid()
    # When memory runs out, the kernel ends a child and not its worker.
    assert kills_first(first)


def test_a_container_with_one_processor_had_a_child_for_each_of_the_machine(
    tmp_path: Path,
) -> None:
    quota = tmp_path / "cpu.max"
    counts = []
    for given in ("100000 100000", "50000 100000", "max 100000"):
        quota.write_text(f"{given}\n")
        counts.append(usable_cpus(quota))

    assert counts == [1, 1, len(os.sched_getaffinity(0))]
    assert usable_cpus(tmp_path / "none") == len(os.sched_getaffinity(0))


async def test_a_large_parent_does_not_make_its_children_look_large(
    own_sandbox: Sandbox,
) -> None:
    ballast = b"x" * (QUICK.retire_memory + 64 * 2**20)

    first = await own_sandbox.run(sandboxed.pid)
    second = await own_sandbox.run(sandboxed.pid)

    assert first == second
    assert len(ballast) > QUICK.retire_memory


@shared
@pytest.mark.parametrize(
    ("function", "why"),
    [
        (sandboxed.spin, "processor time"),
        (sandboxed.hoard, "MemoryError"),
        (sandboxed.crash, "died"),
        (sandboxed.fail, "ValueError"),
        (sandboxed.lie, "something else"),
        (sandboxed.much, "nonsense"),
    ],
)
async def test_whatever_goes_wrong_in_a_child_is_a_trap(
    sandbox: Sandbox, function: Callable[[], int], why: str
) -> None:
    with pytest.raises(Trap, match=why) as trapped:
        await sandbox.run(function)

    assert str(trapped.value).isprintable()
    assert (await sandbox.run(sandboxed.parse, b"next")).title == "next"


async def test_a_parser_that_waits_for_the_processor_is_asked_again_later() -> None:
    async with Sandbox(
        children=1, limits=SandboxLimits(wall=timedelta(seconds=1))
    ) as sandbox:
        with pytest.raises(ParserUnavailable, match="took more than") as caught:
            await sandbox.run(sandboxed.sleep)

    assert caught.value.retryable


async def test_a_slow_start_was_taken_for_a_slow_page() -> None:
    hasty = SandboxLimits(wall=timedelta(milliseconds=1))
    async with Sandbox(children=1, limits=hasty) as sandbox:
        # No process starts within a millisecond; that of a page is over after one.
        with pytest.raises(Trap, match="took more than"):
            await sandbox.run(sandboxed.sleep)


@shared
async def test_endless_recursion_is_a_trap(sandbox: Sandbox) -> None:
    with pytest.raises(Trap, match="RecursionError"):
        await sandbox.run(sandboxed.deep, 100_000)


@shared
async def test_an_extraction_error_keeps_its_type(sandbox: Sandbox) -> None:
    with pytest.raises(BadSitemap, match="it is a song"):
        await sandbox.run(sandboxed.refuse)


@pytest.mark.slow
async def test_neighbours_of_a_bad_page_go_on() -> None:
    patient, many = SandboxLimits(cpu=timedelta(seconds=2)), size(1, 2)
    async with Sandbox(children=many, limits=patient) as sandbox:
        await sandbox.warm_up()
        bad = [asyncio.create_task(sandbox.run(sandboxed.spin)) for _ in range(many)]
        await asyncio.sleep(0.1)

        good = await asyncio.gather(
            *(sandbox.run(sandboxed.parse, b"%d" % n) for n in range(50))
        )
        still_bad = [task for task in bad if not task.done()]
        ends = await asyncio.gather(*bad, return_exceptions=True)

    assert [facts.title for facts in good] == [str(n) for n in range(50)]
    assert still_bad, "the good pages waited for the bad ones"
    assert all(isinstance(end, Trap) for end in ends)


async def test_small_pages_waited_for_the_large_ones_before_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def read(sandbox: Sandbox) -> list[int]:
        ended: list[int] = []

        async def one(size: int) -> None:
            ended.append((await sandbox.run(sandboxed.parse, b"x" * size)).count)

        await asyncio.gather(*map(one, (LARGE_BODY_BYTES + 1, 10, 20)))
        return ended

    async with Sandbox(children=1) as sandbox:
        # All of them wait until the first child is there.
        first = await read(sandbox)
        monkeypatch.setattr("scrapersky.crawler.sandbox.MAX_WAIT_SECONDS", -1.0)
        blocked = asyncio.create_task(sandbox.run(sandboxed.parse, b"x"))
        await asyncio.sleep(0)
        later = await read(sandbox)
        await blocked

    assert first == [10, 20, LARGE_BODY_BYTES + 1]
    assert later == [LARGE_BODY_BYTES + 1, 10, 20], (
        "a large page must have its turn some time"
    )


def test_large_pages_that_had_waited_long_enough_took_all_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def job(size: int) -> ParseJob:
        return ParseJob(b"x" * size, answer=Mock())

    monkeypatch.setattr("scrapersky.crawler.sandbox.MAX_WAIT_SECONDS", -1.0)
    waiting = JobQueue()
    for _ in range(100):
        waiting.append(job(LARGE_BODY_BYTES + 1))
        waiting.append(job(10))
    spent = {True: 0.0, False: 0.0}
    for _ in range(100):
        taken = waiting.popleft()
        taken.seconds = 3.0 if taken.size > LARGE_BODY_BYTES else 0.5
        spent[taken.size > LARGE_BODY_BYTES] += taken.seconds
        waiting.count(taken)

    assert 0.2 < spent[True] / sum(spent.values()) < 0.35


@shared
async def test_a_child_killed_from_outside_is_replaced(sandbox: Sandbox) -> None:
    before = await sandbox.run(sandboxed.pid)
    child = psutil.Process(before)
    child.kill()
    psutil.wait_procs([child], timeout=HUNG)

    assert await sandbox.run(sandboxed.pid) != before


async def test_children_share_what_was_loaded_before_the_first_of_them() -> None:
    async with Sandbox(
        children=1,
        warm=[(sandboxed.load, ())],
        limits=SandboxLimits(retire_after=1),
    ) as sandbox:
        found = [await sandbox.run(sandboxed.loaded) for _ in range(3)]

    pids = {pid for pid, _ in found}
    (loaders,) = {tuple(loaders) for _, loaders in found}
    assert len(pids) == len(found)
    assert len(loaders) == 1, "it was loaded again"
    assert not {*loaders} & {os.getpid(), *pids}


@pytest.mark.slow
async def test_a_fork_server_killed_from_outside_is_replaced(
    own_sandbox: Sandbox,
) -> None:
    before = await own_sandbox.run(sandboxed.pid)
    child = psutil.Process(before)
    (server,) = [one for one in psutil.Process().children() if one.pid == child.ppid()]
    server.kill()
    psutil.wait_procs([server, child], timeout=HUNG)

    assert await own_sandbox.run(sandboxed.pid) != before


async def test_a_cancelled_call_ends_its_child(own_sandbox: Sandbox) -> None:
    before = await own_sandbox.run(sandboxed.pid)
    task = asyncio.create_task(own_sandbox.run(sandboxed.sleep))
    await asyncio.sleep(0.1)

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert not psutil.pid_exists(before)


async def test_a_child_is_retired_after_its_calls() -> None:
    limits = SandboxLimits(retire_after=2)
    async with Sandbox(children=1, limits=limits) as sandbox:
        pids = [await sandbox.run(sandboxed.pid) for _ in range(4)]

    assert pids[0] == pids[1] != pids[2] == pids[3]


async def test_a_child_knows_nothing_of_our_environment(
    own_sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JWT_SECRET", "hunter2")

    assert "JWT_SECRET" not in await own_sandbox.run(sandboxed.environment)


@shared
async def test_a_child_writes_no_files(sandbox: Sandbox) -> None:
    with pytest.raises(Trap):
        await sandbox.run(sandboxed.write_file)


@shared
async def test_a_child_has_no_network_where_the_system_allows(sandbox: Sandbox) -> None:
    if not may_unshare():
        pytest.skip("this system has no user namespaces")
    with socket.create_server(("127.0.0.1", 0)) as canary:
        found = await sandbox.run(sandboxed.reach_out, canary.getsockname()[1])

    assert found != "reached"


@shared
async def test_what_a_parser_prints_disturbs_nobody(sandbox: Sandbox) -> None:
    assert await sandbox.run(sandboxed.chatter) == 1


@shared
async def test_a_large_body_costs_little_to_pass(sandbox: Sandbox) -> None:
    await sandbox.warm_up()
    with takes_at_most(1):
        facts = await sandbox.run(sandboxed.parse, b"x" * 10_000_000)

    assert facts.count == 10_000_000


@shared
async def test_keyword_arguments_are_refused(sandbox: Sandbox) -> None:
    call: Any = sandbox.run
    with pytest.raises(TypeError):
        await call(sandboxed.parse, body=b"x")


def may_unshare() -> bool:
    code = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x50000000) != 0)"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_page_is_not_blamed_for_a_child_that_cannot_start() -> None:
    async with Sandbox(children=1, warm=[(sandboxed.fail, ())]) as sandbox:
        with pytest.raises(ParserUnavailable) as caught:
            await sandbox.run(sandboxed.pid)

    assert caught.value.retryable


def has_all_layers() -> bool:
    """Say whether this kernel can hold a child in every way."""
    code = "from scrapersky.kit.confinement import confine; import os;"
    code += "os.write(1, ' '.join(confine(2**30)).encode())"
    reported = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=False
    )
    return set(CONFINEMENT_LAYERS) <= set(reported.stdout.decode().split())


ALL_LAYERS = pytest.mark.skipif(
    not has_all_layers(), reason="this kernel has no Landlock or no seccomp"
)


@pytest.fixture
def open_place(tmp_path: Path) -> Path:
    """Return a directory with a file, both of which anyone may change."""
    (tmp_path / "secret").write_text("precious")
    (tmp_path / "secret").chmod(0o666)
    tmp_path.chmod(0o777)
    return tmp_path


@shared
@ALL_LAYERS
async def test_whoever_took_the_parser_over_could_fork_write_and_log_in(
    sandbox: Sandbox, open_place: Path
) -> None:
    secret, door = open_place / "secret", open_place / "door"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(door))
        listener.listen()
        door.chmod(0o777)

        reported = await sandbox.run(
            sandboxed.attack, os.getpid(), str(door), str(secret), str(open_place)
        )

    assert {name: how for name, how in reported.items() if how == "did it"} == {}
    assert secret.read_text() == "precious"
    assert set(os.listdir(open_place)) == {"secret", "door"}  # noqa: PTH208


@shared
@ALL_LAYERS
async def test_the_parser_ran_as_root(sandbox: Sandbox) -> None:
    assert await sandbox.run(sandboxed.user) != 0
