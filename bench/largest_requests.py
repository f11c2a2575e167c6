"""How long the event loop stands still over the largest request to every route.

    python bench/largest_requests.py            every field, every filling; some minutes
    python bench/largest_requests.py --quick    the largest of each route, under a minute

The requests are made from the OpenAPI document: for every route and every field the
longest, the most numerous and the most nested that it allows, as an admin, beside a usual
request to the same route. The server is a process of its own behind a real socket, which
measures the processor time between two turns of its loop; PostgreSQL is a throw-away one.
Another tenant asks for a plain list all the while. The last line is one object of JSON.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk/tests")
)

from scrapersky.db.connection import connect, parse_target
from scrapersky.db.embedded import EmbeddedPostgres
from scrapersky.db.migrate import upgrade
from tests.api.gateway.largest import (
    LargeRequest,
    asked_operations,
    largest_of,
    requests_of,
    usual_request,
)
from tests.api.gateway.pause import (
    BUDGET_SECONDS,
    Inhabitants,
    Pause,
    inhabit,
    longest_pauses,
    neighbour_of,
)
from tests.api.gateway.served import ALONE
from tests.api.gateway.watched import WatchedServer, watching

SHOWN_ROUTES = 25


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    is_quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        Path(home).chmod(0o711)
        with EmbeddedPostgres(Path(home) / "pg") as postgres:
            people = asyncio.run(prepared(postgres.url))
            with watching(postgres.url, ALONE) as server:
                found = asyncio.run(measured(server, people, is_quick=is_quick))
    print(json.dumps(found))


async def prepared(url: str) -> Inhabitants:
    engine = connect(parse_target(url), statement_timeout=None)
    await upgrade(engine)
    await engine.dispose()
    return await inhabit(url)


async def measured(
    server: WatchedServer, people: Inhabitants, *, is_quick: bool
) -> dict[str, Any]:
    """Send all requests; print the table, and return the figures."""
    operations = asked_operations()
    large = largest_of if is_quick else requests_of
    requests = [
        request for operation in operations for request in large(operation, people.ids)
    ]
    asked = {request.operation.id: request.operation for request in requests}
    usual = [usual_request(each, people.ids) for each in asked.values()]
    as_usual = await sent(server, people, usual)
    before, began = server.memory(), time.monotonic()
    async with neighbour_of(server, people.neighbour) as neighbour:
        largest = await sent(server, people, requests)
    kept = server.memory() - before
    print_table(as_usual, largest)
    return {
        "requests": len(requests),
        "routes": len(largest),
        "seconds": round(time.monotonic() - began, 1),
        "budget_ms": BUDGET_SECONDS * 1_000,
        "longest_pause_ms": max(milliseconds(each) for each in largest.values()),
        "longest_usual_pause_ms": max(milliseconds(each) for each in as_usual.values()),
        "over_budget": sum(each.seconds > BUDGET_SECONDS for each in largest.values()),
        "server_errors": sum(each.status >= 500 for each in largest.values()),
        "memory_kept_mib": round(kept / 1024**2, 1),
        "other_tenant_p95_ms": round(neighbour.p95 * 1_000, 1),
        "other_tenant_lists": len(neighbour.waits),
    }


async def sent(
    server: WatchedServer, people: Inhabitants, requests: Iterable[LargeRequest]
) -> dict[str, Pause]:
    return await longest_pauses(server, people.admin, requests, budget=BUDGET_SECONDS)


def print_table(usual: dict[str, Pause], largest: dict[str, Pause]) -> None:
    ordered = sorted(largest.items(), key=lambda item: -item[1].seconds)
    print(f"{'usual ms':>8} {'largest ms':>10}  route (what was largest)")
    for name, pause in ordered[:SHOWN_ROUTES]:
        as_usual = milliseconds(usual[name]) if name in usual else 0
        row = f"{as_usual:8.1f} {milliseconds(pause):10.1f}"
        print(f"{row}  {name} ({pause.what}: {pause.status})")
    rest = [milliseconds(pause) for _, pause in ordered[SHOWN_ROUTES:]]
    if rest:
        print(f"{'':8} {max(rest):10.1f}  at most: {len(rest)} other routes")


def milliseconds(pause: Pause) -> float:
    return round(pause.seconds * 1_000, 1)


if __name__ == "__main__":
    main()
