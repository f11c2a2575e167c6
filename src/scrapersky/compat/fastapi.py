"""What we use of FastAPI, and of Starlette below it, that they do not document."""

import re
from collections.abc import Iterator
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import iter_route_contexts
from starlette.routing import Match, compile_path
from starlette.types import Scope
from typing_extensions import override


def routes_with_calls(app: FastAPI) -> Iterator[tuple[Any, list[object]]]:
    """List every route, however its router was included, with all that it depends on."""
    for context in iter_route_contexts(app.routes):
        dependant: Dependant | None = getattr(context, "dependant", None)
        yield context, [*calls_of(dependant)] if dependant else []


def calls_of(dependant: Dependant) -> Iterator[object]:
    """List everything a route depends on."""
    for part in dependant.dependencies:
        yield part.call
        yield from calls_of(part)


def pattern_of(path: str) -> re.Pattern[str]:
    """Return what matches the addresses of a route."""
    return compile_path(path)[0]


class RouterBelow(APIRouter):
    """A router whose routes all begin with one path.

    Routes are tried one after the other, and there are more than a hundred: to find one
    took as long as a query. A path that begins otherwise is not tried at all.
    """

    def __init__(self, path: str, **named: Any) -> None:  # noqa: ANN401 - as its base
        super().__init__(**named)
        self._path = path

    @override
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if not scope["path"].startswith(self._path):
            return Match.NONE, {}
        return super().matches(scope)
