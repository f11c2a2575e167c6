"""Errors as RFC 9457 problem details: what happened, what to do, nothing from inside."""

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException

from curation_sdk import CurationSdkError
from scrapersky.api.tenancy import SCOPE
from scrapersky.db.failure import explain
from scrapersky.errors import (
    DatabaseProblem,
    InvalidStageSettings,
    NotAuthenticated,
    PrivacyError,
    ScraperSkyError,
    TooManyRequests,
)

log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "https://scrapersky.example/problems/"
RETRY_LATER = {"Retry-After": "5"}
LATER = "Try again in a moment."
MOST_ERRORS = 20
LONGEST_NAME = 60
LONGEST_PLACE = 200


class Problem(BaseModel):
    """One error, the same shape everywhere."""

    type: str = Field(examples=[f"{TYPE_PREFIX}not-found"])
    title: str = Field(examples=["Not Found"])
    status: int = Field(examples=[404])
    detail: str = Field(examples=["There is nothing at this address."])
    hint: str | None = Field(None, examples=["Check the id."])
    request_id: str | None = None
    errors: list[dict[str, Any]] | None = None


def install_problems(app: FastAPI) -> None:
    """Answer every error of the application as a problem."""
    app.add_exception_handler(ScraperSkyError, on_foreseen)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(CurationSdkError, on_database)
    app.add_exception_handler(SQLAlchemyError, on_database)
    app.add_exception_handler(OSError, on_database)
    app.add_exception_handler(Exception, on_unforeseen)


async def answer_to(request: Request, error: Exception) -> JSONResponse:
    """Answer an error that was raised before any route was reached."""
    match error:
        case ScraperSkyError():
            return await on_foreseen(request, error)
        case HTTPException():
            return await on_http(request, error)
        case SQLAlchemyError() | OSError():
            return await on_database(request, error)
    return await on_unforeseen(request, error)


