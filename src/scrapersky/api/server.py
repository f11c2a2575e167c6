"""The server: uvicorn, set up as the product needs it, wherever it is started."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
)
from typing import Final

import uvicorn
from fastapi import FastAPI
from sqlalchemy.exc import SQLAlchemyError
from typing_extensions import override

from scrapersky.api.http_protocol import HttpProtocol
from scrapersky.errors import ScraperSkyError

POLL_SECONDS: Final = 0.1
CLOSING_GRACE_SECONDS: Final = 3
"""Seconds in which a request that is cut off may take back what it had begun."""

Lifespan = Callable[[FastAPI], AsyncIterator[None]]


def stopping_on_failure(
    lifespan: Lifespan,
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Let the server stop and raise what the start of an application failed with.

    Left to itself it would log a traceback, and end as if it had been asked to.
    """
    managed = asynccontextmanager(lifespan)

    @asynccontextmanager
    async def reporting(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(managed(app))
            except (ScraperSkyError, SQLAlchemyError, OSError) as error:
                if not hasattr(app.state, "raises_failure"):
                    raise
                app.state.failure = error
            yield

    return reporting


class Server(uvicorn.Server):
    """Serves the application; what is asked for still gets `grace` at the end.

    The work in the background stops in the same time, and so does whatever `at_stop` tells.
    """

    def __init__(
        self,
        app: FastAPI,
        *,
        grace: int,
        protocol: type[HttpProtocol] = HttpProtocol,
        at_stop: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                http=protocol,
                lifespan="on",
                loop="asyncio",  # what all is tested on, whatever else is installed
                server_header=False,
                # Whom to believe about where a request comes from is our own setting.
                proxy_headers=False,
                timeout_graceful_shutdown=grace + CLOSING_GRACE_SECONDS,
            )
        )
        self._grace = grace
        self._at_stop = at_stop
        self._state = app.state
        self._state.raises_failure = True

    @override
    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        await super().serve(sockets)
        if (failure := getattr(self._state, "failure", None)) is not None:
            raise failure

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if hasattr(self._state, "failure"):
            self.should_exit = True

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._at_stop()
        if (background := getattr(self._state, "background", None)) is not None:
            background.stopping.set()
        # A stream that nobody ends would hold up every stop.
        if (operations := getattr(self._state, "operations", None)) is not None:
            operations.end_streams()
        ending = asyncio.create_task(self._end_connections())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    async def _end_connections(self) -> None:
        """End every connection after its answer, also one let in as the stop began.

        uvicorn asks each once; a browser that came a moment later keeps its connection,
        and the stop would wait for it in vain. Who has no answer after the grace is cut off:
        uvicorn would do so, and close the database before they have taken anything back.
        """
        loop = asyncio.get_running_loop()
        cutting = loop.call_later(self._grace, self._cut_off)
        try:
            while True:
                await asyncio.sleep(POLL_SECONDS)
                for connection in list(self.server_state.connections):
                    connection.shutdown()
        finally:
            cutting.cancel()

    def _cut_off(self) -> None:
        for connection in list(self.server_state.connections):
            if isinstance(connection, HttpProtocol):
                connection.cut_off()
        for task in list(self.server_state.tasks):
            task.cancel()
