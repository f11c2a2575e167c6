"""What the servers of all CRMs share: sockets, routes, credentials, meters and mishaps."""

import asyncio
import json
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from aiohttp import web

from tests.connectors.fakes.clock import StillClock
from tests.connectors.fakes.trouble import Trouble, next_trouble


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: JSON, or the text of a page, or nothing."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_page(self) -> bool:
        return isinstance(self.body, str)

    def encoded(self) -> bytes:
        if self.body is None:
            return b""
        return (self.body if self.is_page else json.dumps(self.body)).encode()


class Refusal(Exception):
    """An answer that ends the work on a call."""

    def __init__(self, status: int, body: Any, **headers: str) -> None:
        super().__init__(f"{status} {body}")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.reply = Reply(status, body, named)


class _Midway(Exception):
    pass


@dataclass(slots=True)
class Call:
    """One call as it came, and what was answered."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes = field(repr=False)
    raw_query: str = ""
    status: int = 0
    at: float = 0.0
    """Seconds of the clock."""
    cost: int = 1

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def json(self) -> Any:
        try:
            return json.loads(self.raw)
        except ValueError:
            return None


NUMBER = r"\d+"
Handler = Callable[..., Reply]


def part_of_path(found: re.Match[str]) -> str:
    """Return the pattern of a named part: a number where it is called one."""
    return rf"(?P<{found[1]}>{NUMBER if found[1] == 'number' else '[^/]+'})"


class FakeCrm:
    """A CRM on a port of this machine; a subclass says what it answers."""

    routes: ClassVar[Mapping[str, str]] = {}
    """By `METHOD /path/{name}` the method that answers: these and no others."""

    def __init__(self, clock: StillClock | None = None, *, seed: int = 0) -> None:
        self.clock = clock or StillClock()
        self.random = random.Random(seed)
        self.troubles: list[Trouble] = []
        self.calls: list[Call] = []
        self.port = 0
        self._halves = False
        self._runner: web.AppRunner | None = None
        self._routes = [
            (method, re.compile(re.sub(r"{(\w+)}", part_of_path, path)), name)
            for route, name in self.routes.items()
            for method, _, path in [route.partition(" ")]
        ]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 25)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    def count(self, of: str) -> int:
        """How many calls came whose method and path hold this."""
        return sum(of in str(call) for call in self.calls)

    # What a subclass says.

    def authorize(self, call: Call) -> None:
        """Raise the vendor's refusal unless the call may be made."""

    def measure(self, call: Call) -> Mapping[str, str]:
        """Count the call, or raise the vendor's refusal; the headers that tell of it."""
        return {}

    def no_route(self, call: Call) -> Reply:
        """Answer what is not among the routes."""
        return Reply(404, {"message": f"no route {call}"})

    def fault_body(self, status: int) -> Any:
        """Return the body of an error of the vendor's own that has no better one."""
        return {"message": f"error {status}"}

    # Help for subclasses.

    def rows(self, inputs: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a batch, or stop in the middle of it when that is asked for."""
        for at, row in enumerate(inputs):
            if self._halves and at >= len(inputs) / 2:
                raise _Midway
            yield row

    # The way of a call.

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        call = Call(
            request.method,
            request.path,
            dict(request.query),
            {name.lower(): value for name, value in request.headers.items()},
            await request.read(),
            request.query_string,
            at=self.clock.seconds,
        )
        self.calls.append(call)
        trouble = next_trouble(self.troubles, str(call))
        step = trouble.step if trouble else ""
        if step == "before":
            return await self._cut(request)
        self._halves = step == "midway"
        reply = self._answer(call, trouble if step == "instead" else None)
        if self._halves and trouble and reply.status < 400:
            reply = self._stated(trouble)
        call.status = reply.status
        if step == "after":
            return await self._cut(request)
        return await self._send(request, reply, cut=step == "half")

    def _answer(self, call: Call, instead: Trouble | None) -> Reply:
        headers: Mapping[str, str] = {}
        try:
            self.authorize(call)
            headers = self.measure(call)
            reply = self._stated(instead) if instead else self._handle(call)
        except Refusal as refused:
            reply = refused.reply
        except _Midway:
            reply = Reply(200)
        return Reply(reply.status, reply.body, {**headers, **reply.headers})

    def _handle(self, call: Call) -> Reply:
        for method, pattern, name in self._routes:
            if method == call.method and (found := pattern.fullmatch(call.path)):
                handler: Handler = getattr(self, name)
                return handler(call, **found.groupdict())
        return self.no_route(call)

    def _stated(self, trouble: Trouble) -> Reply:
        body = self.fault_body(trouble.status) if trouble.body is None else trouble.body
        return Reply(trouble.status, body, trouble.headers)

    async def _cut(self, request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        await asyncio.sleep(0)
        return web.Response()

    async def _send(
        self, request: web.Request, reply: Reply, *, cut: bool
    ) -> web.StreamResponse:
        body = reply.encoded()
        kind = "text/html" if reply.is_page else "application/json"
        headers = {"Content-Type": kind} if body else {}
        if not cut:
            return web.Response(
                status=reply.status, body=body, headers={**reply.headers, **headers}
            )
        response = web.StreamResponse(status=reply.status, headers=headers)
        response.content_length = max(len(body), 2)
        await response.prepare(request)
        await response.write(body[: len(body) // 2] or b" ")
        return await self._cut(request)
