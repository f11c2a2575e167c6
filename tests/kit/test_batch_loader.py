"""One query for all who ask at the same time."""

import asyncio

import pytest

from scrapersky.kit.batch_loader import BatchLoader


class Library:
    """Answers when it is told to, and remembers what it was asked at once."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.began = asyncio.Event()
        self.opens = asyncio.Event()
        self.trouble: Exception | None = None

    async def ask(self, words: list[str]) -> dict[str, int]:
        self.asked.append(words)
        self.began.set()
        await self.opens.wait()
        if self.trouble is not None:
            raise self.trouble
        return {word: len(word) for word in words if word != "unknown"}


async def test_who_asks_at_the_same_time_shares_one_query() -> None:
    library = Library()
    library.opens.set()
    together = BatchLoader(library.ask)

    found = await asyncio.gather(*map(together.get, ("one", "three", "unknown", "one")))

    assert found == [3, 5, None, 3]
    assert library.asked == [["one", "three", "unknown"]]


async def test_who_asks_while_a_query_runs_is_answered_by_the_next_one() -> None:
    library = Library()
    together = BatchLoader(library.ask)

    async with asyncio.TaskGroup() as group:
        early = group.create_task(together.get("early"))
        await library.began.wait()
        late = [group.create_task(together.get(word)) for word in ("late", "early")]
        await asyncio.sleep(0)
        library.opens.set()

    assert (early.result(), [one.result() for one in late]) == (5, [4, 5])
    assert library.asked == [["early"], ["late", "early"]]


async def test_a_failed_query_fails_for_all_who_asked_and_for_nobody_after() -> None:
    library = Library()
    library.opens.set()
    library.trouble = OSError("the database is away")
    together = BatchLoader(library.ask)

    found = await asyncio.gather(
        *map(together.get, ("one", "two")), return_exceptions=True
    )
    library.trouble = None

    assert [type(one) for one in found] == [OSError, OSError]
    assert await together.get("one") == 3


async def test_who_gives_up_takes_no_answer_from_the_others() -> None:
    library = Library()
    together = BatchLoader(library.ask)
    async with asyncio.TaskGroup() as group:
        impatient = group.create_task(together.get("one"))
        patient = group.create_task(together.get("one"))
        await library.began.wait()
        impatient.cancel()
        await asyncio.sleep(0)
        library.opens.set()

    assert patient.result() == 3
    with pytest.raises(asyncio.CancelledError):
        impatient.result()
