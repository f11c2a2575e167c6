"""The OpenAPI document: who may call what, and every error in its one shape."""

from collections.abc import Iterator
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from scrapersky.api.middleware.idempotency import KEYED_METHODS
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
    "401": "Not authenticated",
    "403": "It is not allowed",
    "404": "There is nothing here, for this tenant",
    "408": "The body did not arrive in time",
    "413": "The body is too big",
    "414": "The address is too long",
    "415": "The body is of a kind that is not taken",
    "422": "Invalid request",
    "429": "The caller asks too often",
    "500": "Our fault",
    "503": "The database is busy, away or was asked too much",
}
ON_CHANGE: Final = {
    "402": "It would cost more than was allowed",
    "409": "Conflict with the present state",
    "412": "The record was changed meanwhile",
    "428": "If-Match is missing",
    "502": "A source of places did not give what was asked",
}
CONTACT: Final = {
    "name": "ScraperSky",
    "url": "https://scrapersky.example",
    "email": "api@scrapersky.example",
}
LICENCE: Final = {"name": "MIT", "identifier": "MIT"}
SERVERS: Final = [{"url": "/", "description": "The server that this document is from"}]
TAGS: Final = {
    "actions": "What people and rules did, and taking it back",
    "api keys": "Keys with which programs call the API",
    "batches": "Imports: many domains or addresses at once",
    "changes": "Every change of a record once, in order, from a cursor on",
    "dead letters": "Items that failed for good",
    "connections": "CRMs that leads are kept in: mapping, difference, runs",
    "demo": "A simulated town to try everything on",
    "dev tools": "The schedulers by hand, while developing",
    "events": "Changes as they happen, for the web page",
    "health": "Whether this process is alive and ready",
    "people's data": "Erasure, the suppression list, notices, the audit log",
    "records": "Places, businesses, domains, sitemaps, pages, contacts, people, companies",
    "rules": "Decisions that a condition makes",
    "scheduler": "Jobs, their runs, and one run at once",
    "session": "Logging in and out",
    "stages": "How the stages stand, and their settings",
    "system": "Workers, alerts, figures",
    "tenants": "Tenants, for operators",
    "users": "People who may log in",
    "webhooks": "Changes posted to addresses of yours, signed",
}
"""Every tag of a route, with what it stands for."""
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
        servers=SERVERS,
        contact=CONTACT,
        license_info=LICENCE,
        tags=[{"name": name, "description": said} for name, said in TAGS.items()],
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
    for stream in event_streams(answers):
        # What one event holds can be said only from OpenAPI 3.2 on; no generator reads that yet.
        stream.pop("itemSchema", None)
        stream["schema"] = {"type": "string"}
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
    if method.upper() in KEYED_METHODS and not is_public:
        operation.setdefault("parameters", []).append(IDEMPOTENCY)


def event_streams(answers: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """List what answers say of streams of events."""
    for answer in answers.values():
        if not is_problem(answer) and (
            stream := answer.get("content", {}).get("text/event-stream")
        ):
            yield stream


def problem(said: str) -> dict[str, Any]:
    """Describe one error, in the shape of all errors."""
    content = {MEDIA_TYPE: {"schema": {"$ref": PROBLEM_REF}}}
    return {"description": said, "content": content}


def is_problem(answer: dict[str, Any]) -> bool:
    """Say whether a route has declared an error, in words of its own or FastAPI's."""
    text = str(answer.get("content", {}))
    return PROBLEM_REF in text or "HTTPValidationError" in text
