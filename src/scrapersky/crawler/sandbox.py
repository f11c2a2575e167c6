"""A parsing sandbox: hostile bytes are parsed in child processes that may die.

Children are forked from a server that has loaded the parsers, so that they share its
memory and are there at once. A child is reused while it is healthy. One that takes too
much time or memory, crashes or answers nonsense is killed and replaced; its page ends
with Trap, and no other page notices. A child is not believed either: its answer is JSON,
checked against the return type of the function it ran, never unpickled.
"""

import asyncio
import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from scrapersky import errors
from scrapersky.crawler.limits import MIB
from scrapersky.crawler.log import log, printable
from scrapersky.crawler.meter import count_parsing
from scrapersky.crawler.sandbox_child import (
    END,
    FAILURE,
    FORK,
    HEADER,
    LENGTH,
    REPLY,
    REQUEST,
    RESULT,
)
from scrapersky.crawler.spool import Spool
from scrapersky.errors import ExtractionError, ParserUnavailable, Trap

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function, and the arguments that it is called with."""

CHILD = Path(__file__).with_name("sandbox_child.py")
START_TIMEOUT = 30.0
FORK_TIMEOUT = 30.0
"""A fork takes a millisecond; a server that takes so long is replaced."""
SENT_AT_ONCE = 256 * 1024
RECEIVED_AT_ONCE = 64 * 1024
FRAME_HEAD = HEADER.size + LENGTH.size
LAYERS = ("landlock", "seccomp", "user")
"""What every child should have given up; a network of its own is more than these."""
LARGE = 256 * 1024
"""Bytes beyond which a body waits while smaller ones do; one page of ten is larger."""
LONGEST_WAIT = 5.0
"""Seconds after which a large body's turn has come, whatever else waits."""
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


CPU_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""What a control group may use of the processors: microseconds, of how many."""


def usable_cpus(quota: Path = CPU_QUOTA) -> int:
    """Return how many processors we may use, whatever the machine has."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    most = allowed or os.cpu_count() or 1
    try:
        given, period = quota.read_text(encoding="ascii").split()
        return max(1, min(most, round(int(given) / int(period))))
    except (OSError, ValueError):
        return most  # no control group, or one without a limit


