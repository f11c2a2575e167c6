"""One query for all who ask at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
AnswerT = TypeVar("AnswerT")


class BatchLoader(Generic[KeyT, AnswerT]):
    """Asks about several keys at once: who asks while a query runs shares the next one."""

    def __init__(
        self, ask: Callable[[list[KeyT]], Awaitable[Mapping[KeyT, AnswerT]]]
    ) -> None:
        self._ask = ask
        self._waiting: dict[KeyT, list[asyncio.Future[AnswerT | None]]] = {}
        self._asking: asyncio.Task[None] | None = None

    async def get(self, key: KeyT) -> AnswerT | None:
        """Return what is known of a key, as of now; raise what the query raised."""
        answer: asyncio.Future[AnswerT | None] = (
            asyncio.get_running_loop().create_future()
        )
        self._waiting.setdefault(key, []).append(answer)
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask_all(), name="together")
        return await answer

    async def _ask_all(self) -> None:
        waiting: dict[KeyT, list[asyncio.Future[AnswerT | None]]] = {}
        try:
            while self._waiting:
                # Whoever is about to ask in this turn of the loop comes along.
                await asyncio.sleep(0)
                waiting, self._waiting = self._waiting, {}
                try:
                    found = await self._ask(list(waiting))
                except Exception as error:  # noqa: BLE001 - theirs who asked
                    for answer in unanswered(waiting):
                        answer.set_exception(error)
                    continue
                for key, answers in waiting.items():
                    for answer in answers:
                        if not answer.done():
                            answer.set_result(found.get(key))
        finally:
            self._asking = None
            # The task was cancelled: nobody would ever answer.
            for answer in (*unanswered(waiting), *unanswered(self._waiting)):
                answer.cancel()
            self._waiting = {}


def unanswered(
    waiting: Mapping[KeyT, list["asyncio.Future[AnswerT | None]"]],
) -> "list[asyncio.Future[AnswerT | None]]":
    """Return who still waits; who gave up does not."""
    return [one for some in waiting.values() for one in some if not one.done()]
