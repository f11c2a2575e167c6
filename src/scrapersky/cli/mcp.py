"""`scrapersky mcp`."""

import asyncio
import os
from importlib import import_module
from typing import Literal

from scrapersky.cli.options import PortNumber
from scrapersky.cli.up import a_listener
from scrapersky.errors import ConfigurationError

KEY: str = "SCRAPERSKY_API_KEY"


def mcp(
    *,
    url: str = "http://127.0.0.1:8000",
    transport: Literal["stdio", "http"] = "stdio",
    host: str = "127.0.0.1",
    port: PortNumber = 8010,
    name: tuple[str, ...] = (),
    issuer: str | None = None,
) -> int:
    """Let language models search, read and decide, by the Model Context Protocol.

    Over stdio it acts with the API key in SCRAPERSKY_API_KEY; over HTTP with that of each request.

    Parameters
    ----------
    url
        Where ScraperSky is served.
    transport
        `stdio` for one program on this machine, `http` (streamable HTTP at `/mcp`) for others.
    host
        Address that `http` listens on.
    port
        Port that `http` listens on.
    name
        A name by which others ask for it, as in `mcp.example.com`; the first is in the metadata.
    issuer
        Who issues the access tokens that the API accepts; without it clients bring API keys.
    """
    # What speaks the protocol takes seconds to load, and no other command needs it.
    server = import_module("scrapersky.mcp.server")
    address = url.rstrip("/")
    if transport == "http":
        with a_listener(host, port, setting="--port") as listener:
            asyncio.run(server.serve_http(address, listener, name, issuer))
        return 0
    key = os.environ.get(KEY)
    if not key:
        raise ConfigurationError(
            f"{KEY} is not set.",
            hint="Make a key with `scrapersky key create`, and put it there.",
        )
    asyncio.run(server.serve_stdio(address, key))
    return 0
