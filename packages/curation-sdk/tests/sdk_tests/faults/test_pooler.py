"""The engine's own tests again, with PgBouncer in transaction mode in between."""

import os
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from sdk_tests import test_outcome
from sdk_tests.conftest import Database
from sdk_tests.desk import Desk
from sdk_tests.rig.cluster import Cluster
from sdk_tests.rig.connect import unprepared
from sdk_tests.rig.pooler import Pooler, running_pooler
from sdk_tests.rig.program import needed

ENGINE_TESTS = Path(__file__).parent.parent
ROOT = ENGINE_TESTS.parent.parent
WITHOUT_DATABASE = {
    "test_compat.py",
    "test_listeners.py",
    "test_process.py",
    "test_statements.py",
    "test_types.py",
}
NAMES = sorted(
    {path.name for path in ENGINE_TESTS.glob("test_*.py")} - WITHOUT_DATABASE
)
OUTCOMES = {
    name.removeprefix("test_"): test
    for name, test in vars(test_outcome).items()
    # Those with cases of their own are run by the whole suite.
    if name.startswith("test_") and not hasattr(test, "pytestmark")
}


@pytest.fixture(scope="module")
def pooler(postgres_server: Cluster) -> Iterator[Pooler]:
    with running_pooler(postgres_server, size=20) as running:
        yield running


@pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
async def test_the_outcomes_hold_through_a_pooler(
    outcome: Callable[[Desk], Awaitable[None]],
    desk_database: Database,
    pooler: Pooler,
) -> None:
    engine = create_async_engine(
        pooler.url(desk_database.name), connect_args=unprepared()
    )

    await outcome(Desk(engine, desk_database.dsn))

    await engine.dispose()


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_the_whole_suite_holds_through_a_pooler(name: str) -> None:
    run_through_pooler(name)


def run_through_pooler(name: str) -> None:
    needed("pgbouncer", package="pgbouncer")
    command = [
        *(sys.executable, "-m", "pytest", "-p", "sdk_tests.rig.pooled"),
        *("-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(ENGINE_TESTS / name)),
    ]
    environment = {**os.environ, "PYTEST_ADDOPTS": ""}

    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=environment,
    )

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    engines = re.search(r"(\d+) engines went through PgBouncer", done.stdout)
    assert engines is not None, done.stdout[-1000:]
    assert int(engines[1]) > 0
