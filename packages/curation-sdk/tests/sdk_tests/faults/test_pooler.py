"""The engine's own tests again, with PgBouncer in transaction mode in between."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_outcomes_hold_through_a_pooler() -> None:
    run_through_pooler("test_outcome.py")


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
