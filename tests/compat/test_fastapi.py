"""What we use of the inside of FastAPI and Starlette does what we need of it."""

from typing import Annotated

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI

from scrapersky.compat.fastapi import RouterBelow, pattern_of, routes_with_calls


async def inner() -> str:
    return "inner"


async def outer(_: Annotated[str, Depends(inner)]) -> str:
    return "outer"


def an_app() -> FastAPI:
    app, nested = FastAPI(), APIRouter(prefix="/api")
    for name in ("cats", "dogs"):
        below = RouterBelow(f"/api/{name}")

        @below.get(f"/{name}/{{one}}", operation_id=name)
        async def read(one: str, _: Annotated[str, Depends(outer)]) -> str:
            return one

        nested.include_router(below)
    app.include_router(nested)
    return app


def test_routes_are_found_with_all_they_depend_on() -> None:
    found = {
        context.path: calls
        for context, calls in routes_with_calls(an_app())
        if getattr(context, "operation_id", None)
    }

    assert found == {
        "/api/cats/{one}": [outer, inner],
        "/api/dogs/{one}": [outer, inner],
    }


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/cats/tom", 200),
        ("GET", "/api/dogs/rex", 200),
        ("POST", "/api/dogs/rex", 405),
        ("GET", "/api/cows/ina", 404),
        ("GET", "/api/cats", 404),
    ],
)
async def test_a_router_below_a_path_answers_as_any_other(
    method: str, path: str, status: int
) -> None:
    transport = httpx.ASGITransport(an_app())
    async with httpx.AsyncClient(transport=transport, base_url="http://a.test") as app:
        answer = await app.request(method, path)

    assert answer.status_code == status


def test_a_router_is_not_asked_about_other_paths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    plain = APIRouter.matches

    def noting(self: APIRouter, scope: dict[str, str]) -> object:
        asked.append(scope["path"])
        return plain(self, scope)

    monkeypatch.setattr(APIRouter, "matches", noting)
    router = RouterBelow("/api/cats")

    for path in ("/api/dogs/rex", "/api/cats/tom"):
        router.matches({"type": "http", "path": path, "method": "GET"})

    assert asked == ["/api/cats/tom"]


def test_a_pattern_matches_the_addresses_of_a_route() -> None:
    pattern = pattern_of("/api/v3/{kind}/import")

    assert pattern.match("/api/v3/domains/import")
    assert not pattern.match("/api/v3/domains/x/import")
