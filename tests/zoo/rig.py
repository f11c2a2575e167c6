"""Starts the zoo in a process of its own and talks to it."""

import asyncio
import json
import os
import socket
import ssl
import sys
import tempfile
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from scrapersky.crawler.pool import tls_context
from scrapersky.crawler.resolver import Resolver, SystemResolver
from tests.zoo import make_lane, namespace
from tests.zoo.case import Seen
from tests.zoo.resolver import ZooResolver
from tests.zoo.wire import Lane, Request

ROOT = Path(__file__).parents[2]
READY_IN = 60.0


@dataclass(frozen=True, slots=True)
class Report:
    """What the zoo saw since it was last asked."""

    seen: list[Seen]
    canaries: list[str]


class Rig:
    """The zoo, running; use it as an async context manager.

    Without its good half there are no good hosts, and nobody knows any name.
    """

    def __init__(self, lane: str, pace: float, *, good: bool = True) -> None:
        # Another network for each process: two runs on one machine do not meet.
        self._number = os.getpid() if lane == "namespace" else free_network(pace)
        self.lane: Lane = make_lane(lane, pace, self._number)
        self._directory = tempfile.TemporaryDirectory(prefix="zoo-")
        self._process: asyncio.subprocess.Process | None = None
        self._opening = "open" if good else "open without good"
        self._turn = asyncio.Lock()
        self.deaf: list[str] = []

    @property
    def directory(self) -> Path:
        return Path(self._directory.name)

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def _running(self) -> asyncio.subprocess.Process:
        if self._process is None:
            raise RuntimeError("the zoo is closed")
        return self._process

    async def __aenter__(self) -> Self:
        apart = namespace.unshare() if self.is_isolated else []
        words = (self.lane.name, str(self.lane.pace), str(self._number))
        self._process = await asyncio.create_subprocess_exec(
            *apart,
            *(sys.executable, "-m", "tests.zoo.serve", *words, str(self.directory)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
            limit=1 << 26,
        )
        try:
            await self._settle_in()
        except BaseException:
            await self.close()
            raise
        return self

    async def _settle_in(self) -> None:
        async with asyncio.timeout(READY_IN):
            await self._line()  # it has its namespace and waits for the cable
            if self.is_isolated:
                namespace.lay_cable(self.pid)
                namespace.verify_isolation()
            self.deaf = (await self.ask(self._opening))["deaf"]
        if self.is_isolated:
            namespace.use_nameserver(self.name_server[0], self.directory)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the process and remove what it wrote."""
        if self._running.stdin:
            self._running.stdin.close()
        try:
            async with asyncio.timeout(5):
                await self._running.wait()
        except TimeoutError:
            self._running.kill()
            await self._running.wait()
        self._directory.cleanup()

    async def ask(self, question: str) -> dict[str, Any]:
        """Send one line to the zoo and return its answer."""
        async with self._turn:
            pipe = self._running.stdin
            if pipe is None:
                raise RuntimeError("the zoo has no input")
            pipe.write(f"{question}\n".encode())
            await pipe.drain()
            return await self._line()

    async def _line(self) -> dict[str, Any]:
        pipe = self._running.stdout
        line = await pipe.readline() if pipe else b""
        if not line:
            raise RuntimeError("the zoo has died")
        answer: dict[str, Any] = json.loads(line)
        return answer

    async def report(self) -> Report:
        """Return what was seen since the last report."""
        answer = await self.ask("log")
        return Report([as_seen(row) for row in answer["visits"]], answer["canaries"])

    @property
    def is_isolated(self) -> bool:
        """Say whether the zoo has a network namespace of its own."""
        return self.lane.name == "namespace"

    @property
    def name_server(self) -> tuple[str, int]:
        port = 53 if self.lane.http == 80 else self.lane.http
        return f"{self.lane.network}.0.53", port

    def resolver(self) -> Resolver:
        """Return what the crawler should ask: in a namespace, what it always asks."""
        if self.is_isolated:
            return SystemResolver()
        return ZooResolver(*self.name_server)

    def trust(self) -> ssl.SSLContext:
        """Return the crawler's own context, which trusts our CA as well."""
        context = tls_context()
        context.load_verify_locations(str(self.directory / "ca.pem"))
        return context

    def extra_ports(self) -> frozenset[int]:
        """Return the ports the crawler must be given: none in a namespace."""
        ours = frozenset({self.lane.http, self.lane.https})
        return frozenset() if self.is_isolated else ours

    def extra_networks(self) -> tuple[Any, ...]:
        """Return the networks the crawler must be given: none in a namespace."""
        network = ip_network(f"{self.lane.network}.0.0/16")
        return () if self.is_isolated else (network,)


def free_network(pace: float) -> int:
    """Return the number of a loopback network in which nobody listens."""
    for number in range(os.getpid(), os.getpid() + 200):
        lane = make_lane("loopback", pace, number)
        if is_free(lane.address(0), lane.http) and is_free(lane.address(0), lane.https):
            return number
    raise RuntimeError("every loopback network is in use")


def is_free(address: str, port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((address, port))
        except OSError:
            return False
    return True


def as_seen(row: dict[str, Any]) -> Seen:
    headers = tuple((name, value) for name, value in row["headers"])
    request = Request(row["method"], row["target"], headers)
    return Seen(row["slug"], request, row["began"], row["ended"], row["sent"])


def raise_open_files() -> None:
    """Let this process and its children have as many sockets as they may."""
    import resource  # noqa: PLC0415 - there is none on Windows

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def environment() -> dict[str, str]:
    """Return the environment of a process that must not use a proxy."""
    return {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