class Sandbox:
    """Runs functions in child processes. Use it as an async context manager."""

    def __init__(
        self,
        *,
        children: int | None = None,
        warm: Sequence[Call] = (),
        limits: SandboxLimits | None = None,
        waiting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Name calls that load what children need, and what to enter while work waits.

        The calls are made once, before any child is forked, and so on nothing of
        strangers.
        """
        self._waits = waiting
        self._wanted = children or usable_cpus()
        self._most = self._wanted * 4
        self._limits = limits or SandboxLimits()
        self._settings = {
            "path": sys.path,
            "warm": [(f.__module__, f.__qualname__, args) for f, args in warm],
            "memory": self._limits.memory,
            "cpu": self._limits.cpu.total_seconds(),
        }
        self._server: asyncio.Task[_ForkServer] | None = None
        self._waiting = WaitingJobs()
        self._idle: deque[_Child] = deque()
        self._children: set[_Child] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._returned_at = 0.0
        self._watch: asyncio.TimerHandle | None = None
        self._has_warned = False

    async def __aenter__(self) -> Self:
        """Begin; children are started when they are first needed."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """End every child."""
        self.close()

    def close(self) -> None:
        """End every child at once, and whatever waits for one."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        for task in self._starting:
            task.cancel()
        self._fail_waiting("it was closed")
        for child in tuple(self._children):
            self._drop(child)
        self._close_server()

    def _close_server(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        if not server.cancel() and not server.cancelled() and not server.exception():
            server.result().close()

    async def warm_up(self) -> None:
        """Start the usual number of children before the first work comes."""
        while len(self._children) + len(self._starting) < self._wanted:
            self._grow()
        await asyncio.gather(*self._starting)

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
        job = _Job(request, spool)
        self._waiting.append(job)
        self._dispatch()
        try:
            with self._waits():
                kind, data = await job.answer
        except TimeoutError:
            raise Trap(name, f"took more than {self._limits.wall}") from None
        except _Nonsense:
            raise Trap(name, "the parser answered nonsense") from None
        except (OSError, EOFError) as error:
            died = job.child.cause_of_death() if job.child else "it never began"
            raise Trap(name, died) from error
        except asyncio.CancelledError:
            # Nobody waits for the answer any more, and nobody else may get it.
            if job.child is not None and job.child.works_on(job):
                self._drop(job.child)
                self._dispatch()
            raise
        finally:
            count_parsing(job.seconds)
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
        return [child.pid for child in self._children]

    def _dispatch(self) -> None:
        """Give idle children what waits; more children where there are too few."""
        while self._waiting:
            if (child := self._next_idle()) is None:
                self._want_more()
                return
            job = self._waiting.popleft()
            if job.answer.done():
                self._idle.append(child)
            else:
                child.begin(job, self._limits)

    def _next_idle(self) -> "_Child | None":
        while self._idle:
            child = self._idle.popleft()
            if child.is_alive:
                return child
            self._drop(child)
        return None

    def _want_more(self) -> None:
        if len(self._children) + len(self._starting) < self._wanted:
            self._grow()
        elif self._watch is None:
            loop = asyncio.get_running_loop()
            self._watch = loop.call_later(HURRY, self._look)

    def _look(self) -> None:
        """Start another child where all are stuck in bad pages, one at a time."""
        self._watch = None
        if not self._starting and self._waiting and self._needs_another():
            self._grow()
        elif self._waiting:
            self._want_more()

    def _needs_another(self) -> bool:
        """Say whether a child is missing, or every one is stuck; a queue is not a reason."""
        if len(self._children) < self._wanted:
            return True
        stuck = time.monotonic() - self._returned_at > HURRY
        return stuck and len(self._children) < self._most

    def _grow(self) -> None:
        task = asyncio.get_running_loop().create_task(self._start())
        self._starting.add(task)
        task.add_done_callback(self._started)

    def _started(self, task: "asyncio.Task[None]") -> None:
        self._starting.discard(task)
        self._dispatch()

    async def _start(self) -> None:
        try:
            child = _Child(await self._ready_server())
            try:
                async with asyncio.timeout(START_TIMEOUT):
                    await child.prepare(self._limits)
            except BaseException:
                child.kill()
                raise
        except (OSError, EOFError, TimeoutError) as error:
            log.warning("sandbox.not_started", error=printable(repr(error)))
            self._fail_waiting("a child process could not be started")
            return
        self._report_layers(child.layers)
        self._children.add(child)
        child.on_done = self._give_back
        self._returned_at = time.monotonic()
        self._idle.append(child)

    async def _ready_server(self) -> "_ForkServer":
        """Return the server that children come from; a new one if there is none."""
        if self._server is not None and self._server.done() and not self._is_up():
            self._close_server()
        if self._server is None:
            self._server = asyncio.create_task(_ForkServer.start(self._settings))
        # It is everyone's: one that is not wanted any more stops nobody else's.
        return await asyncio.shield(self._server)

    def _is_up(self) -> bool:
        server = self._server
        return (
            server is not None
            and not server.cancelled()
            and server.exception() is None
            and server.result().is_alive
        )

    def _report_layers(self, layers: list[str]) -> None:
        """Say once if children can do more than they need, and why that is so."""
        missing = [layer for layer in LAYERS if layer not in layers]
        if missing and not self._has_warned:
            log.warning("sandbox.less_confined", missing=missing)
        self._has_warned = True

    def _fail_waiting(self, why: str) -> None:
        while self._waiting:
            job = self._waiting.popleft()
            if not job.answer.done():
                job.answer.set_exception(ParserUnavailable("sandbox", why))

    def _give_back(self, child: "_Child", healthy: bool) -> None:  # noqa: FBT001
        limits = self._limits
        self._returned_at = time.monotonic()
        tired = (
            child.calls >= limits.retire_after
            or child.peak_memory > limits.retire_memory
        )
        if healthy and not tired and len(self._idle) < self._wanted:
            self._idle.append(child)
        else:
            self._drop(child)
        self._dispatch()

    def _drop(self, child: "_Child") -> None:
        self._children.discard(child)
        child.kill()


class WaitingJobs:
    """What waits for a child: small bodies first, so that large ones hold up few others.

    A page made to be expensive is large; a business's own page hardly ever is.
    """

    def __init__(self) -> None:
        self._small: deque[_Job] = deque()
        self._large: deque[_Job] = deque()

    def __bool__(self) -> bool:
        return bool(self._small or self._large)

    def append(self, job: "_Job") -> None:
        """Let a job wait behind those of its size."""
        (self._large if job.size > LARGE else self._small).append(job)

    def popleft(self) -> "_Job":
        """Return whose turn it is."""
        small, large = self._small, self._large
        if not small:
            return large.popleft()
        if large and time.monotonic() - large[0].since > LONGEST_WAIT:
            return large.popleft()
        return small.popleft()


class _Nonsense(EOFError):
    """A child said something else than the answer it was asked for."""


@dataclass(slots=True, eq=False)
class _Job:
    """One request on its way to a child, and its answer."""

    request: bytes
    spool: Spool | None = None
    child: "_Child | None" = None
    since: float = field(default_factory=time.monotonic)
    begun: float = 0.0
    seconds: float = 0.0
    """How long it kept a child busy."""
    answer: "asyncio.Future[tuple[bytes, bytearray]]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def size(self) -> int:
        """How many bytes a child has to read."""
        return self.spool.size if self.spool is not None else len(self.request)


class _ForkServer:
    """The process that has loaded the parsers and forks every child."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(
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
        self._link = ours

    @classmethod
    async def start(cls, settings: dict[str, Any]) -> Self:
        """Return a server that has loaded everything."""
        server = cls()
        try:
            async with asyncio.timeout(START_TIMEOUT):
                await server._load(settings)
        except BaseException:
            server.close()
            raise
        return server

    async def _load(self, settings: dict[str, Any]) -> None:
        loop = asyncio.get_running_loop()
        self._link.setblocking(False)  # noqa: FBT003
        request = pickle.dumps(settings)
        await loop.sock_sendall(self._link, LENGTH.pack(len(request)) + request)
        if not await loop.sock_recv(self._link, REPLY.size):
            raise EOFError("the fork server ended while it loaded the parsers")
        self._link.settimeout(FORK_TIMEOUT)

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def fork(self, link: socket.socket) -> int:
        """Start a child at the other end of a socket; return its process id."""
        socket.send_fds(self._link, [REQUEST.pack(FORK, 0)], [link.fileno()])
        return self._reply()

    def end(self, pid: int) -> int:
        """End a child, if it has not ended by itself; return its exit code."""
        try:
            self._link.sendall(REQUEST.pack(END, pid))
            return self._reply()
        except (OSError, EOFError):
            # Whatever a server has forked ends with it.
            return -signal.SIGKILL

    def _reply(self) -> int:
        try:
            reply = self._link.recv(REPLY.size)
        except OSError:
            # What came later would be taken for the answer to the next request.
            self._process.kill()
            raise
        if len(reply) < REPLY.size:
            raise EOFError("the fork server ended")
        return int(REPLY.unpack(reply)[0])

    def close(self) -> None:
        """End the server, and with it what children are left."""
        self._link.close()
        self._process.kill()
        self._process.wait()


class _Child:
    """One process and the socket to it."""

    def __init__(self, server: _ForkServer) -> None:
        ours, theirs = socket.socketpair()
        try:
            self.pid = server.fork(theirs)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        self._server = server
        self._exit_code: int | None = None
        ours.setblocking(False)  # noqa: FBT003
        self.link = ours
        self.calls = 0
        self.layers: list[str] = []
        """What the child has given up, by its own word before it saw any page."""
        self.peak_memory = 0
        self._listens = True
        self._loop = asyncio.get_running_loop()
        self._buffer = bytearray(RECEIVED_AT_ONCE)
        self._data = bytearray()
        self._kind = b""
        self._wanted = FRAME_HEAD
        self._unsent = memoryview(b"")
        self._limits = SandboxLimits()
        self._job: _Job | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.on_done: Callable[[_Child, bool], None] | None = None
        """Called when an answer is there, or none will ever come."""
        # Registered once and not for every answer: two system calls less a page.
        self._loop.add_reader(ours, self._receive)

    @property
    def is_alive(self) -> bool:
        """Say whether the other end is open: nobody has written there unasked."""
        if not self._listens:
            return False
        try:
            self.link.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    async def prepare(self, limits: SandboxLimits) -> None:
        """Wait until the child has given up what it does not need."""
        job = _Job(b"")
        # How long a page may take says nothing about how long a process takes to start.
        self._expect(job, replace(limits, wall=timedelta(seconds=START_TIMEOUT)))
        _, answer = await job.answer
        self.layers = TypeAdapter(list[str]).validate_json(answer)
        self.calls = 0

    def works_on(self, job: _Job) -> bool:
        """Say whether this is what the child is at."""
        return self._job is job

    def begin(self, job: _Job, limits: SandboxLimits) -> None:
        """Send a request; its answer comes to the job."""
        self._expect(job, limits)
        head = LENGTH.pack(len(job.request))
        try:
            if job.spool is not None:
                # A short message, and the link is empty: it never has to wait.
                files = [job.spool.fileno()]
                socket.send_fds(self.link, [head + job.request], files)
            elif len(job.request) < SENT_AT_ONCE:
                self._unsent = memoryview(head + job.request)
                self._send()
            else:
                # A large page is not copied once more only to be sent in one piece.
                self.link.send(head)
                self._unsent = memoryview(job.request)
                self._send()
        except OSError as error:
            self._end(error)

    def _expect(self, job: _Job, limits: SandboxLimits) -> None:
        self.calls += 1
        self._data, self._kind, self._wanted = bytearray(), b"", FRAME_HEAD
        self._job, self._limits, job.child = job, limits, self
        job.begun = time.monotonic()
        wall = limits.wall.total_seconds()
        self._timer = self._loop.call_later(wall, self._end, TimeoutError())

    def _send(self) -> None:
        """Send what the child takes at once, and the rest as it reads."""
        with contextlib.suppress(BlockingIOError):
            self._unsent = self._unsent[self.link.send(self._unsent) :]
        if self._unsent:
            self._loop.add_writer(self.link, self._send_rest)

    def _send_rest(self) -> None:
        try:
            self._unsent = self._unsent[self.link.send(self._unsent) :]
        except BlockingIOError:
            return
        except OSError as error:
            self._end(error)
            return
        if not self._unsent:
            self._loop.remove_writer(self.link)

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
            if length > self._limits.result_bytes:
                self._end(_Nonsense("the answer is too large"))
                return
            self._wanted += length
        if len(self._data) > self._wanted or self._job is None:
            self._end(_Nonsense("the child said more than it was asked"))
        elif len(self._data) == self._wanted:
            del self._data[:FRAME_HEAD]
            answer = self._take_job().answer
            if not answer.done():
                answer.set_result((self._kind, self._data))
            if self.on_done is not None:
                self.on_done(self, self._kind in {RESULT, FAILURE})

    def _end(self, error: Exception) -> None:
        """Hear no more of a child that died, is late or says what nobody asked."""
        self._stop_listening()
        if self._job is None:
            return
        answer = self._take_job().answer
        if not answer.done():
            answer.set_exception(error)
        if self.on_done is not None:
            self.on_done(self, False)  # noqa: FBT003

    def _take_job(self) -> _Job:
        """Return what was worked on; the child is free again."""
        job, self._job = self._job, None
        assert job is not None  # noqa: S101 - asked only while there is one
        job.seconds = time.monotonic() - job.begun
        if self._timer is not None:
            self._timer.cancel()
        return job

    def _stop_listening(self) -> None:
        if self._listens and not self._loop.is_closed():
            self._loop.remove_reader(self.link)
            self._loop.remove_writer(self.link)
        self._listens = False

    def cause_of_death(self) -> str:
        code = self._ended()
        if code == -signal.SIGXCPU:
            return "used more processor time than a page may"
        return f"the parser died (status {code})"

    def kill(self) -> None:
        """End the process; whoever still waits for its answer gets an error."""
        self._stop_listening()
        self.on_done = None
        self.link.close()
        self._ended()
        self._end(EOFError("the child was ended"))

    def _ended(self) -> int:
        """End the process, unless it has ended; return its exit code."""
        if self._exit_code is None:
            self._exit_code = self._server.end(self.pid)
        return self._exit_code


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
