"""What we use of the inside of FastAPI and Starlette does what we need of it."""

from typing import Annotated
from uuid import UUID

import httpx
import pytest
from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

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


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    filter: list[str] = Field([], max_length=2)
    q: str | None = None
    limit: int = Field(50, ge=1, le=200)


async def caller(request: Request) -> str:
    if "nobody" in request.headers:
        raise HTTPException(401)
    return request.headers.get("name", "anyone")


def two_ways(*, dependencies: list[object] | None = None) -> FastAPI:
    """Return an application with one route, as FastAPI has it and directly."""
    app, router = FastAPI(), RouterBelow("/")

    async def read(
        request: Request,
        one: UUID,
        who: Annotated[str, Depends(caller)],
        asked: Annotated[Asked, Query()],
    ) -> Response:
        return JSONResponse([request.method, str(one), who, asked.model_dump()])

    router.get("/usual/{one}")(read)
    router.get_directly("/direct/{one}")(read)
    app.include_router(router, dependencies=dependencies)  # type: ignore[arg-type]
    return app


async def answers(app: FastAPI, rest: str, **headers: str) -> list[tuple[int, str]]:
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://a.test") as ask:
        found = [
            await ask.get(f"/{way}/{rest}", headers=headers)
            for way in ("usual", "direct")
        ]
    return [(answer.status_code, answer.text) for answer in found]


ONE = "8a6e0804-2bd0-4672-b79d-d97027f9071a"


@pytest.mark.parametrize(
    "query",
    [
        "", "?q=", "?q=a&q=b", "?filter=a", "?filter=a&filter=b", "?filter=", "?filter",
        "?filter=a&filter=b&filter=c", "?limit=7&limit=9", "?limit=x", "?limit=",
        "?limit=1.0", "?limit=1.5", "?limit=0&q=%E4", "?other=1", "?other=1&other=2",
        "?%66ilter=a", "?Filter=a", "?filter[]=a", "?q=%00&limit=%2B5", "?limit=1;q=2",
    ],
)  # fmt: skip
async def test_a_direct_route_reads_a_query_as_fastapi_does(query: str) -> None:
    usual, direct = await answers(two_ways(), ONE + query)

    assert direct == usual


@pytest.mark.parametrize("one", ["x", ONE.upper(), ONE.replace("-", "")])
async def test_a_direct_route_reads_a_path_as_fastapi_does(one: str) -> None:
    usual, direct = await answers(two_ways(), f"{one}?limit=x")

    assert direct == usual


async def test_a_direct_route_asks_who_it_is_before_it_says_what_is_wrong() -> None:
    usual, direct = await answers(two_ways(), f"{ONE}?limit=x", nobody="here")

    assert direct == usual
    assert direct[0] == 401


def test_a_direct_route_would_not_ask_for_what_its_router_is_included_with() -> None:
    app = two_ways(dependencies=[Depends(caller)])

    with pytest.raises(TypeError, match="without dependencies"):
        [*routes_with_calls(app)]


def test_a_route_with_more_is_not_made_a_direct_one() -> None:
    async def read(wanted: Annotated[str, Header()]) -> Response:
        return Response(wanted)

    with pytest.raises(TypeError, match="not a direct route"):
        RouterBelow("/").get_directly("/one")(read)
