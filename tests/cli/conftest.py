"""Tests that share a data directory stay together on one worker, which starts it once."""

import pytest

from tests.cli.rig import Command, run_here

HERE = "tests/cli/"


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(HERE):
            item.add_marker(pytest.mark.xdist_group(f"cli-{item.path.stem}"))


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Give commands that run in this process."""
    return run_here(monkeypatch, capsys)
