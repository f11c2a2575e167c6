"""Hostile sites beside healthy ones: a server for them, and the names that lead there.

What a site does follows from its name, so that every process knows it without asking.
Everything stays on loopback: as in the demo town, the server speaks as a proxy.
"""

import asyncio
import gzip
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle, islice

from contact_extraction.urls import Url
from scrapersky.crawler.proxy import ProxyRules
from scrapersky.demo.services import TownResolver
from scrapersky.errors import NoSuchHost
from simulated_town.addresses import TOWN_NETWORK
from simulated_town.process import until_stopped

ENDING = "-hostile.bv"
FIRST_ADDRESS = TOWN_NETWORK.network_address + 500_000
CLOSED = Url("http", "127.0.0.1", 9)
MIB = 1 << 20
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
HOME = b"<!DOCTYPE html><title>Welcome</title><h1>Welcome</h1><p>We sell lamps."

Writer = asyncio.StreamWriter
Act = Callable[[Writer, str], Awaitable[None]]


def whole(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    """Write an answer that has an end."""
    lines = [b"HTTP/1.1 " + status, *headers, b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body])


async def be_silent(_writer: Writer, _path: str) -> None:
    """Say nothing, and keep the line."""
    await asyncio.sleep(3600)


async def drip(writer: Writer, path: str) -> None:
    """Send a page by single bytes."""
    if path == "/robots.txt":
        writer.write(whole(b"", status=b"404 Not Found"))
        return
    writer.write(OK + b"Connection: close\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"<")
        await asyncio.sleep(0.3)


async def drip_headers(writer: Writer, _path: str) -> None:
    """Send one header after the other, without end."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while not writer.is_closing():
        writer.write(b"X-More: yes\r\n")
        await asyncio.sleep(0.4)


async def write_for_ever(writer: Writer, path: str) -> None:
    """Send a page that has no end, as fast as it is read."""
    if path == "/robots.txt":
        writer.write(whole(b"", status=b"404 Not Found"))
        return
    writer.write(OK + b"Connection: close\r\n\r\n")
    while not writer.is_closing():
        writer.write(b"<p>more" * 9_000)
        await writer.drain()


async def stack_gzip(writer: Writer, path: str) -> None:
    """Send a little that becomes very much, twice."""
    if path == "/robots.txt":
        writer.write(whole(b"", status=b"404 Not Found"))
        return
    headers = (b"Content-Type: text/html", b"Content-Encoding: gzip, gzip")
    writer.write(whole(bomb(), *headers))


@cache
def bomb() -> bytes:
    """Make 256 MiB small."""
    return gzip.compress(gzip.compress(bytes(MIB), 9) * 256, 9)


async def hang_up(writer: Writer, _path: str) -> None:
    """Reset the connection."""
    writer.transport.abort()


async def be_busy(writer: Writer, _path: str) -> None:
    """Ask to come back soon, for ever."""
    writer.write(whole(b"", b"Retry-After: 1", status=b"503 Service Unavailable"))


async def send_round(writer: Writer, path: str) -> None:
    """Redirect to somewhere new each time."""
    writer.write(whole(b"", b"Location: " + path.encode() + b"x", status=b"302 Found"))


async def nest_deeply(writer: Writer, path: str) -> None:
    """Send a page that is nothing but depth."""
    body = b"" if path == "/robots.txt" else b"<div><span>" * 90_000
    writer.write(whole(body, b"Content-Type: text/html"))


async def talk_rubbish(writer: Writer, _path: str) -> None:
    """Send what is not HTTP."""
    writer.write(b"\x16\x03\x01\x02\x00" * 40)
    writer.transport.close()


async def hide_sitemaps(writer: Writer, path: str) -> None:
    """Have a good home page, and sitemaps that never come."""
    if path == "/":
        writer.write(whole(HOME, b"Content-Type: text/html"))
    elif path == "/robots.txt":
        lines = (f"Sitemap: /map{n}.xml" for n in range(20))
        writer.write(whole("\n".join(lines).encode(), b"Content-Type: text/plain"))
    else:
        await asyncio.sleep(3600)


async def endless_rules(writer: Writer, path: str) -> None:
    """Have a robots.txt of many megabytes."""
    body = b"Disallow: /nothing\n" * 300_000 if path == "/robots.txt" else HOME
    writer.write(whole(body, b"Content-Type: text/plain"))
    await writer.drain()


ACTS: dict[str, Act] = {
    "silent": be_silent,
    "drip": drip,
    "headers": drip_headers,
    "endless": write_for_ever,
    "bomb": stack_gzip,
    "reset": hang_up,
    "busy": be_busy,
    "round": send_round,
    "deep": nest_deeply,
    "rubbish": talk_rubbish,
    "maps": hide_sitemaps,
    "rules": endless_rules,
    "neighbour": be_silent,
}
"""What the server does, by the first word of a name."""
MIX = ("nodns", "silent", "bomb", "nodns", "drip", "maps", "refused", "headers", "nodns",
       "endless", "silent", "reset", "busy", "round", "neighbour", "deep", "rubbish",
       "rules", "nxdomain", "silent")  # fmt: skip


def hostile_names(count: int) -> list[str]:
    """Name so many hostile sites, of every sort."""
    sorts = islice(cycle(MIX), count)
    return [f"{sort}-{number}{ENDING}" for number, sort in enumerate(sorts)]


@dataclass(frozen=True, slots=True)
class MixedResolver:
    """The names of the town and of the hostile sites; some share an address."""

    town: TownResolver

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Return the address of a name; or never, or raise."""
        name = host.removeprefix("www.")
        if not name.endswith(ENDING):
            return await self.town.resolve(host, port)
        sort, _, number = name.removesuffix(ENDING).partition("-")
        if sort == "nxdomain" or host != name:
            raise NoSuchHost(host, "there is no such name")
        if sort == "nodns":
            await asyncio.sleep(3600)
        if sort == "neighbour":
            shared = list(self.town.addresses.values())
            return (shared[int(number) % len(shared)],)
        return (str(FIRST_ADDRESS + int(number)),)


@dataclass(frozen=True, slots=True)
class Doors(ProxyRules):
    """Which server answers for a name: the town's, the hostile one, or none at all."""

    hostile: Url | None = None

    def choose(self, url: Url) -> Url | None:
        """Return the server of a URL's host."""
        if not url.host.endswith(ENDING):
            return ProxyRules.choose(self, url)
        return CLOSED if url.host.startswith("refused-") else self.hostile


async def answer(reader: asyncio.StreamReader, writer: Writer) -> None:
    """Answer requests in the way their site has."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            method, target, *_ = head.split(b" ", 2)
            if method == b"CONNECT":
                writer.write(whole(b"", status=b"502 Bad Gateway"))
                break
            host, _, path = target.decode("latin-1").partition("://")[2].partition("/")
            await ACTS[host.partition("-")[0]](writer, f"/{path}")
            await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def serve() -> None:
    """Serve until standard input closes; the port is the first line of output."""
    bomb()
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await until_stopped()
    # Without a farewell: many of its connections never end.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(serve())
