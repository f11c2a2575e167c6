"""Every route says who may call it, and the document says everything."""

from collections import Counter

import pytest
from fastapi import FastAPI

from scrapersky.api.middleware.route import Route, routes_of
from tests.api.gateway.document import Operation, an_app, operations, resolve, written

APP = an_app()
ROUTES = list(routes_of(APP))
DOCUMENT = written()
OPERATIONS = list(operations(DOCUMENT))
PUBLIC = {
    "/health/live", "/health/ready", "/api/v3/session", "/docs", "/docs/assets/{name}",
    "/openapi.json", "/api/v3/session/invitation", "/api/v3/session/ways",
    "/api/v3/session/openid", "/api/v3/session/openid/callback",
    "/api/v3/demo/visit",
}  # fmt: skip


@pytest.mark.parametrize(
    "route", ROUTES, ids=lambda route: f"{route.methods} {route.path}"
)
def test_every_route_says_who_may_call_it(route: Route) -> None:
    assert route.permission is not None


def test_a_route_without_a_permission_is_noticed() -> None:
    app = FastAPI()
    app.add_api_route("/forgotten", lambda: None)

    assert None in {r.permission for r in routes_of(app) if r.path == "/forgotten"}


def test_what_is_public_was_chosen() -> None:
    found = {route.path for route in ROUTES if route.permission == "public"}

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
        for route in ROUTES
        if route.permission in {"read", "public"}
        and set(route.methods) - {"GET", "HEAD"}
    }

    assert found <= harmless


def test_no_two_routes_have_the_same_address_or_name() -> None:
    addresses = Counter((m, route.path) for route in ROUTES for m in route.methods)
    names = Counter(found.id for found in OPERATIONS)

    assert [a for a, times in addresses.items() if times > 1] == []
    assert [n for n, times in names.items() if times > 1] == []


@pytest.mark.parametrize("found", OPERATIONS, ids=lambda found: found.id)
def test_every_operation_is_described(found: Operation) -> None:
    described = DOCUMENT["paths"][found.path][found.method.lower()]

    assert described["tags"]
    assert described["description"]
    assert found.id.isidentifier()
    assert any(status.startswith("2") for status in described["responses"])
    for status in ("401", "403", "404", "422", "429", "503"):
        answer = resolve(described["responses"][status], DOCUMENT)
        kinds = answer["content"]
        assert "application/problem+json" in kinds or status == "503"


@pytest.mark.parametrize(
    "found", [o for o in OPERATIONS if o.body], ids=lambda found: found.id
)
def test_every_body_refuses_what_it_does_not_know(found: Operation) -> None:
    assert found.body is not None
    schema = resolve(found.body, DOCUMENT)
    listed = [
        part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"
    ]
    parts = [resolve(part, DOCUMENT) for part in listed]

    assert all(part.get("additionalProperties") is False for part in parts), schema
