"""A parsing sandbox: hostile bytes are parsed in child processes that may die.

Children are forked from a server that has loaded the parsers, so that they share its
memory and are there at once. A child is reused while it is healthy. One that takes too
much time or memory, crashes or answers nonsense is killed and replaced; its page ends
with Trap, and no other page notices. A child is not believed either: its answer is JSON,
checked against the return type of the function it ran, never unpickled.
"""

import asyncio
import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from contact_extraction import errors
from contact_extraction.errors import ExtractionError
from scrapersky.crawler.log import log, printable
from scrapersky.crawler.meter import count_parsing
from scrapersky.crawler.sandbox_child import FAILURE
from scrapersky.crawler.sandbox_process import (
    START_TIMEOUT_SECONDS,
    Child,
    ForkServer,
    InvalidReply,
    ParseJob,
    SandboxLimits,
)
from scrapersky.errors import ParserUnavailable, Trap
from scrapersky.kit.spool import Spool

P = ParamSpec("P")
ResultT = TypeVar("ResultT")
Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function, and the arguments that it is called with."""

CONFINEMENT_LAYERS = ("landlock", "seccomp", "user")
"""What every child should have given up; a network of its own is more than these."""
LARGE_BODY_BYTES = 256 * 1024
"""Bytes beyond which a body waits while smaller ones do; one page of ten is larger."""
MAX_WAIT_SECONDS = 5.0
"""Seconds after which large bodies have their share, whatever else waits."""
LARGE_SHARE = 0.25
"""How much of the children's time large bodies take while smaller ones wait."""
USAGE_WINDOW_SECONDS = 30.0
"""Seconds of children after which what was spent before counts half."""
GROW_DELAY_SECONDS = 0.5
"""How long work waits for a busy child before one more is started."""


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
        self._server: asyncio.Task[ForkServer] | None = None
        self._waiting = JobQueue()
        self._idle: deque[Child] = deque()
        self._children: set[Child] = set()
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
        job = ParseJob(request, spool)
        self._waiting.append(job)
        self._dispatch()
        try:
            with self._waits():
                kind, data = await job.answer
        except TimeoutError:
            # A page that costs too much meets the limit of processor time long before
            # this one, unless other work on the machine keeps its parser waiting.
            why = f"took more than {self._limits.wall}"
            raise ParserUnavailable(name, why) from None
        except InvalidReply:
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
            self._waiting.count(job)
        if kind == FAILURE:
            raise _failure(name, data)
        try:
            result: ResultT = _adapter(function).validate_json(data)
        except ValidationError:
            raise Trap(name, "answered with something else than it should") from None
        return result

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

    def _next_idle(self) -> Child | None:
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
            self._watch = loop.call_later(GROW_DELAY_SECONDS, self._look)

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
        stuck = time.monotonic() - self._returned_at > GROW_DELAY_SECONDS
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
            child = Child(await self._ready_server())
            try:
                async with asyncio.timeout(START_TIMEOUT_SECONDS):
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

    async def _ready_server(self) -> ForkServer:
        """Return the server that children come from; a new one if there is none."""
        if self._server is not None and self._server.done() and not self._is_up():
            self._close_server()
        if self._server is None:
            self._server = asyncio.create_task(ForkServer.start(self._settings))
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
        missing = [layer for layer in CONFINEMENT_LAYERS if layer not in layers]
        if missing and not self._has_warned:
            log.warning("sandbox.less_confined", missing=missing)
        self._has_warned = True

    def _fail_waiting(self, why: str) -> None:
        while self._waiting:
            job = self._waiting.popleft()
            if not job.answer.done():
                job.answer.set_exception(ParserUnavailable("sandbox", why))

    def _give_back(self, child: Child, healthy: bool) -> None:  # noqa: FBT001
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

    def _drop(self, child: Child) -> None:
        self._children.discard(child)
        child.kill()


class JobQueue:
    """What waits for a child: small bodies first, so that large ones hold up few others.

    A page made to be expensive is large; a business's own page hardly ever is.
    """

    def __init__(self) -> None:
        self._small: deque[ParseJob] = deque()
        self._large: deque[ParseJob] = deque()
        self._spent = {False: 0.0, True: 0.0}
        """Seconds of children, by whether the body was large."""

    def __bool__(self) -> bool:
        return bool(self._small or self._large)

    def append(self, job: ParseJob) -> None:
        """Let a job wait behind those of its size."""
        (self._large if job.size > LARGE_BODY_BYTES else self._small).append(job)

    def popleft(self) -> ParseJob:
        """Return whose turn it is."""
        small, large = self._small, self._large
        if not small:
            return large.popleft()
        if large and self._is_due(large[0]):
            return large.popleft()
        return small.popleft()

    def count(self, job: ParseJob) -> None:
        """Note how long a job kept a child."""
        self._spent[job.size > LARGE_BODY_BYTES] += job.seconds
        if sum(self._spent.values()) > USAGE_WINDOW_SECONDS:
            self._spent = {size: spent / 2 for size, spent in self._spent.items()}

    def _is_due(self, job: ParseJob) -> bool:
        is_late = time.monotonic() - job.since > MAX_WAIT_SECONDS
        return is_late and self._spent[True] <= LARGE_SHARE * sum(self._spent.values())


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
