"""The OpenAPI document: who may call what, and every error in its one shape."""

from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from scrapersky.api.middleware.route import Route, routes_of
from scrapersky.api.problem import MEDIA_TYPE, Problem

SECURITY: Final = {
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "scrapersky_session",
        "description": "A login of the web page; changes also need X-CSRF-Token. On a "
        "laptop the port stands after the name: `scrapersky_session_8000`.",
    },
    "token": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "An access token, or an API key.",
    },
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
}
ANY_OF_THEM: Final[list[dict[str, list[str]]]] = [{name: []} for name in SECURITY]
ALWAYS: Final = {
    "400": "The request is malformed",
    "401": "Nobody we know sent it",
    "403": "It is not allowed",
    "404": "There is nothing here, for this tenant",
    "408": "The body did not arrive in time",
    "413": "The body is too big",
    "414": "The address is too long",
    "415": "The body is of a kind that is not taken",
    "422": "The input does not fit",
    "429": "The caller asks too often",
    "500": "Our fault",
    "503": "The database is busy, away or was asked too much",
}
ON_CHANGE: Final = {
    "402": "It would cost more than was allowed",
    "409": "It does not fit what there is",
    "412": "The record was changed meanwhile",
    "428": "If-Match is missing",
    "502": "A source of places did not give what was asked",
}
CHANGING: Final = ("post", "patch", "put", "delete")
IDEMPOTENCY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "However often a request with this key is sent, it has one effect.",
    "schema": {"type": "string", "maxLength": 200, "pattern": "^[\\x21-\\x7e]+$"},
    "example": "0b6f3f0e-8f0a-4a57-9a57-2f9f0d6e7c11",
}
PROBLEM_REF: Final = "#/components/schemas/Problem"


def describe(app: FastAPI) -> None:
    """Let the application describe itself completely."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = whole_document(app)
        return app.openapi_schema

    # FastAPI's own way to change the document.
    app.openapi = document  # type: ignore[method-assign]


def whole_document(app: FastAPI) -> dict[str, Any]:
    """Add to FastAPI's document what it cannot know."""
    found = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
    )
    components = found.setdefault("components", {})
    components["securitySchemes"] = SECURITY
    schemas = components.setdefault("schemas", {})
    schemas["Problem"] = Problem.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    components["responses"] = {
        f"Problem{status}": problem(said)
        for status, said in {**ALWAYS, **ON_CHANGE}.items()
    }
    known = {
        (route.path, method.lower()): route
        for route in routes_of(app)
        for method in route.methods
    }
    for path, method, operation in operations(found):
        complete(operation, method, known.get((path, method)))
    return found


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """List every operation of a document."""
    for path, methods in document.get("paths", {}).items():
        for method, operation in methods.items():
            yield path, method, operation


def complete(operation: dict[str, Any], method: str, route: Route | None) -> None:
    """Add permission, security and errors to one operation."""
    first = operation.get("description", "").partition("\n")[0]
    if first:
        operation["summary"] = first.removesuffix(".")
    permission = route.permission if route else None
    operation["x-permission"] = permission or "nobody has said"
    is_public = permission == "public"
    operation["security"] = [] if is_public else ANY_OF_THEM
    answers = operation.setdefault("responses", {})
    for status, said in list(answers.items()):
        if is_problem(said):
            del answers[status]
            if status in ON_CHANGE:
                # What it means depends on what was to be changed.
                answers[status] = problem(said["description"])
    errors = {**ALWAYS, **ON_CHANGE} if method in CHANGING else ALWAYS
    for status in errors:
        if status not in answers:
            answers[status] = {"$ref": f"#/components/responses/Problem{status}"}
    if method == "post" and not is_public:
        operation.setdefault("parameters", []).append(IDEMPOTENCY)


def problem(said: str) -> dict[str, Any]:
    """Describe one error, in the shape of all errors."""
    content = {MEDIA_TYPE: {"schema": {"$ref": PROBLEM_REF}}}
    return {"description": said, "content": content}


def is_problem(answer: dict[str, Any]) -> bool:
    """Say whether a route has declared an error, in words of its own or FastAPI's."""
    text = str(answer.get("content", {}))
    return PROBLEM_REF in text or "HTTPValidationError" in text
