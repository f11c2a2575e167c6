"""The routes of the application, as the gate sees them: who may, and how much."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts
from starlette.routing import compile_path

from scrapersky.api.gateway.body import BodyLimit
from scrapersky.api.gateway.dependency import Allowed, public


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
    in_schema: bool
    operation_id: str | None


def routes_of(app: FastAPI) -> Iterator[Route]:
    """List every route, however its router was included."""
    for found in iter_route_contexts(app.routes):
        context: Any = found
        dependant: Dependant | None = getattr(context, "dependant", None)
        calls = list(calls_of(dependant)) if dependant else []
        limits = [call.most for call in calls if isinstance(call, BodyLimit)]
        yield Route(
            path=str(getattr(context, "path", "")),
            methods=tuple(sorted(getattr(context, "methods", None) or ())),
            name=str(getattr(context, "name", "")),
            permission=permission_in(calls),
            is_hidden=any(isinstance(call, Allowed) and call.hidden for call in calls),
            body_limit=max(limits, default=None),
            in_schema=bool(getattr(context, "include_in_schema", False)),
            operation_id=getattr(context, "operation_id", None),
        )


def calls_of(dependant: Dependant) -> Iterator[object]:
    """List everything a route depends on."""
    for part in dependant.dependencies:
        yield part.call
        yield from calls_of(part)


def permission_in(calls: list[object]) -> str | None:
    """Return the permission among what a route depends on."""
    asked = [call.permission.value for call in calls if isinstance(call, Allowed)]
    if asked:
        return asked[0]
    return "public" if public in calls else None


def large_routes(
    app: FastAPI,
) -> Iterator[tuple[re.Pattern[str], tuple[str, ...], int]]:
    """List the routes that take more than the usual body."""
    for route in routes_of(app):
        if route.body_limit is not None:
            pattern, _, _ = compile_path(route.path)
            yield pattern, route.methods, route.body_limit
