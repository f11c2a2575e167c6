"""Figures of dashboards: a look-up that hangs keeps nobody waiting who has an older one."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from scrapersky.api import refreshed
from scrapersky.api.refreshed import RefreshedValue
from scrapersky.db.failure import explain_code
from scrapersky.errors import DatabaseProblem


async def test_under_a_locked_table_every_look_at_the_stages_hung(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refreshed, "WAIT_SECONDS", 0.01)
    locked, answers = asyncio.Event(), iter([1, 2])

    async def look_up() -> int:
        answer = next(answers)
        if answer > 1:
            await locked.wait()
        return answer

    value = RefreshedValue(look_up)
    assert await value.get() == 1
    value.forget()

    # The look-up waits for the lock; who asks meanwhile gets what was known before.
    assert [await value.get(), await value.get()] == [1, 1]
    looking = value._looking
    assert looking is not None
    locked.set()
    await looking
    assert await value.get() == 2
    await value.close()


async def test_every_look_at_the_stages_waited_for_one_look_up_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refreshed, "MIN_AGE_SECONDS", -1.0)
    monkeypatch.setattr(refreshed, "AGE_PER_READ", 0)
    answers = iter(range(9))

    async def look_up() -> int:
        await asyncio.sleep(0)
        return next(answers)

    value = RefreshedValue(look_up)
    first = await value.get()
    at_once = await value.get()
    looking = value.prepare()
    assert looking is not None
    await looking
    then = await value.get()
    monkeypatch.setattr(refreshed, "YOUNG_SECONDS", -1.0)
    awaited = await value.get()
    await value.close()

    assert (first, at_once, then, awaited) == (0, 0, 1, 2)


class Clock:
    """A clock that only look-ups and tests set forward."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def look_up(self, *seconds: float) -> Callable[[], Awaitable[float]]:
        """Give a look-up that takes so long the first time, the second time and so on."""
        taken = iter(seconds)

        async def look_up() -> float:
            await asyncio.sleep(0)
            self.now += next(taken)
            return self.now

        return look_up


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(refreshed, "time", clock)
    return clock


async def test_one_slow_look_up_left_old_figures_on_the_page_for_minutes(
    clock: Clock,
) -> None:
    value = RefreshedValue(clock.look_up(6, 0.1, 6, 6))
    for again_after in (1.1, 2.1, 2.1, 119):
        await looked(value)
        clock.now += again_after
    # Only what was slow twice in a row is looked up seldom: once in 20 times 6 s.
    assert value.prepare() is None
    clock.now += 1.1
    assert value.prepare() is not None
    await value.close()


async def test_a_look_up_was_taken_for_slow_because_it_had_waited_for_its_turn(
    clock: Clock,
) -> None:
    turn = asyncio.Lock()
    slow = RefreshedValue(clock.look_up(6, 6), turn=turn)
    quick = RefreshedValue(clock.look_up(0, 0, 0), turn=turn)
    for _ in range(2):
        await asyncio.gather(looked(slow), looked(quick))
        clock.now += 1.1

    assert slow.prepare() is None
    await looked(quick)


async def looked(value: RefreshedValue[float]) -> None:
    """Wait for a look-up that it is time for."""
    looking = value.prepare()
    assert looking is not None
    await looking


def test_a_full_disk_of_the_database_was_an_error_without_a_cause() -> None:
    found = explain_code("53100", "could not extend file")

    assert isinstance(found, DatabaseProblem)
    assert (found.status_code, str(found)) == (
        503,
        "The database has no disk space left.",
    )


async def test_a_first_value_that_takes_long_is_guessed_until_it_is_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refreshed, "FIRST_TIMEOUT_SECONDS", 0.01)
    found = asyncio.Event()

    async def look_up() -> str:
        await found.wait()
        return "counted"

    async def guess() -> str:
        return "guessed"

    value = RefreshedValue(look_up, guess)

    assert await value.get() == "guessed"
    looking = value.prepare()
    assert looking is not None
    found.set()
    await looking
    assert await value.get() == "counted"


async def test_a_guess_does_not_hide_that_the_look_up_failed() -> None:
    async def look_up() -> str:
        raise OSError("unreachable")

    async def guess() -> str:
        return "guessed"

    value = RefreshedValue(look_up, guess)

    with pytest.raises(OSError, match="unreachable"):
        await value.get()
