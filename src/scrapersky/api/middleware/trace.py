"""Every request is a span, where traces are sent to a collector."""

from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrapersky.observability.trace import TraceExporter

QUIET = ("/health/", "/metrics")
CARRIED = ("traceparent", "tracestate")


class RequestTrace:
    """Middleware that traces requests; `find` says with what, once the application runs."""

    def __init__(self, app: ASGIApp, find: Callable[[], TraceExporter | None]) -> None:
        self.app = app
        self.find = find

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; other kinds of traffic pass through."""
        traces = self.find() if scope["type"] == "http" else None
        if traces is None or scope["path"].startswith(QUIET):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        carrier = {name: headers[name] for name in CARRIED if name in headers}
        with traces.request(scope["method"], carrier) as span:
            # Kept with what the request queues, for the worker's trace to lead back here.
            scope.setdefault("state", {})["traceparent"] = traces.written(span)

            async def answer(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self.app(scope, receive, answer)
            finally:
                # Known only now; the address itself may hold anything.
                if (path := getattr(scope.get("route"), "path", None)) is not None:
                    span.update_name(f"{scope['method']} {path}")
                    span.set_attribute("http.route", path)
                if (known := scope.get("state", {}).get("request_id")) is not None:
                    span.set_attribute("scrapersky.request_id", known)
