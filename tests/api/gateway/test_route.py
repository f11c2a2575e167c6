"""Every route says who may call it, and the document says everything."""

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

from fastapi import FastAPI

from scrapersky.api.middleware.route import Route, routes_of
from tests.api.gateway.document import Operation, an_app, operations, resolve, written

DOCUMENT = written()
OPERATIONS = list(operations(DOCUMENT))
PUBLIC = {
    "/health/live", "/health/ready", "/api/v3/session", "/docs", "/docs/assets/{name}",
    "/openapi.json", "/api/v3/session/invitation", "/api/v3/session/ways",
    "/api/v3/session/openid", "/api/v3/session/openid/callback",
    "/api/v3/demo/visit",
}  # fmt: skip


@cache
def routes() -> list[Route]:
    """List the application's routes: when a test asks, not in every process that collects it."""
    return list(routes_of(an_app()))


def test_every_route_says_who_may_call_it() -> None:
    assert routes()
    assert [(r.methods, r.path) for r in routes() if r.permission is None] == []


def test_a_route_without_a_permission_is_noticed() -> None:
    app = FastAPI()
    app.add_api_route("/forgotten", lambda: None)

    assert None in {r.permission for r in routes_of(app) if r.path == "/forgotten"}


def test_what_is_public_was_chosen() -> None:
    found = {route.path for route in routes() if route.permission == "public"}

    assert found <= PUBLIC


def test_changes_ask_for_more_than_reading() -> None:
    """But for what changes nothing, or only the caller's own session and views."""
    harmless = {
        "log_in", "log_out", "accept_invitation", "change_password", "preview_rule",
        "estimate_search", "save_view", "delete_view", "end_session", "end_other_sessions",
        "lasso_leads", "leave_demo", "note_look",
    }  # fmt: skip

    found = {
        route.operation_id
        for route in routes()
        if route.permission in {"read", "public"}
        and set(route.methods) - {"GET", "HEAD"}
    }

    assert found <= harmless


def test_no_two_routes_have_the_same_address_or_name() -> None:
    addresses = Counter((m, route.path) for route in routes() for m in route.methods)
    names = Counter(found.id for found in OPERATIONS)

    assert [a for a, times in addresses.items() if times > 1] == []
    assert [n for n, times in names.items() if times > 1] == []


def flaws(found: Operation) -> Iterator[str]:
    """Tell what is missing in the description of an operation."""
    described = DOCUMENT["paths"][found.path][found.method.lower()]
    for name in ("tags", "description"):
        if not described[name]:
            yield name
    if not found.id.isidentifier():
        yield "a name"
    if not any(status.startswith("2") for status in described["responses"]):
        yield "what it answers"
    for status in ("401", "403", "404", "422", "429", "503"):
        kinds = resolve(described["responses"][status], DOCUMENT)["content"]
        if "application/problem+json" not in kinds and status != "503":
            yield f"the problem of {status}"


def test_every_operation_is_described() -> None:
    assert OPERATIONS
    assert {one.id: found for one in OPERATIONS if (found := [*flaws(one)])} == {}


def is_closed(body: dict[str, Any]) -> bool:
    """Say whether a body, or each of the forms it may have, takes no other field."""
    schema = resolve(body, DOCUMENT)
    listed = [
        part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"
    ]
    parts = [resolve(part, DOCUMENT) for part in listed]
    return all(part.get("additionalProperties") is False for part in parts)


def test_every_body_refuses_what_it_does_not_know() -> None:
    bodies = {one.id: one.body for one in OPERATIONS if one.body}

    assert bodies
    assert [name for name, body in bodies.items() if not is_closed(body)] == []
