"""The server: uvicorn, set up as the product needs it, wherever it is started."""

import asyncio
import socket
from typing import Final

import uvicorn
from fastapi import FastAPI
from typing_extensions import override

from scrapersky.api.http_protocol import HttpProtocol

ASK_AGAIN: Final = 0.1


class Server(uvicorn.Server):
    """Serves the application; streams still open at the end get a moment to end."""

    def __init__(
        self, app: FastAPI, *, grace: int, protocol: type[HttpProtocol] = HttpProtocol
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
                timeout_graceful_shutdown=grace,
            )
        )
        self._state = app.state

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # A stream that nobody ends would hold up every stop.
        if (operations := getattr(self._state, "operations", None)) is not None:
            operations.broker.close()
        ending = asyncio.create_task(self._end_connections())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()

    async def _end_connections(self) -> None:
        """End every connection after its answer, also one let in as the stop began.

        uvicorn asks each once; a browser that came a moment later keeps its connection,
        and the stop would wait for it in vain.
        """
        while True:
            await asyncio.sleep(ASK_AGAIN)
            for connection in list(self.server_state.connections):
                connection.shutdown()
