"""The routes of the application, as the middleware sees them: who may, and how much."""

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import FastAPI
from starlette.types import Scope

from scrapersky.api.dependency import (
    Allowed,
    EngineDependency,
    EngineName,
    InTransaction,
    public,
)
from scrapersky.api.middleware.body import BodyLimit
from scrapersky.compat.fastapi import pattern_of, routes_with_calls


@dataclass(frozen=True, slots=True)
class Route:
    """One address and what stands before it."""

    path: str
    methods: tuple[str, ...]
    name: str
    permission: str | None
    """What it asks for: a permission, `public`, or None if nobody has said."""
    is_hidden: bool
    body_limit: int | None
    engine: EngineName
    """Which engine its transaction is begun on."""
    in_chunks: bool
    """Whether it works in more than one transaction: a named exception."""
    operation_id: str | None


def routes_of(app: FastAPI) -> Iterator[Route]:
    """List every route, however its router was included."""
    for context, calls in routes_with_calls(app):
        limits = [call.most for call in calls if isinstance(call, BodyLimit)]
        yield Route(
            path=str(getattr(context, "path", "")),
            methods=tuple(sorted(getattr(context, "methods", None) or ())),
            name=str(getattr(context, "name", "")),
            permission=permission_in(calls),
            is_hidden=any(isinstance(call, Allowed) and call.hidden for call in calls),
            body_limit=max(limits, default=None),
            engine=engine_in(calls),
            in_chunks=any(
                isinstance(call, EngineDependency)
                or (isinstance(call, InTransaction) and call.in_chunks)
                for call in calls
            ),
            operation_id=getattr(context, "operation_id", None),
        )


def permission_in(calls: list[object]) -> str | None:
    """Return the permission among what a route depends on."""
    asked = [call.permission.value for call in calls if isinstance(call, Allowed)]
    if asked:
        return asked[0]
    return "public" if public in calls else None


def engine_in(calls: list[object]) -> EngineName:
    """Return the engine that a route begins its transaction on."""
    named = [
        call.engine
        for call in calls
        if isinstance(call, InTransaction | EngineDependency)
    ]
    return named[0] if named else "engine"


def route_table(app: FastAPI) -> "RouteTable":
    """Return the table of an application, made once."""
    table: RouteTable | None = getattr(app.state, "route_table", None)
    if table is None:
        table = app.state.route_table = RouteTable(app)
    return table


class RouteTable:
    """Finds the route of a request before the application does."""

    def __init__(self, app: FastAPI) -> None:
        self._routes = [
            (pattern_of(route.path), route)
            for route in routes_of(app)
            if route.path and route.methods
        ]

    def methods_of(self, path: str) -> tuple[str, ...]:
        """Return what an address takes; a router knows that of one route at a time."""
        found = {
            method
            for pattern, route in self._routes
            if pattern.match(path)
            for method in route.methods
        }
        return tuple(sorted(found))

    def find(self, scope: Scope) -> Route | None:
        """Return the route of a request, if there is one."""
        for pattern, route in self._routes:
            if scope["method"] in route.methods and pattern.match(scope["path"]):
                return route
        return None
