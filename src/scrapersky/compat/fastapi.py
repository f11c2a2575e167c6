"""What we use of FastAPI, and of Starlette below it, that they do not document."""

import re
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, get_origin

from anyio import BrokenResourceError
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import request_params_to_args
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel, ValidationError
from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect
from starlette.routing import Match, compile_path
from starlette.types import Scope
from typing_extensions import override

Endpoint = Callable[..., Coroutine[Any, Any, Response]]


def routes_with_calls(app: FastAPI) -> Iterator[tuple[Any, list[object]]]:
    """List every route, however its router was included, with all that it depends on."""
    for context in iter_route_contexts(app.routes):
        dependant: Dependant | None = getattr(context, "dependant", None)
        route = getattr(context, "original_route", None)
        if isinstance(route, DirectRoute) and dependant is not None:
            # It would not ask for what an including router adds, such as a permission.
            refuse_added(route, dependant)
        yield context, [*calls_of(dependant)] if dependant else []


def calls_of(dependant: Dependant) -> Iterator[object]:
    """List everything a route depends on."""
    for part in dependant.dependencies:
        yield part.call
        yield from calls_of(part)


def pattern_of(path: str) -> re.Pattern[str]:
    """Return what matches the addresses of a route."""
    return compile_path(path)[0]


def is_departure(error: BaseException) -> bool:
    """Say whether a request ended because its client has left, and for nothing else.

    What FastAPI sends events through is closed when the client leaves; what waits to be
    sent then fails, which is reported as if the endpoint had.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(map(is_departure, error.exceptions))
    return isinstance(error, BrokenResourceError | ClientDisconnect)


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

    def get_directly(self, path: str, **named: Any) -> Callable[[Endpoint], Endpoint]:  # noqa: ANN401 - as its base
        """Add a direct route, as `get` adds any other."""

        def add(endpoint: Endpoint) -> Endpoint:
            self.add_api_route(
                path,
                endpoint,
                methods=["GET"],
                route_class_override=DirectRoute,
                **named,
            )
            return endpoint

        return add


class DirectRoute(APIRoute):
    """A route for what is asked most often: it answers by itself, with few detours.

    What it depends on takes the request and nothing else, and its query is one model.
    Whatever else a route may have, FastAPI looks for anew with every request; that took a
    fifth of the time of a list. A test compares the answers of both.
    """

    @override
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        dependant = self.dependant
        refuse_indirect(dependant)
        endpoint = self.endpoint
        takes_request = dependant.request_param_name
        models = [
            (field.name, QueryReader(field.field_info.annotation))  # type: ignore[arg-type]
            for field in dependant.query_params
        ]

        async def handle(request: Request) -> Response:
            values: dict[str, Any] = {}
            for part in dependant.dependencies:
                found = await part.call(request)  # type: ignore[misc]
                if part.name is not None:
                    values[part.name] = found
            path, errors = request_params_to_args(
                dependant.path_params, request.path_params
            )
            for name, model in models:
                try:
                    values[name] = model.read(request.query_params)
                except ValidationError as error:
                    errors += [
                        {**found, "loc": ("query", *found["loc"])}
                        for found in error.errors(include_url=False)
                    ]
            if errors:
                raise RequestValidationError(errors)
            if takes_request is not None:
                values[takes_request] = request
            response: Response = await endpoint(**values, **path)
            return response

        return handle


def refuse_added(route: DirectRoute, included: Dependant) -> None:
    """Raise if the router of a direct route was included with more to depend on."""
    if len(included.dependencies) != len(route.dependant.dependencies):
        raise TypeError(
            f"{route.path} is direct: include its router without dependencies."
        )


def refuse_indirect(dependant: Dependant) -> None:
    """Raise if a route has what a direct one does not look for."""
    is_simple = not (
        dependant.header_params or dependant.cookie_params or dependant.body_params
    ) and all(
        isinstance(field.field_info.annotation, type)
        and issubclass(field.field_info.annotation, BaseModel)
        for field in dependant.query_params
    )
    takes_request_only = all(
        part.request_param_name == "request"
        and not (part.dependencies or part.query_params or part.path_params)
        for part in dependant.dependencies
    )
    if not (is_simple and takes_request_only):
        raise TypeError(f"{dependant.path} is not a direct route.")


class QueryReader:
    """Reads queries as one model: of what is given twice, a list takes all."""

    def __init__(self, model: type[BaseModel]) -> None:
        self._model = model
        self._single = {
            name
            for name, field in model.model_fields.items()
            if get_origin(field.annotation) is not list
        }
        self._many = model.model_fields.keys() - self._single

    def read(self, asked: QueryParams) -> BaseModel:
        """Return what is asked for; raise ValidationError."""
        values: dict[str, Any] = {}
        for name in asked:
            given = asked.getlist(name)
            is_list = name in self._many or (
                name not in self._single and len(given) > 1
            )
            values[name] = given if is_list else given[-1]
        return self._model.model_validate(values)