def respond(
    request: Request,
    status: int,
    detail: str,
    *,
    kind: str | None = None,
    hint: str | None = None,
    errors: list[dict[str, Any]] | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """Write one problem."""
    status = int(status)
    title = HTTPStatus(status).phrase
    request_id = getattr(request.state, "request_id", None)
    if request_id:
        headers = {**(headers or {}), "X-Request-ID": request_id}
    problem = Problem(
        type=TYPE_PREFIX + (kind or title.lower().replace(" ", "-")),
        title=title,
        status=status,
        detail=detail,
        hint=hint,
        request_id=request_id,
        errors=errors,
    )
    return JSONResponse(
        problem.model_dump(exclude_none=True), status, headers, media_type=MEDIA_TYPE
    )


async def on_foreseen(request: Request, error: Exception) -> JSONResponse:
    """Answer an error of ours with its own words; below 500 they are for the caller."""
    return tell(request, error, is_public=isinstance(error, PrivacyError))


def tell(
    request: Request, error: Exception, *, is_public: bool = False
) -> JSONResponse:
    """Answer an error of ours; one that `is_public` says nothing that only we may know."""
    assert isinstance(error, ScraperSkyError)  # noqa: S101 - registered for this type
    status = error.status_code
    kind = kebab(type(error).__name__)
    if status < HTTPStatus.INTERNAL_SERVER_ERROR:
        return respond(
            request,
            status,
            str(error),
            kind=kind,
            hint=error.hint,
            errors=errors_of(error),
            headers=headers_for(error),
        )
    log.error("request.failed", error=str(error), kind=kind)
    if is_public:
        return respond(
            request,
            status,
            str(error),
            kind=kind,
            hint=error.hint or LATER,
            headers=RETRY_LATER,
        )
    # What went wrong inside names hosts and paths: the log has them, the caller not.
    return respond(
        request,
        status,
        "ScraperSky cannot do this right now.",
        kind=kind,
        hint="Try again in a moment; the server's log has the reason.",
        headers=RETRY_LATER if status == HTTPStatus.SERVICE_UNAVAILABLE else None,
    )


def errors_of(error: ScraperSkyError) -> list[dict[str, Any]] | None:
    """Return what is wrong with which field, where an error knows."""
    if not isinstance(error, InvalidStageSettings) or not error.wrong:
        return None
    return [
        {"where": f"body.{name}", "what": sentence(reason)}
        for name, reason in error.wrong.items()
    ]


def headers_for(error: ScraperSkyError) -> dict[str, str] | None:
    """Return the headers that HTTP asks for with an error."""
    if isinstance(error, NotAuthenticated):
        return {"WWW-Authenticate": 'Bearer realm="scrapersky"'}
    if isinstance(error, TooManyRequests):
        return {"Retry-After": str(math.ceil(error.retry_after.total_seconds()))}
    return None


async def on_database(request: Request, error: Exception) -> JSONResponse:
    """Answer what the database says no to: busy, too slow, not to be kept."""
    foreseen = explain(error, reads_only=SCOPE.get().is_read_only)
    if foreseen is None:
        return await on_unforeseen(request, error)
    # Its words name no host: a caller may know that the disk is full.
    return tell(request, foreseen, is_public=isinstance(foreseen, DatabaseProblem))


async def on_http(request: Request, error: Exception) -> JSONResponse:
    """Answer what routing and dependencies refuse: unknown path, wrong method..."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this type
    details = {
        HTTPStatus.NOT_FOUND: "There is nothing at this address.",
        HTTPStatus.METHOD_NOT_ALLOWED: "This address does not take that method.",
    }
    detail = details.get(HTTPStatus(error.status_code), str(error.detail))
    headers = dict(error.headers) if error.headers else None
    return respond(request, error.status_code, detail, headers=headers)


async def on_invalid(request: Request, error: Exception) -> JSONResponse:
    """Answer input that does not fit, naming each place, never echoing the value."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for this type
    errors = [
        {"where": place(found["loc"]), "what": in_words(found)}
        for found in error.errors()[:MOST_ERRORS]
    ]
    return respond(
        request,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "Please correct the marked fields.",
        kind="invalid-input",
        errors=errors,
    )


IN_WORDS: Final = {
    "missing": "Required.",
    "extra_forbidden": "There is no such field.",
    "string_too_short": "Use at least {min_length} character(s).",
    "string_too_long": "Use at most {max_length} character(s).",
    "too_short": "Give at least {min_length}.",
    "too_long": "Give at most {max_length}.",
    "greater_than": "Must be more than {gt}.",
    "greater_than_equal": "Must be at least {ge}.",
    "less_than": "Must be less than {lt}.",
    "less_than_equal": "Must be at most {le}.",
    "int_parsing": "Must be a whole number.",
    "int_from_float": "Must be a whole number.",
    "float_parsing": "Must be a number.",
    "decimal_parsing": "Must be a number.",
    "bool_parsing": "Must be true or false.",
    "uuid_parsing": "Must be an id.",
    "enum": "Must be {expected}.",
    "literal_error": "Must be {expected}.",
}
"""What a validator finds, as people say it."""


def in_words(found: Mapping[str, Any]) -> str:
    """Say what is wrong with a value; a validator speaks to programmers."""
    if known := IN_WORDS.get(found["type"]):
        return known.format_map(found.get("ctx", {}))
    return sentence(found["msg"].removeprefix("Value error, "))


def sentence(said: str) -> str:
    """Write what a validator says as a sentence for people."""
    said = said.rstrip(".").replace("Input should be", "Must be")
    return f"{said[:1].upper()}{said[1:]}."


def place(steps: Sequence[object]) -> str:
    """Write where something is wrong; the names may be the caller's own inventions."""
    written = ".".join(str(step)[:LONGEST_NAME] for step in steps)
    return written.encode("utf-8", "replace").decode()[:LONGEST_PLACE]


async def on_unforeseen(request: Request, error: Exception) -> JSONResponse:
    """Answer a bug with a fixed sentence; the traceback is in the log only."""
    log.error("request.crashed", path=request.url.path, exc_info=error)
    return respond(
        request,
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "Something went wrong on our side.",
        hint="Send the request id to the administrator of this server.",
    )


def kebab(name: str) -> str:
    """Write a class name as a stable word: NotFound becomes not-found."""
    return "".join(
        f"-{letter.lower()}" if letter.isupper() else letter for letter in name
    ).lstrip("-")
