"""Figures of dashboards: a look-up that hangs keeps nobody waiting who has an older one."""

import asyncio

import pytest

from scrapersky.api.operations import refreshed
from scrapersky.api.operations.refreshed import RefreshedValue
from scrapersky.api.refusal import explain_code
from scrapersky.errors import DatabaseProblem


async def test_under_a_locked_table_every_look_at_the_stages_hung(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refreshed, "TIMEOUT", 0.01)
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
    monkeypatch.setattr(refreshed, "SHORTEST", -1.0)
    monkeypatch.setattr(refreshed, "SHARE", 0)
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
    monkeypatch.setattr(refreshed, "YOUNG", -1.0)
    awaited = await value.get()
    await value.close()

    assert (first, at_once, then, awaited) == (0, 0, 1, 2)


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
    monkeypatch.setattr(refreshed, "FIRST_TIMEOUT", 0.01)
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
