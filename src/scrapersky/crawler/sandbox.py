"""A parsing sandbox: hostile bytes are parsed in child processes that may die.

A child is reused while it is healthy. One that takes too much time or memory, crashes
or answers nonsense is killed and replaced; its page ends with Trap, and no other page
notices. A child is not believed either: its answer is JSON, checked against the return
type of the function it ran, never unpickled.
"""

import asyncio
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from scrapersky import errors
from scrapersky.crawler.limits import MIB
from scrapersky.crawler.log import log, printable
from scrapersky.crawler.sandbox_child import FAILURE, HEADER, LENGTH, RESULT
from scrapersky.crawler.spool import Spool
from scrapersky.errors import ExtractionError, Trap

P = ParamSpec("P")
ResultT = TypeVar("ResultT")

CHILD = Path(__file__).with_name("sandbox_child.py")
START_PATIENCE = 30.0
SENT_AT_ONCE = 256 * 1024
RECEIVED_AT_ONCE = 64 * 1024
FRAME_HEAD = HEADER.size + LENGTH.size
HURRY = 0.5
"""How long work waits for a busy child before one more is started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """What one function call may cost."""

    cpu: timedelta = timedelta(seconds=5)
    wall: timedelta = timedelta(seconds=20)
    memory: int = 1024 * MIB
    """Address space of a child, its libraries included."""
    result_bytes: int = 32 * MIB
    retire_after: int = 5_000
    """Calls after which a child is replaced, however healthy."""
    retire_memory: int = 384 * MIB
    """Resident memory beyond which a child is replaced after its call."""


class Sandbox:
    """Runs functions in child processes. Use it as an async context manager."""

    def __init__(
        self,
        *,
        children: int | None = None,
        preload: Sequence[str] = (),
        limits: SandboxLimits | None = None,
    ) -> None:
        self._wanted = children or os.cpu_count() or 1
        self._most = self._wanted * 4
        self._preload = tuple(preload)
        self._limits = limits or SandboxLimits()
        self._idle: asyncio.Queue[_Child] = asyncio.Queue()
        self._children: set[_Child] = set()
        self._starting = 0
        self._returned_at = 0.0

    async def __aenter__(self) -> Self:
        """Begin; children are started when they are first needed."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End every child."""
        self.close()

    def close(self) -> None:
        """End every child at once."""
        for child in tuple(self._children):
            self._drop(child)

    async def warm_up(self) -> None:
        """Start the usual number of children before the first work comes."""
        while len(self._children) + self._starting < self._wanted:
            self._idle.put_nowait(await self._start())

    async def run(
        self, function: Callable[P, ResultT], *args: P.args, **kwargs: P.kwargs
    ) -> ResultT:
        """Run a top-level function in a child and return its result.

        Raises Trap when it costs too much, crashes or fails, and the function's own
        ExtractionError when it raises one. Arguments are positional.
        """
        if kwargs:
            raise TypeError("a sandboxed function takes positional arguments only")
        return await self._run(function, args)

    async def run_on(
        self,
        function: Callable[Concatenate[bytes, P], ResultT],
        body: bytes | Spool,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> ResultT:
        """Run a function on a body; of a spooled one only the child reads a byte."""
        if kwargs:
            raise TypeError("a sandboxed function takes positional arguments only")
        if isinstance(body, Spool):
            return await self._run(function, args, spool=body)
        return await self._run(function, (body, *args))

    async def _run(
        self,
        function: Callable[..., ResultT],
        args: tuple[Any, ...],
        *,
        spool: Spool | None = None,
    ) -> ResultT:
        name = f"{function.__module__}.{function.__qualname__}"
        request = pickle.dumps((function.__module__, function.__qualname__, args))
        child = await self._take()
        healthy = False
        try:
            async with asyncio.timeout(self._limits.wall.total_seconds()):
                kind, data = await child.call(
                    request, self._limits.result_bytes, spool=spool
                )
            healthy = kind in {RESULT, FAILURE}
        except TimeoutError:
            raise Trap(name, f"took more than {self._limits.wall}") from None
        except (OSError, EOFError) as error:
            raise Trap(name, child.cause_of_death()) from error
        finally:
            self._give_back(child, healthy=healthy)
        if kind == FAILURE:
            raise _failure(name, data)
        try:
            result: ResultT = _adapter(function).validate_json(data)
        except ValidationError:
            raise Trap(name, "answered with something else than it should") from None
        return result

    @property
    def pids(self) -> list[int]:
        """Return the process ids of the children alive."""
        return [child.process.pid for child in self._children]

    async def _take(self) -> "_Child":
        while True:
            if not self._idle.empty():
                child = self._idle.get_nowait()
            elif len(self._children) + self._starting < self._wanted:
                child = await self._start()
            else:
                child = await self._wait_or_grow()
            if child.is_alive:
                return child
            self._drop(child)

    async def _wait_or_grow(self) -> "_Child":
        """Wait for a child; where all are stuck in bad pages, start another."""
        while True:
            try:
                async with asyncio.timeout(HURRY):
                    return await self._idle.get()
            except TimeoutError:
                # One at a time: the first to come may be enough for all who wait.
                if not self._starting and self._needs_another():
                    return await self._start()

    def _needs_another(self) -> bool:
        """Say whether a child is missing, or every one is stuck; a queue is no reason."""
        if len(self._children) < self._wanted:
            return True
        stuck = time.monotonic() - self._returned_at > HURRY
        return stuck and len(self._children) < self._most

    async def _start(self) -> "_Child":
        self._starting += 1
        try:
            child = _Child()
            try:
                async with asyncio.timeout(START_PATIENCE):
                    await child.prepare(self._preload, self._limits)
            except BaseException:
                child.kill()
                raise
        except (OSError, EOFError, TimeoutError) as error:
            raise Trap("sandbox", "a child process could not be started") from error
        finally:
            self._starting -= 1
        self._children.add(child)
        self._returned_at = time.monotonic()
        return child

    def _give_back(self, child: "_Child", *, healthy: bool) -> None:
        limits = self._limits
        self._returned_at = time.monotonic()
        tired = (
            child.calls >= limits.retire_after
            or child.peak_memory > limits.retire_memory
        )
        if healthy and not tired and self._idle.qsize() < self._wanted:
            self._idle.put_nowait(child)
        else:
            self._drop(child)

    def _drop(self, child: "_Child") -> None:
        self._children.discard(child)
        child.kill()


class _Child:
    """One process and the socket to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", str(CHILD), str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                # Nothing of ours is in its environment: no password, no key.
                env={"LC_ALL": "C.UTF-8", "PATH": os.defpath},
                cwd="/",
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)  # noqa: FBT003
        self.link = ours
        self.calls = 0
        self.peak_memory = 0
        self._listens = True
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray(RECEIVED_AT_ONCE)
        self._data = bytearray()
        self._kind = b""
        self._wanted = FRAME_HEAD
        self._largest = 0
        self._answer: asyncio.Future[tuple[bytes, bytearray]] | None = None
        # Registered once and not for every answer: two system calls less a page.
        self._loop.add_reader(ours, self._receive)

    @property
    def is_alive(self) -> bool:
        return self._listens and self.process.poll() is None

    async def prepare(self, preload: Sequence[str], limits: SandboxLimits) -> None:
        settings = {
            "path": sys.path,
            "preload": preload,
            "memory": limits.memory,
            "cpu": limits.cpu.total_seconds(),
        }
        await self.call(pickle.dumps(settings), limits.result_bytes)
        self.calls = 0

    async def call(
        self, request: bytes, largest: int, *, spool: Spool | None = None
    ) -> tuple[bytes, bytearray]:
        """Send a request and return the kind of its answer and the answer."""
        self.calls += 1
        self._data, self._kind, self._wanted = bytearray(), b"", FRAME_HEAD
        self._largest = largest
        self._answer = self._loop.create_future()
        head = LENGTH.pack(len(request))
        if spool is not None:
            # A short message, and the link is empty: it never has to wait.
            socket.send_fds(self.link, [head + request], [spool.fileno()])
        elif len(request) < SENT_AT_ONCE:
            await self._loop.sock_sendall(self.link, head + request)
        else:
            # A large page is not copied once more only to be sent in one piece.
            await self._loop.sock_sendall(self.link, head)
            await self._loop.sock_sendall(self.link, request)
        try:
            return await self._answer
        finally:
            self._answer = None

    def _receive(self) -> None:
        """Take what the child sent; most answers come in a single piece."""
        try:
            size = self.link.recv_into(self._buffer)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(error)
            return
        if size == 0:
            self._end(EOFError("the child hung up"))
            return
        self._data += memoryview(self._buffer)[:size]
        if not self._kind and len(self._data) >= FRAME_HEAD:
            self._kind, length = HEADER.unpack_from(self._data)
            peak = LENGTH.unpack_from(self._data, HEADER.size)[0]
            self.peak_memory = peak * PEAK_UNIT
            if length > self._largest:
                self._end(EOFError("the answer is too large"))
                return
            self._wanted += length
        if len(self._data) > self._wanted or self._answer is None:
            self._end(EOFError("the child said more than it was asked"))
        elif len(self._data) == self._wanted and not self._answer.done():
            del self._data[:FRAME_HEAD]
            self._answer.set_result((self._kind, self._data))

    def _end(self, error: Exception) -> None:
        """Hear no more of a child that died or says what nobody asked."""
        self._stop_listening()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)

    def _stop_listening(self) -> None:
        if self._listens and not self._loop.is_closed():
            self._loop.remove_reader(self.link)
        self._listens = False

    def cause_of_death(self) -> str:
        try:
            code = self.process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "the parser answered nonsense"
        if code == -signal.SIGXCPU:
            return "used more processor time than a page may"
        return f"the parser died (status {code})"

    def kill(self) -> None:
        self._stop_listening()
        self.link.close()
        self.process.kill()
        self.process.wait()


PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


@cache
def _adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(function)["return"])


def _failure(name: str, data: bytearray) -> Exception:
    try:
        kind, text = TypeAdapter(tuple[str, str]).validate_json(data)
    except ValidationError:
        return Trap(name, "failed without a word")
    known = getattr(errors, kind, None)
    if isinstance(known, type) and issubclass(known, ExtractionError):
        return known(printable(text))
    log.warning(
        "sandbox.failed", function=name, error=printable(kind), text=printable(text)
    )
    return Trap(name, f"the parser failed with {printable(kind)}")
