"""The process that holds the zoo: its sites, its DNS server, its canaries.

Started as `python -m tests.zoo.serve LANE PACE NUMBER DIRECTORY`; greets with one
line of JSON, and afterwards answers every line on its input with one line on its output.
"""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.zoo import CANARIES, all_sites, make_lane, namespace
from tests.zoo.case import ON_PLAIN, Site
from tests.zoo.name import NameServer, Zone
from tests.zoo.tls import RAW, Authority
from tests.zoo.wire import Exchange, Lane, Visit, converse

LONGEST = 300.0
"""No conversation with the zoo lasts longer, whoever forgot it."""

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Keeper:
    """Opens everything that listens and remembers what it saw."""

    def __init__(self, lane: Lane, directory: Path) -> None:
        self.lane = lane
        self.directory = directory
        self.log: list[Visit] = []
        self.connections = 0
        self.canaries: list[str] = []
        self.deaf: list[str] = []
        self.plugs: list[socket.socket] = []

    async def open(self, sites: Iterable[Site], canaries: Iterable[str]) -> None:
        """Listen for every bad site, and in every place that must stay untouched."""
        authority = Authority()
        authority.save(self.directory / "ca.pem")
        for address, site in self.addressed(sites):
            if site.listens and not site.good:
                await self.open_site(site, address, authority)
            elif site.slug == "blackhole":
                self.plug(address)
        for place in canaries:
            await self.open_canary(place)

    async def open_good(self, sites: Sequence[Site]) -> None:
        """Listen for the good sites and for questions about any name."""
        for address, site in self.addressed(sites):
            if site.good:
                await listen(self.handler(site), address, self.lane.http)
        plain = {site.slug: address for address, site in self.addressed(sites)}
        del plain["dns-nowhere"]
        await self.open_names(Zone(plain, self.lane.pace))

    def addressed(self, sites: Iterable[Site]) -> Iterator[tuple[str, Site]]:
        """Return each site with its address."""
        return ((self.lane.address(n), site) for n, site in enumerate(sites))

    async def open_site(self, site: Site, address: str, authority: Authority) -> None:
        handler = self.handler(site)
        if site.tls is None or site.tls == ON_PLAIN or site.both:
            secure = site.tls == ON_PLAIN
            context = authority.context("good", f"{site.slug}.com") if secure else None
            await listen(handler, address, self.lane.http, ssl=context)
        if site.tls not in {None, ON_PLAIN}:
            kind = site.tls or RAW
            context = authority.context(kind, f"{site.slug}.com")
            await listen(handler, address, self.lane.https, ssl=context)

    def handler(self, site: Site) -> Handler:
        async def handle(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            self.connections += 1
            exchange = Exchange(site.slug, self.lane, reader, writer, self.log)
            try:
                if site.connect:
                    with contextlib.suppress(OSError, TimeoutError):
                        async with asyncio.timeout(LONGEST):
                            await site.connect(exchange)
                else:
                    await converse(exchange, site.serve, site.robots, budget=LONGEST)
            finally:
                self.connections -= 1
                writer.close()

        return handle

    def plug(self, address: str) -> None:
        """Fill the queue of a listener nobody accepts from: further SYNs are lost."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, self.lane.http))
        listener.listen(0)
        self.plugs.append(listener)
        for _ in range(4):
            plug = socket.socket()
            plug.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                plug.connect((address, self.lane.http))
            self.plugs.append(plug)

    async def open_names(self, zone: Zone) -> None:
        """Answer DNS over UDP and TCP at the same address and port."""
        loop = asyncio.get_running_loop()
        server = NameServer(zone)
        port = 53 if self.lane.http == 80 else self.lane.http
        place = (f"{self.lane.network}.0.53", port)
        await loop.create_datagram_endpoint(lambda: server, local_addr=place)
        await asyncio.start_server(server.over_tcp, *place)

    async def open_canary(self, place: str) -> None:
        host, _, port = place.rpartition(":")

        async def sing(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            self.canaries.append(place)
            writer.close()

        try:
            await listen(sing, host.strip("[]"), int(port))
        except OSError:
            self.deaf.append(place)

    def report(self, question: str) -> dict[str, Any]:
        """Answer one line of the control channel."""
        match question:
            case "log":
                visits, self.log[:] = [as_json(visit) for visit in self.log], []
                return {"visits": visits, "canaries": self.canaries}
            case "yield":
                # In the world the bad servers do not run on the crawler's processors.
                os.nice(19)
                return {}
            case "open" | "open without good":
                return {"deaf": self.deaf}
            case _:
                return {"connections": self.connections}


async def listen(handler: Handler, host: str, port: int, **more: Any) -> None:
    if more.get("ssl") is not None:
        more["ssl_handshake_timeout"] = 60.0
        more["ssl_shutdown_timeout"] = 1.0
    await asyncio.start_server(handler, host, port, limit=1 << 20, backlog=256, **more)


def as_json(visit: Visit) -> dict[str, Any]:
    request = visit.request
    return {
        "slug": visit.slug,
        "method": request.method,
        "target": request.target,
        "headers": request.headers,
        "began": visit.began,
        "ended": visit.ended,
        "sent": visit.sent,
    }


async def serve_good(lane: Lane, directory: Path) -> None:
    """Be the good half of the zoo, in a process the bad half cannot slow down."""
    await Keeper(lane, directory).open_good(all_sites())
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)


async def start_good(words: Sequence[str]) -> asyncio.subprocess.Process:
    """Start the good half; it ends when we do, for it reads from us."""
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.zoo.serve", *words, "good"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    if child.stdout and await child.stdout.readline() != b"ready\n":
        raise RuntimeError("the good half did not start")
    return child


async def main(lane: Lane, directory: Path, words: Sequence[str]) -> None:
    """Serve until the input ends."""
    loop = asyncio.get_running_loop()
    # A client that hangs up in the middle is what the zoo provokes, not news.
    loop.set_exception_handler(lambda _loop, _context: None)
    keeper = Keeper(lane, directory)
    good: asyncio.subprocess.Process | None = None
    print(json.dumps({"hello": os.getpid()}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        if line.startswith("open"):
            if lane.name == "namespace":
                namespace.hold_addresses()
            good = await start_good(words) if line.strip() == "open" else None
            await keeper.open(all_sites(), CANARIES[lane.name])
        print(json.dumps(keeper.report(line.strip())), flush=True)
    if good is not None and good.stdin is not None:
        good.stdin.close()
        await good.wait()


if __name__ == "__main__":
    name, pace, number, where, *role = sys.argv[1:]
    place = make_lane(name, float(pace), int(number))
    if role:
        asyncio.run(serve_good(place, Path(where)))
    else:
        asyncio.run(main(place, Path(where), sys.argv[1:]))
