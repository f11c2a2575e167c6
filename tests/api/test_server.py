"""The server itself: it stops when it is told to."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, ClassVar

from fastapi import FastAPI
from typing_extensions import override

from scrapersky.api.http_protocol import HttpProtocol
from scrapersky.api.server import Server
from sdk_tests.rig.waiting import HUNG

GRACE = 10 * int(HUNG)
"""Longer than the test waits: a stop that needs it has failed."""


class Door(HttpProtocol):
    """The second connection is let in just as the first is asked to end."""

    outside: ClassVar[list[Callable[[], None]]] = []

    @override
    def connection_made(self, transport: Any) -> None:
        made = super().connection_made
        if self.connections:
            self.outside.append(lambda: made(transport))
        else:
            made(transport)

    @override
    def shutdown(self) -> None:
        while self.outside:
            self.outside.pop()()
        super().shutdown()


async def test_who_comes_as_the_door_closes_does_not_hold_up_the_stop() -> None:
    server = Server(FastAPI(), grace=GRACE, protocol=Door)
    listener = socket.create_server(("127.0.0.1", 0))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:  # noqa: ASYNC110 - uvicorn has no event
        await asyncio.sleep(0.01)
    address = listener.getsockname()
    writers = [(await asyncio.open_connection(*address))[1] for _ in range(2)]
    while not Door.outside:  # noqa: ASYNC110
        await asyncio.sleep(0.01)

    server.should_exit = True

    await asyncio.wait_for(running, HUNG)
    for writer in writers:
        writer.close()
