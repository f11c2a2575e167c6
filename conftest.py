"""How the tests are run: in what order, without the slow ones if asked, and timed."""

import faulthandler
import gc
import os
import random
import signal
import time
from collections import defaultdict
from collections.abc import Generator
from itertools import groupby

import pytest
from hypothesis import settings

from scripts import tested
from sdk_tests.rig.scratch import RUN, remove_shared

# What is imported and collected stays: looking for garbage among it finds nothing.
gc.disable()
# A busy machine is slow, not wrong: no example has a deadline.
settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("whole", max_examples=200, deadline=None)
settings.load_profile("whole" if os.environ.get("TEST_WHOLE_SIZES") else "quick")

LONGEST_NAME = 80
"""Characters of a value that stand in the name of a test."""
BEGIN_EARLY = {"acceptance", "faults", "test_recipes.py", "test_sick_host.py"}
"""Where single tests take ten seconds and more."""
FIXTURES: dict[str, float] = defaultdict(float)
"""Seconds that each fixture took to set up, without those that it uses."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what ./check asks for."""
    group = parser.getgroup("line", "the test line")
    group.addoption("--order", type=int, help="shuffle the tests, by this seed")
    group.addoption(
        "--at-most", type=float, help="leave out tests that last took longer (seconds)"
    )
    group.addoption(
        "--stuck-after", type=float, help="fail a test that takes longer (seconds)"
    )


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name a test after the beginning of a long value, not after all its megabytes.

    Workers send the names of all tests to each other, and write them into reports.
    """
    if not isinstance(val, str | bytes) or len(val) <= LONGEST_NAME:
        return None
    return f"{val[:LONGEST_NAME]!a} and on, {len(val)} long"


class ModuleFixtureGroups:
    """Keeps tests that share a fixture of their module on one worker.

    Each worker that gets one of them would make the fixture again.
    """

    @pytest.hookimpl(tryfirst=True)  # before the groups are read
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the tests of a module that share something."""
        for item in items:
            if item.get_closest_marker("xdist_group") is None and shares_fixture(item):
                item.add_marker(pytest.mark.xdist_group(item.nodeid.split("::")[0]))


def shares_fixture(item: pytest.Item) -> bool:
    """Return whether a test uses a fixture that is made once for a module."""
    # There is no public name for it.
    used = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined] # noqa: SLF001
    return any(found[-1].scope == "module" for found in used.values())


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out what is slow, and shuffle the rest."""
    longest = config.getoption("--at-most")
    if longest is not None:
        leave_out(config, items, longest)
    seed = config.getoption("--order")
    if seed is not None:
        items[:] = shuffled(items, seed)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Name a test when it fails: a run that is stopped has no summary."""
    config.pluginmanager.register(ModuleFixtureGroups())
    if (seconds := config.getoption("--stuck-after")) is not None:
        config.pluginmanager.register(StuckTests(seconds))
    if RUN not in os.environ:
        # A killed run that had this number may have left another schema.
        remove_shared()
        # Its workers share what takes long to make.
        os.environ[RUN] = str(os.getpid())
    # A shell starts what runs in the background deaf to Ctrl-C, and so are its children;
    # tests press it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(FailuresAtOnce(reporter))


class StuckTests:
    """Fails a test that hangs, and shows where it did.

    Ending its worker instead would leave the others waiting for it.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Generator[None, object, object]:
        """Watch a test with its fixtures."""
        signal.signal(signal.SIGALRM, self.fail)
        # Whoever catches the first failure is failed again a minute later.
        signal.setitimer(signal.ITIMER_REAL, self._seconds, 60)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def fail(self, *_: object) -> None:
        """Fail the test that runs."""
        faulthandler.dump_traceback(2)
        pytest.fail(f"It was stuck: {self._seconds:.0f} s had passed.")


def pytest_unconfigure() -> None:
    """Leave nothing in memory that was made for all workers."""
    remove_shared()


class FailuresAtOnce:
    """Prints the name of every test that fails, as soon as it has."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print a failure in a line of its own."""
        if report.failed:
            self._reporter.write_line(f"\nFAILED {report.nodeid} ({report.when})")


def pytest_collection_finish() -> None:
    """Let the collector of garbage begin, and pass over what was imported until now."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object],
) -> Generator[None, object, object]:
    """Count the seconds of a fixture."""
    began = time.monotonic()
    try:
        return (yield)
    finally:
        FIXTURES[fixturedef.argname] += time.monotonic() - began


def pytest_sessionfinish() -> None:
    """Leave the seconds of this worker's fixtures for `python -m scripts.tested`."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        tested.keep_fixtures(worker, FIXTURES)


def leave_out(config: pytest.Config, items: list[pytest.Item], longest: float) -> None:
    """Deselect tests that took longer in the last whole run."""
    seconds = tested.remembered()
    slow = [item for item in items if seconds.get(plain(item), 0) > longest]
    config.hook.pytest_deselected(items=slow)
    left = set(slow)
    items[:] = [item for item in items if item not in left]


def plain(item: pytest.Item) -> str:
    """Return a test's name without the group it runs in."""
    return tested.GROUP.sub("", item.nodeid)


def shuffled(items: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """Shuffle modules and the tests of each; what shares a fixture stays together.

    Groups come first: one that begins last keeps one worker busy while the others wait.
    """
    order = random.Random(seed)  # noqa: S311
    modules = [list(tests) for _, tests in groupby(items, key=lambda one: one.path)]
    order.shuffle(modules)
    for tests in modules:
        order.shuffle(tests)
    mixed = [test for tests in modules for test in tests]
    return sorted(mixed, key=starts_late)


def starts_late(item: pytest.Item) -> int:
    """Rank what stays together on one worker, or is slow, before the rest."""
    if item.get_closest_marker("xdist_group") is None:
        return 1 if BEGIN_EARLY & set(item.path.parts) else 2
    return 0 if "page" in item.path.parts else 1
