"""Five minutes of everything going wrong at once; `bench/soak.py` does it for an hour."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAT = 1.5
"""The last third over the first: whoever leaks at each of some eighty faults is far above."""
POOLS = 80
"""Twice what four processes have open when all are at work."""


@pytest.mark.long
def test_five_minutes_of_random_faults_lose_double_and_leak_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "bench/soak.py", "--minutes", "5"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    print(done.stdout, done.stderr[-5000:])
    found = json.loads(done.stdout.splitlines()[-1])

    wrong = (
        "lost",
        "doubled",
        "stuck",
        "claims_left",
        "dead_letters",
        "steady_worker_ended",
    )
    assert {name: found[name] for name in wrong} == dict.fromkeys(wrong, 0)
    assert found["businesses"] == found["domains"] > 0
    assert found["faults"] > 0
    # How long a claim took is read in the table: a busy machine slows it.
    for name in ("memory_mib", "descriptors"):
        assert found[f"{name}_growth"] < FLAT, name
    # How many are open depends on who has just been killed; never more than all pools hold.
    assert found["connections_most"] < POOLS
