"""No request that the document allows holds the event loop up, whoever sends it.

`python bench/largest_requests.py` prints the longest pause of every route.
"""

import asyncio

import pytest

from tests.api.gateway.document import written
from tests.api.gateway.largest import (
    LargeRequest,
    asked_operations,
    largest_of,
    requests_of,
    unbounded,
)
from tests.api.gateway.pause import (
    BUDGET_SECONDS,
    Inhabitants,
    Pause,
    as_table,
    inhabit,
    longest_pauses,
    neighbour_of,
)
from tests.api.gateway.served import ALONE
from tests.api.gateway.watched import WatchedServer, watching
from tests.conftest import TestDatabase

NEIGHBOUR_BUDGET_SECONDS = 0.2
"""What 95 of 100 lists of another tenant take at most."""
KEPT_BYTES = 128 * 1024**2
"""Memory that thousands of large requests may leave behind: caches, and what they filled."""


def test_every_field_of_every_request_has_a_bound_in_the_document() -> None:
    assert [*unbounded(written())] == []


def test_a_field_without_a_bound_is_noticed() -> None:
    body = {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "tags": {"type": "array", "items": {"$ref": "#/components/schemas/Tag"}},
            "own": {"type": "object", "additionalProperties": {"type": "number"}},
            "kind": {"enum": ["a"]},
            "more": {},
        },
    }
    operation = {
        "operationId": "x",
        "x-permission": "read",
        "requestBody": {"content": {"application/json": {"schema": body}}},
    }
    document = {
        "paths": {"/x": {"post": operation}},
        "components": {"schemas": {"Tag": {"type": "string", "maxLength": 9}}},
    }

    assert [
        found.partition(" application/json")[2] for found in unbounded(document)
    ] == [
        ".name: a text without maxLength",
        ".tags: a list without maxItems",
        ".own: an object without maxProperties",
        ".more: anything",
    ]


def slow_or_broken(pauses: dict[str, Pause]) -> dict[str, Pause]:
    return {
        name: pause
        for name, pause in pauses.items()
        if pause.seconds > BUDGET_SECONDS or pause.status >= 500
    }


@pytest.mark.slow
def test_no_largest_request_holds_the_event_loop_up(database: TestDatabase) -> None:
    async def pauses() -> dict[str, Pause]:
        people = await inhabit(database.url)
        requests = [
            request
            for operation in asked_operations()
            for request in largest_of(operation, people.ids)
        ]
        with watching(database.url, ALONE) as server:
            return await longest_pauses(
                server, people.admin, requests, budget=BUDGET_SECONDS
            )

    assert slow_or_broken(asyncio.run(pauses())) == {}


@pytest.mark.long
def test_no_largest_request_of_anybody_holds_anybody_up(database: TestDatabase) -> None:
    """As the role that a route needs, and as a viewer, with another tenant beside."""
    people = asyncio.run(inhabit(database.url))
    requests = [
        request
        for operation in asked_operations()
        for request in requests_of(operation, people.ids)
    ]

    with watching(database.url, ALONE) as server:
        # What is loaded with the first request of a kind is no memory of the others.
        asyncio.run(tried(server, people, requests[::20]))
        before = server.memory()
        pauses, p95 = asyncio.run(tried(server, people, requests))
        kept = server.memory() - before

    print(as_table(pauses), f"other tenant: {p95 * 1_000:.0f} ms, kept: {kept:,} bytes")
    assert slow_or_broken(pauses) == {}
    assert kept < KEPT_BYTES
    assert p95 < NEIGHBOUR_BUDGET_SECONDS


async def tried(
    server: WatchedServer, people: Inhabitants, requests: list[LargeRequest]
) -> tuple[dict[str, Pause], float]:
    """Send all of them, as the admin and as a viewer; return the pauses and the p95."""
    async with neighbour_of(server, people.neighbour) as neighbour:
        as_admin = await longest_pauses(
            server, people.admin, requests, budget=BUDGET_SECONDS
        )
        as_viewer = await longest_pauses(
            server, people.viewer, requests[::3], budget=BUDGET_SECONDS
        )
    found = {
        name: max(as_admin[name], as_viewer.get(name, as_admin[name]), key=seconds_of)
        for name in as_admin
    }
    return found, neighbour.p95


def seconds_of(pause: Pause) -> float:
    return pause.seconds
