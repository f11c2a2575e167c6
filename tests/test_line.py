"""The test line itself: what it promises the tests."""

import os

import pytest


@pytest.mark.xdist_group("together")
def test_the_tests_of_a_group_stay_together(request: pytest.FixtureRequest) -> None:
    # A group's name at the end of a test's is how workers tell what belongs together;
    # without it each worker silently starts every shared server and browser anew.
    is_shared = os.environ.get("PYTEST_XDIST_WORKER") is not None

    assert request.node.nodeid.endswith("@together") == is_shared
