"""Listeners nobody may ever reach; each contact is a hole in the guard."""

import asyncio
from collections.abc import Iterable
from typing import Self


class Canaries:
    """Listens in forbidden places of this namespace while it is open."""

    def __init__(self, places: Iterable[str]) -> None:
        self.places = list(places)
        self.hits: list[str] = []
        self._servers: list[asyncio.Server] = []

    async def __aenter__(self) -> Self:
        for place in self.places:
            host, _, port = place.rpartition(":")
            server = await asyncio.start_server(
                self._sing(place), host.strip("[]"), int(port)
            )
            self._servers.append(server)
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()
            await server.wait_closed()

    def _sing(self, place: str) -> "Singer":
        return Singer(self.hits, place)


class Singer:
    """Notes one contact and hangs up."""

    def __init__(self, hits: list[str], place: str) -> None:
        self.hits, self.place = hits, place

    def __call__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.hits.append(self.place)
        writer.close()
