"""Tests that share an application stay together on one worker, which starts it once."""

from collections.abc import Iterator

import pytest

from scrapersky.api import refreshed
from scrapersky.crawler import Sandbox
from sdk_tests.rig.waiting import HUNG
from tests.api.waiting import long_timeouts

HERE = "tests/api/"


@pytest.fixture(autouse=True, scope="module")
def children_when_needed() -> Iterator[None]:
    """Start parsing children when there is something to parse: most tests have nothing."""

    async def later(_: Sandbox) -> None:
        pass

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sandbox, "warm_up", later)
        yield


@pytest.fixture(autouse=True, scope="module")
def wait_for_the_database() -> Iterator[None]:
    """Wait for it however slow the machine is, where people are refused."""
    with long_timeouts():
        yield


@pytest.fixture(autouse=True)
def what_is_counted_and_no_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for values however slow the machine is, where people would get a guess."""
    monkeypatch.setattr(refreshed, "WAIT_SECONDS", HUNG)
    monkeypatch.setattr(refreshed, "FIRST_TIMEOUT_SECONDS", HUNG)


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if (
            item.nodeid.startswith(HERE)
            and item.get_closest_marker("xdist_group") is None
        ):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
