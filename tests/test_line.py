"""The test line itself: what it promises the tests."""

import os
import re
from pathlib import Path

import pytest


@pytest.mark.xdist_group("together")
def test_the_tests_of_a_group_stay_together(request: pytest.FixtureRequest) -> None:
    # A group's name at the end of a test's is how workers tell what belongs together;
    # without it each worker silently starts every shared server and browser anew.
    is_shared = os.environ.get("PYTEST_XDIST_WORKER") is not None

    assert request.node.nodeid.endswith("@together") == is_shared


def test_the_program_that_installs_the_others_was_any_from_the_index() -> None:
    root = Path(__file__).parents[1]
    start, lock = root / "scripts/environment.sh", root / "locks/uv.txt"

    assert "--require-hashes --only-binary :all: --requirement locks/uv.txt" in (
        start.read_text()
    )
    assert re.search(r"^uv==\d+\.\d+\.\d+ ", lock.read_text(), re.MULTILINE)
    assert lock.read_text().count("--hash=sha256:") > 1
