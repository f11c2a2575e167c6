"""What every request passes before anyone asks who it is from."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from urllib.parse import parse_qsl

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scrapersky.api.auth.local import SAFE_METHODS, host_of, is_address, is_loopback
from scrapersky.api.field import LONGEST_QUERY
from scrapersky.api.http_protocol import MAX_HEAD_BYTES
from scrapersky.api.middleware.address import Networks, client_address, scheme_of
from scrapersky.api.middleware.body import (
    USUAL_BODY_BYTES,
    PacedBody,
    ReplayedBody,
    SizeLimitedBody,
    check_headers,
    check_json,
    read_whole,
)
from scrapersky.api.middleware.conditional import conditional
from scrapersky.api.middleware.header import harden
from scrapersky.api.middleware.idempotency import (
    HEADER,
    KEYED_METHODS,
    HashedBody,
    IdempotentRequest,
    ResponseRecorder,
    key_of,
)
from scrapersky.api.middleware.route import Route, route_table
from scrapersky.api.problem import answer_to
from scrapersky.api.tenancy import (
    SCOPE,
    acting_for,
    change_scope,
    transaction_scope,
)
from scrapersky.api.transaction import FIRST_ERROR, RequestTransaction
from scrapersky.compat.fastapi import is_departure
from scrapersky.errors import (
    AddressTooLong,
    LoopDetected,
    MalformedRequest,
    NotStorable,
    ScraperSkyError,
    ServerStopping,
)
from scrapersky.webhooks.sender import LOOP_HEADER

LONGEST_PATH: Final = 2_048
LARGE_REQUEST: Final = 8_192
"""Bytes of query and body from which nothing of a request is kept for the next one."""
MOST_HEADERS: Final = 100
MOST_PARAMETERS: Final = 200
SECRET_PARAMETERS: Final = frozenset(
    {"access_token", "api_key", "apikey", "auth", "authorization", "bearer", "jwt",
     "password", "token", "x-api-key"}
)  # fmt: skip
WATCHED: Final = ("/health/", "/metrics")
"""What probes and Prometheus ask a process for."""
WITH_BODY: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(slots=True)
class RequestLimits:
    """Middleware: a clean start, bounds on what comes in, headers on what goes out."""

    app: ASGIApp
    proxies: Networks = ()
    hosts: frozenset[str] = frozenset()
    """Names by which we are asked for; empty: any."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # Whoever handled the last request in this context left nothing behind.
        with transaction_scope(
            tenant_id=None,
            is_read_only=scope["method"] in SAFE_METHODS,
            keeps_statements=is_small(scope),
        ):
            await self._handle(scope, receive, send)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope.setdefault("state", {})
        state["address"] = client_address(scope, self.proxies)
        scope["scheme"] = scheme_of(scope, self.proxies)
        transaction = state["transaction"] = RequestTransaction()
        answer = ResponseSender(scope, conditional(scope, send), transaction)
        try:
            check_address(scope)
            check_host(scope, self.hosts)
            await self._forward(scope, receive, answer)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            # Only a server that stops does this, when it has waited as long as it may.
            if not answer.is_begun:
                await answer.refuse(ServerStopping("The server stops."))
        except Exception as error:
            if not answer.is_begun:
                await answer.refuse(error)
            elif not is_departure(error):
                raise
        finally:
            await transaction.abandon()

    async def _forward(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        has_body = scope["method"] in WITH_BODY
        route = route_table(scope["app"]).find(scope) if has_body else None
        large = route.body_limit if route else None
        most = large or USUAL_BODY_BYTES
        check_headers(headers, most)
        if LOOP_HEADER in headers:
            raise LoopDetected(
                "A webhook leads back to ScraperSky.",
                hint="Send it to a program of yours, without its headers from there on.",
            )
        receive = (SizeLimitedBody if large is None else PacedBody)(receive, most)
        if large is None and has_body:
            body = await read_whole(receive)
            if len(body) > LARGE_REQUEST:
                change_scope(keeps_statements=False)
            if scope["path"].startswith("/api/"):
                await check_json(headers, body)
            receive = ReplayedBody(body, receive)
        if scope["method"] in KEYED_METHODS and HEADER in headers:
            await self._idempotent(scope, receive, send, route)
        else:
            await self.app(scope, receive, send)

    async def _idempotent(
        self, scope: Scope, receive: Receive, send: Send, route: Route | None
    ) -> None:
        """Let a request with an Idempotency-Key have its effect once."""
        key = key_of(Headers(scope=scope)[HEADER])
        request = Request(scope)
        try:
            who = await request.app.state.authenticator.identify(request)
        except ScraperSkyError:
            # Whoever is not let in has no keys; the route says why.
            await self.app(scope, receive, send)
            return
        query = scope.get("query_string", b"").decode("latin-1")
        idempotent = IdempotentRequest(
            transaction=request.state.transaction,
            engine=getattr(request.app.state, route.engine if route else "engine"),
            tenant_id=who.tenant_id,
            route=f"{scope['method']} {scope['path']}",
            key=key,
            in_chunks=route is not None and route.in_chunks,
        )
        # Whoever may less since then does not get an answer from when they might.
        caller = f"{who.credential} {who.user_id} {sorted(who.permissions)}"
        hashed = HashedBody(receive, f"{caller} {query}\n")
        with acting_for(who.tenant_id):
            before = await idempotent.begin()
            if before is None:
                await self._first(scope, hashed, send, idempotent)
                return
            await hashed.drain()
            before.refuse_other(hashed.fingerprint())
            again = Response(before.body, before.status, media_type=before.media_type)
            again.headers["Idempotency-Replayed"] = "true"
            await again(scope, receive, send)

    async def _first(
        self,
        scope: Scope,
        hashed: HashedBody,
        send: Send,
        idempotent: IdempotentRequest,
    ) -> None:
        """Do what was asked, and keep the answer in the same transaction."""
        recorded = ResponseRecorder(send)

        async def keep() -> None:
            is_kept = not scope["state"].get("holds_secret", False)
            answer = recorded.answer(hashed.fingerprint())
            await idempotent.keep(answer, is_kept=is_kept)

        idempotent.transaction.before_commit(keep)
        try:
            async with idempotent.held():
                await self.app(scope, hashed, recorded)
        finally:
            if idempotent.in_chunks and recorded.status >= FIRST_ERROR:
                await asyncio.shield(idempotent.release())


class ResponseSender:
    """Sends an answer with its headers, once what it answers is committed.

    A request that only asks has nothing to commit: its transaction ends after the answer.
    """

    def __init__(
        self, scope: Scope, send: Send, transaction: RequestTransaction
    ) -> None:
        self._scope = scope
        self._send = send
        self._transaction = transaction
        self._is_replaced = False
        self.is_begun = False

    async def __call__(self, message: Message) -> None:
        """Send one part."""
        if self._is_replaced:
            return
        if message["type"] == "http.response.start" and not SCOPE.get().is_read_only:
            try:
                await self._transaction.end(message["status"])
            except Exception as error:  # noqa: BLE001 - any: it was not committed
                # The answer says of what has not been kept: another takes its place.
                self._is_replaced = True
                await self.refuse(error)
                return
        await self._pass_on(message)

    async def refuse(self, error: Exception) -> None:
        """Answer with what went wrong."""
        await self._transaction.abandon()
        response = await answer_to(Request(self._scope), error)
        await response(self._scope, no_more, self._pass_on)

    async def _pass_on(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.is_begun = True
            headers = MutableHeaders(scope=message)
            scope = self._scope
            harden(headers, scope["path"], is_secure=scope["scheme"] == "https")
            for name, value in scope["state"].get("answer_headers", {}).items():
                headers[name] = value
            if message["status"] == HTTPStatus.METHOD_NOT_ALLOWED:
                # A router names the methods of one of the routes that share an address.
                methods = route_table(scope["app"]).methods_of(scope["path"])
                headers["Allow"] = ", ".join(methods)
        await self._send(message)


def is_small(scope: Scope) -> bool:
    """Say whether a query is no longer than those that people make."""
    return len(scope.get("query_string", b"")) <= LARGE_REQUEST


async def no_more() -> Message:
    """Receive nothing: the request has been read as far as it will be."""
    return {"type": "http.disconnect"}


def check_address(scope: Scope) -> None:
    """Raise on addresses and headers that no honest caller sends."""
    query: bytes = scope.get("query_string", b"")
    if len(query) > LONGEST_QUERY or len(scope["path"]) > LONGEST_PATH:
        raise AddressTooLong(
            f"The query is longer than {LONGEST_QUERY:,} bytes.",
            hint="Send fewer filters, or ids in the body.",
        )
    if len(scope["headers"]) > MOST_HEADERS:
        raise MalformedRequest(f"The request has more than {MOST_HEADERS} headers.")
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEAD_BYTES:
        raise MalformedRequest(f"The headers are longer than {MAX_HEAD_BYTES:,} bytes.")
    if "\x00" in scope["path"]:
        raise NotStorable("The address holds the character NUL.")
    if query:
        check_query(query)


def check_host(scope: Scope, allowed: frozenset[str]) -> None:
    """Raise unless the request was sent to one of our names.

    Those who watch over a process know only its address. No other site can have a browser
    ask for one, as it can for a name of its own that leads here.
    """
    named = Headers(scope=scope).getlist("host")
    if len(named) > 1:
        raise MalformedRequest("The request names more than one host.")
    host = host_of(named[0]) if named else ""
    is_watched = scope["path"].startswith(WATCHED) and is_address(host)
    if allowed and host not in allowed and not is_loopback(host) and not is_watched:
        raise MalformedRequest(
            "This server does not have the name that the request was sent to.",
            hint="An operator lists its names in TRUSTED_HOSTS.",
        )


def check_query(query: bytes) -> None:
    """Raise on a query with secrets, or with what no database keeps."""
    try:
        pairs = parse_qsl(
            query.decode(),
            keep_blank_values=True,
            max_num_fields=MOST_PARAMETERS,
            errors="strict",
        )
    except ValueError:
        raise NotStorable(
            "The query is not UTF-8, or has too many parts.",
            hint=f"At most {MOST_PARAMETERS} parameters, each percent-encoded UTF-8.",
        ) from None
    for name, value in pairs:
        if name.lower() in SECRET_PARAMETERS:
            raise MalformedRequest(
                f"A secret does not belong into an address: '{name}'.",
                hint="Send it as `Authorization: Bearer ...`. Addresses are kept in "
                "logs and histories: make a new secret.",
            )
        if "\x00" in name or "\x00" in value:
            raise NotStorable("The query holds the character NUL.")
