"""Every request gets an id and leaves one log line."""

import re
import time
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger(__name__)

HEADER = "X-Request-ID"
ACCEPTABLE = re.compile(r"^[A-Za-z0-9._-]{8,64}$")
QUIET = ("/health/",)
"""Asked every few seconds by machines: logged only when something is wrong."""


class RequestLog:
    """Middleware that names the request, answers with the name, and logs the outcome."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; other kinds of traffic pass through."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request_id = given_or_new(Headers(scope=scope).get(HEADER))
        scope.setdefault("state", {})["request_id"] = request_id
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started = time.perf_counter()
        status = 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        try:
            await self.app(scope, receive, answer)
        finally:
            is_wrong = status >= 500  # noqa: PLR2004 - the server's fault
            if is_wrong or not scope["path"].startswith(QUIET):
                log.info(
                    "request.done",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    ms=round((time.perf_counter() - started) * 1000, 1),
                )


def given_or_new(header: str | None) -> str:
    """Keep the caller's id if it is harmless, so that traces join up."""
    if header is not None and ACCEPTABLE.match(header):
        return header
    return uuid4().hex
