"""A small server that says exactly what a test wants, and a crawler that may reach it."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

from scrapersky.crawler import (
    Crawler,
    CrawlerPolicy,
    FetchLimits,
    FetchRecord,
    MemoryLedger,
    Resolver,
)
from scrapersky.crawler.pool import tls_context

TRUST = tls_context()
LOOPBACK = ip_network("127.0.0.0/8")
QUICK = replace(
    FetchLimits(),
    dns=timedelta(seconds=1),
    connect=timedelta(seconds=1),
    tls=timedelta(seconds=1),
    headers=timedelta(seconds=1),
    total=timedelta(seconds=3),
    rate_grace=timedelta(seconds=1),
)


def answer(
    body: bytes = b"<html>hello</html>",
    *headers: str,
    status: str = "200 OK",
    kind: str = "",
) -> bytes:
    """Return a plain answer with a length."""
    lines = [
        f"HTTP/1.1 {status}",
        f"Content-Type: {kind or 'text/html'}",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


NOT_FOUND = answer(b"", status="404 Not Found")


@dataclass(slots=True)
class Site:
    """A server on loopback: what it says for each path, and what it was asked."""

    port: int = 0
    says: dict[str, bytes | Sequence[bytes]] = field(default_factory=dict)
    requests: list[bytes] = field(default_factory=list)
    moments: list[tuple[float, float]] = field(default_factory=list)
    connections: int = 0
    pace: float = 0.0
    closes: bool = False
    scheme: str = "http"

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def paths(self) -> list[str]:
        return [request.split(b" ")[1].decode("latin-1") for request in self.requests]

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connections += 1
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                began = asyncio.get_running_loop().time()
                self.requests.append(request)
                await asyncio.sleep(self.pace)
                writer.write(self._said(request.split(b" ")[1].decode("latin-1")))
                self.moments.append((began, asyncio.get_running_loop().time()))
                if self.closes:
                    break
        except (
            asyncio.IncompleteReadError,
            ConnectionError,
            asyncio.LimitOverrunError,
        ):
            pass
        finally:
            writer.close()

    def _said(self, path: str) -> bytes:
        said = self.says.get(path, self.says.get("*", NOT_FOUND))
        if isinstance(said, bytes):
            return said
        times = sum(1 for one in self.paths() if one == path)
        return said[min(times, len(said)) - 1]


@asynccontextmanager
async def a_site(
    says: Mapping[str, bytes | Sequence[bytes]] | None = None,
    *,
    tls: ssl.SSLContext | None = None,
    **how: Any,
) -> AsyncIterator[Site]:
    """Run a site for a while."""
    site = Site(says={"/robots.txt": NOT_FOUND, **(says or {})}, **how)
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    site.scheme = "https" if tls else "http"
    try:
        yield site
    finally:
        server.close()


class Names:
    """A resolver of our own: the same answer for every name, or one per name."""

    def __init__(self, *addresses: str, **names: Sequence[str]) -> None:
        self.addresses = addresses
        self.names = {name.replace("_", "."): found for name, found in names.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return self.names.get(host, self.addresses)


def a_policy(*sites: Site, **how: Any) -> CrawlerPolicy:
    """Return a quick policy that may reach these sites."""
    defaults: dict[str, Any] = {
        "host_delay": timedelta(),
        "limits": QUICK,
        "host_timeout": timedelta(seconds=10),
        "extra_networks": (LOOPBACK,),
        "extra_ports": frozenset(site.port for site in sites),
    }
    return CrawlerPolicy(**{**defaults, **how})


@asynccontextmanager
async def a_crawler(
    *sites: Site,
    resolver: Resolver | None = None,
    tls: ssl.SSLContext | None = None,
    ledger: MemoryLedger | None = None,
    records: list[FetchRecord] | None = None,
    now: Callable[[], datetime] | None = None,
    **how: Any,
) -> AsyncIterator[Crawler]:
    """Run a crawler that may reach these sites."""
    crawler = Crawler(
        a_policy(*sites, **how),
        ledger or a_ledger(),
        resolver=resolver or Names("127.0.0.1"),
        ssl_context=tls or TRUST,
        listeners=[records.append] if records is not None else (),
        now=now,
    )
    async with crawler:
        yield crawler


def a_ledger() -> MemoryLedger:
    return MemoryLedger(utc_now)


def utc_now() -> datetime:
    return datetime.now(UTC)
