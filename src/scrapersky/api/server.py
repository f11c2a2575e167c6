"""The server: uvicorn, which ends our event streams before it waits for the rest."""

import socket
from typing import Any

import uvicorn
from typing_extensions import override


class Server(uvicorn.Server):
    """Serves the application; a stream that nobody ends would hold up every stop."""

    @override
    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app: Any = self.config.app
        if (desk := getattr(app.state, "desk", None)) is not None:
            desk.hub.close()
        await super().shutdown(sockets)
