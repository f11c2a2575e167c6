"""How long the event loop of a server stands still over large requests, by route."""

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import httpx
from sqlalchemy import text

from scrapersky.api.account.people import add_tenant
from scrapersky.db.connection import connect, parse_target
from scrapersky.records.status import Role
from tests.api.gateway.largest import LargeRequest
from tests.api.gateway.planted import plant
from tests.api.gateway.rig import Person, a_person
from tests.api.gateway.watched import WatchedServer

BUDGET_SECONDS = 0.1
"""How long nobody is answered because of one request."""
TRIES = 4
"""A collection of garbage, or the first use of a module, may fall into one of them."""
TIMEOUT_SECONDS = 30
UNANSWERED = 599
"""The status of an answer that did not come."""
NEIGHBOUR_SECONDS = 0.05
"""How often the other tenant asks for its list."""


@dataclass(frozen=True, slots=True)
class Pause:
    """The longest pause over the requests to a route, and which request it was."""

    seconds: float
    what: str
    status: int


@dataclass(frozen=True, slots=True)
class Inhabitants:
    """Who asks, what there is of theirs, and who has to wait for them."""

    admin: Person
    viewer: Person
    ids: Mapping[str, UUID]
    neighbour: Person


async def inhabit(database_url: str) -> Inhabitants:
    """Give a database two tenants with a row of everything."""
    engine = connect(parse_target(database_url))
    async with engine.begin() as connection:
        oldest = "SELECT id FROM tenants ORDER BY created_at LIMIT 1"
        home = UUID(str(await connection.scalar(text(oldest))))
        other = (await add_tenant(connection, name="Other", slug="other")).id
    people = [
        await a_person(engine, tenant, role)
        for tenant, role in (
            (home, Role.ADMIN),
            (home, Role.VIEWER),
            (other, Role.VIEWER),
        )
    ]
    admin, viewer, neighbour = people
    ids = await plant(engine, home, "ours")
    await plant(engine, other, "theirs")
    await engine.dispose()
    return Inhabitants(admin, viewer, ids, neighbour)


@dataclass(slots=True)
class Neighbour:
    """Another tenant, who asks for a plain list all the while."""

    waits: list[float] = field(default_factory=list)

    @property
    def p95(self) -> float:
        """Return what 95 of 100 of its requests took at most, in seconds."""
        return statistics.quantiles(self.waits, n=20)[-1]

    async def ask(self, client: httpx.AsyncClient, person: Person) -> None:
        while True:
            began = time.monotonic()
            answer = await client.get("/api/v3/domains", headers=person.headers)
            self.waits.append(time.monotonic() - began)
            assert answer.status_code == 200, answer.text
            await asyncio.sleep(NEIGHBOUR_SECONDS)


@asynccontextmanager
async def neighbour_of(
    server: WatchedServer, person: Person
) -> AsyncIterator[Neighbour]:
    """Let another tenant ask, for the time of the block."""
    neighbour = Neighbour()
    async with httpx.AsyncClient(
        base_url=server.url, timeout=TIMEOUT_SECONDS
    ) as client:
        asking = asyncio.create_task(neighbour.ask(client, person))
        try:
            yield neighbour
        finally:
            asking.cancel()


async def longest_pauses(
    server: WatchedServer,
    person: Person,
    requests: Iterable[LargeRequest],
    *,
    budget: float,
) -> dict[str, Pause]:
    """Send every request, and return the longest pause of each route."""
    found: dict[str, Pause] = {}
    async with httpx.AsyncClient(
        base_url=server.url, timeout=TIMEOUT_SECONDS
    ) as client:
        for request in requests:
            pause = await pause_over(server, client, person, request, budget)
            known = found.get(request.name)
            if known is None or (pause.status >= 500, pause.seconds) > (
                known.status >= 500,
                known.seconds,
            ):
                found[request.name] = pause
    return found


async def pause_over(
    server: WatchedServer,
    client: httpx.AsyncClient,
    person: Person,
    request: LargeRequest,
    budget: float,
) -> Pause:
    """Send one request, again where it seems too long; return its shortest pause."""
    pauses: list[float] = []
    status = 0
    while not pauses or (pauses[-1] > budget and len(pauses) < TRIES):
        await asyncio.to_thread(server.pause)
        status = await sent(client, person, request)
        pauses.append(await asyncio.to_thread(server.pause))
    return Pause(min(pauses), request.what, status)


async def sent(client: httpx.AsyncClient, person: Person, request: LargeRequest) -> int:
    """Send a request, read its answer to the end, and return its status."""
    try:
        async with client.stream(
            request.operation.method,
            request.url,
            headers={**person.headers, **request.headers},
            content=request.body,
        ) as answer:
            async for _ in answer.aiter_raw():
                pass
            return answer.status_code
    except httpx.TimeoutException:
        return UNANSWERED


def as_table(pauses: dict[str, Pause]) -> str:
    """Write the pauses, the longest first."""
    rows = sorted(pauses.items(), key=lambda item: -item[1].seconds)
    return "\n".join(
        f"{pause.seconds * 1_000:8.1f} ms  {pause.status}  {name}  ({pause.what})"
        for name, pause in rows
    )
