"""A town in a process of its own, so that it does not share a core with its visitors."""

import asyncio
import json
import signal
import sys
import threading
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from http.client import HTTPConnection

from simulated_town.addresses import LOOPBACK
from simulated_town.log import HostRecord
from simulated_town.town import DEFAULT_SIZE, VISITS, TownEndpoint


@dataclass(frozen=True, slots=True)
class TownProcess:
    """A town elsewhere on this machine."""

    endpoint: TownEndpoint

    async def records(self) -> Sequence[HostRecord]:
        """Ask how each site was visited, the busiest first."""
        return await asyncio.to_thread(_ask_for_records, self.endpoint.port)


@asynccontextmanager
async def town_process(
    *,
    size: int = DEFAULT_SIZE,
    seed: int = 1,
    trouble: bool = True,
    lies: bool = False,
    archive: int = 0,
) -> AsyncIterator[TownProcess]:
    """Run a town in another process until the block ends."""
    options = ["--size", str(size), "--seed", str(seed), "--archive", str(archive)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "simulated_town",
        *options,
        *([] if trouble else ["--calm"]),
        *(["--lies"] if lies else []),
        stdin=PIPE,
        stdout=PIPE,
    )
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    try:
        port, dns_port = map(int, (await process.stdout.readline()).split())
        yield TownProcess(
            TownEndpoint(
                port=port,
                dns_port=dns_port,
                size=size,
                seed=seed,
                trouble=trouble,
                lies=lies,
            )
        )
    finally:
        process.stdin.close()
        await process.wait()


async def until_stopped() -> None:
    """Return at the end of standard input, or at a signal: a process ends with its parent."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(stop.set)

    for sign in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(sign, stop.set)
    # A daemon: a read that nobody ends must not keep the process.
    threading.Thread(target=wait_for_end, daemon=True).start()
    await stop.wait()


def _ask_for_records(port: int) -> list[HostRecord]:
    with closing(HTTPConnection(LOOPBACK, port)) as connection:
        connection.request("GET", VISITS)
        return [HostRecord(*row) for row in json.load(connection.getresponse())]
