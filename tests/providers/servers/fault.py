"""Ways in which a server can misbehave, and a server that does on request."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeAlias

from aiohttp import web

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens instead of an answer."""

    kind: str
    """status, hang, cut, reset, drip, huge."""
    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_endless(self) -> bool:
        """Whether only a timeout ends it."""
        return self.kind in {"hang", "drip"}


def status(
    code: int,
    body: bytes = b"",
    *,
    content_type: str = "application/json",
    **headers: str,
) -> Fault:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Fault("status", code, body, content_type, names)


HANG = Fault("hang")
CUT = Fault("cut")
RESET = Fault("reset")
DRIP = Fault("drip")
HUGE = Fault("huge")
BROKEN_JSON = status(200, b'{"places": [{"id": "x"')
NOT_JSON = status(
    200, b"<html>Welcome to the hotel wifi</html>", content_type="text/html"
)
WRONG_TYPE = status(200, b"{}", content_type="text/plain")
REDIRECT = status(302, Location="http://127.0.0.1:9/elsewhere")
JSON_ARRAY = status(200, b"[1, 2, 3]")
JSON_NULL = status(200, b"null")


class FaultyServer:
    """A server on a real socket of this machine; faults are used up one by one."""

    def __init__(self) -> None:
        self.faults: deque[Fault | None] = deque()
        self.always: Fault | None = None
        self.latency = 0.0
        self.requests = 0
        self.arrived = asyncio.Event()
        self.user_agents: list[str] = []
        self.times: list[float] = []
        self._closing = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._misbehave], client_max_size=1 << 22)
        self.add_routes(app)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        assert self._runner is not None
        await self._runner.cleanup()

    def add_routes(self, app: web.Application) -> None:
        raise NotImplementedError

    @web.middleware
    async def _misbehave(
        self, request: web.Request, handler: Handler
    ) -> web.StreamResponse:
        self.requests += 1
        self.times.append(asyncio.get_running_loop().time())
        self.user_agents.append(request.headers.get("User-Agent", ""))
        self.arrived.set()
        if self.latency:
            await asyncio.sleep(self.latency)
        fault = self.faults.popleft() if self.faults else self.always
        if fault is None:
            return await handler(request)
        return await self._fail(request, fault)

    async def _fail(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.kind == "hang":
            await self._closing.wait()
        if fault.kind in {"hang", "reset"}:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if fault.kind == "status":
            return web.Response(
                status=fault.status,
                body=fault.body,
                content_type=fault.content_type,
                headers=fault.headers,
            )
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if fault.kind == "cut":
            response.content_length = 5000
        await response.prepare(request)
        await response.write(b'{"places": [')
        if fault.kind == "cut":
            assert request.transport is not None
            request.transport.abort()
            return response
        piece = b" " * (100_000 if fault.kind == "huge" else 1)
        try:
            while not self._closing.is_set():
                await response.write(piece)
                await asyncio.sleep(0 if fault.kind == "huge" else 0.02)
        except ConnectionError:
            pass
        return response
