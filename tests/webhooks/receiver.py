"""A server that webhooks are sent to, which answers as a test says."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from standardwebhooks import Webhook, WebhookVerificationError


@dataclass(frozen=True, slots=True)
class Posted:
    """One request that came."""

    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def content(self) -> dict[str, Any]:
        content: dict[str, Any] = orjson.loads(self.body)
        return content

    def is_signed_with(self, secret: str) -> bool:
        try:
            Webhook(secret).verify(self.body.decode(), self.headers)
        except WebhookVerificationError:
            return False
        return True


Answer = Callable[[Posted], str]


def ok(_: Posted) -> str:
    return "204 No Content"


@dataclass(slots=True)
class Receiver:
    """What came, and what is answered: a status line, or nothing at all where it is empty."""

    url: str
    answer: Answer = ok
    delay: float = 0.0
    posted: list[Posted] = field(default_factory=list)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Every event that came, in the order in which they came."""
        found = []
        for one in self.posted:
            if one.content["type"] == "changes":
                found += one.content["data"]["events"]
            else:
                found.append(one.content)
        return found

    @property
    def records(self) -> list[str]:
        return [
            one["data"]["record_id"]
            for one in self.events
            if "record_id" in one["data"]
        ]

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                lines = head.decode().split("\r\n")[1:-2]
                headers = {
                    name.lower(): value
                    for name, _, value in (line.partition(": ") for line in lines)
                }
                body = await reader.readexactly(int(headers["content-length"]))
                self.posted.append(Posted(headers, body))
                if self.delay:
                    await asyncio.sleep(self.delay)
                if not (status := self.answer(self.posted[-1])):
                    return
                writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except asyncio.CancelledError:
            pass  # the test is over; raised again, it is printed
        finally:
            writer.close()


@asynccontextmanager
async def receiving(answer: Answer = ok) -> AsyncIterator[Receiver]:
    """Receive on a port of this machine while the block runs."""
    receiver = Receiver("", answer)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    receiver.url = f"http://127.0.0.1:{port}/hook?of=test"
    try:
        yield receiver
    finally:
        server.close()
