"""A town in a process of its own, so that it does not share a core with its visitors."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from scrapersky.demo.log import HostRecord
from scrapersky.demo.town import DEFAULT_SIZE, USER_AGENT, VISITS, Invitation
from scrapersky.errors import BadProviderAnswer
from scrapersky.providers.client import Client, ClientPolicy, Request


@dataclass(frozen=True, slots=True)
class TownApart:
    """A town elsewhere on this machine."""

    invitation: Invitation

    async def records(self) -> Sequence[HostRecord]:
        """Ask how each site was visited, the busiest first."""
        async with Client(
            "demo", user_agent=USER_AGENT, policy=ClientPolicy()
        ) as client:
            url = f"{self.invitation.address}{VISITS}"
            answer = await client.ask(Request("GET", url, "the log"))
        if not answer.is_json:
            raise BadProviderAnswer("demo", "the town did not show its log")
        return [HostRecord(*row) for row in answer.data]


@asynccontextmanager
async def town_apart(
    *, size: int = DEFAULT_SIZE, seed: int = 1, trouble: bool = True, archive: int = 0
) -> AsyncIterator[TownApart]:
    """Run a town in another process until the block ends."""
    options = ["--size", str(size), "--seed", str(seed), "--archive", str(archive)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "scrapersky.demo",
        *options,
        *([] if trouble else ["--calm"]),
        stdin=PIPE,
        stdout=PIPE,
    )
    assert process.stdin is not None  # noqa: S101 - a pipe was asked for
    assert process.stdout is not None  # noqa: S101 - a pipe was asked for
    try:
        port, dns_port = map(int, (await process.stdout.readline()).split())
        yield TownApart(
            Invitation(
                port=port, dns_port=dns_port, size=size, seed=seed, trouble=trouble
            )
        )
    finally:
        process.stdin.close()
        await process.wait()
