"""A plain visitor of the town: raw sockets, no code of the crawler."""

import asyncio
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Seen:
    status: int
    headers: dict[str, str]
    body: bytes

    def text(self) -> str:
        charset = "utf-8"
        for name in ("iso-8859-1", "iso-8859-2", "shift_jis"):
            if f'charset="{name}"'.encode() in self.body:
                charset = name
        return self.body.decode(charset)


class Visitor:
    """Asks one thing after the other over one connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._streams
        self._streams[1].close()
        await self._streams[1].wait_closed()

    async def send(self, text: str) -> asyncio.StreamReader:
        assert self._streams
        reader, writer = self._streams
        writer.write(text.encode())
        await writer.drain()
        return reader

    async def get(self, url: str, *, method: str = "GET", extra: str = "") -> Seen:
        host = url.split("/")[2]
        reader = await self.send(
            f"{method} {url} HTTP/1.1\r\nHost: {host}\r\n{extra}\r\n"
        )
        status, headers = await read_head(reader)
        length = 0 if method == "HEAD" else int(headers.get("content-length", "0"))
        return Seen(status, headers, await reader.readexactly(length))


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    pairs = (line.partition(": ") for line in head[1:] if line)
    return int(head[0].split()[1]), {name.lower(): value for name, _, value in pairs}
