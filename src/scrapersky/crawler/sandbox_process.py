"""The processes of a parsing sandbox: the server that forks, and each of its children.

A child is given one request at a time over a socket of its own. Its answer is bytes, which
`sandbox.py` checks before anyone believes them.
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
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter

from scrapersky.crawler.limits import MIB
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
from scrapersky.kit.spool import Spool

CHILD_SCRIPT = Path(__file__).with_name("sandbox_child.py")
START_TIMEOUT_SECONDS = 30.0
FORK_TIMEOUT_SECONDS = 30.0
"""A fork takes a millisecond; a server that takes so long is replaced."""
SEND_BYTES = 256 * 1024
RECEIVE_BYTES = 64 * 1024
FRAME_HEAD_BYTES = HEADER.size + LENGTH.size
PEAK_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024


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


class InvalidReply(EOFError):
    """A child said something else than the answer it was asked for."""


@dataclass(slots=True, eq=False)
class ParseJob:
    """One request on its way to a child, and its answer."""

    request: bytes
    spool: Spool | None = None
    child: "Child | None" = None
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


class ForkServer:
    """The process that has loaded the parsers and forks every child."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(CHILD_SCRIPT), str(theirs.fileno())],
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
            async with asyncio.timeout(START_TIMEOUT_SECONDS):
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
        self._link.settimeout(FORK_TIMEOUT_SECONDS)

    @property
    def is_alive(self) -> bool:
        """Say whether it still runs."""
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


class Child:
    """One process and the socket to it."""

    def __init__(self, server: ForkServer) -> None:
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
        self._buffer = bytearray(RECEIVE_BYTES)
        self._data = bytearray()
        self._kind = b""
        self._wanted = FRAME_HEAD_BYTES
        self._unsent = memoryview(b"")
        self._limits = SandboxLimits()
        self._job: ParseJob | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.on_done: Callable[[Child, bool], None] | None = None
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
        job = ParseJob(b"")
        # How long a page may take says nothing about how long a process takes to start.
        self._expect(
            job, replace(limits, wall=timedelta(seconds=START_TIMEOUT_SECONDS))
        )
        _, answer = await job.answer
        self.layers = TypeAdapter(list[str]).validate_json(answer)
        self.calls = 0

    def works_on(self, job: ParseJob) -> bool:
        """Say whether this is what the child is at."""
        return self._job is job

    def begin(self, job: ParseJob, limits: SandboxLimits) -> None:
        """Send a request; its answer comes to the job."""
        self._expect(job, limits)
        head = LENGTH.pack(len(job.request))
        try:
            if job.spool is not None:
                # A short message, and the link is empty: it never has to wait.
                files = [job.spool.fileno()]
                socket.send_fds(self.link, [head + job.request], files)
            elif len(job.request) < SEND_BYTES:
                self._unsent = memoryview(head + job.request)
                self._send()
            else:
                # A large page is not copied once more only to be sent in one piece.
                self.link.send(head)
                self._unsent = memoryview(job.request)
                self._send()
        except OSError as error:
            self._end(error)

    def _expect(self, job: ParseJob, limits: SandboxLimits) -> None:
        self.calls += 1
        self._data, self._kind, self._wanted = bytearray(), b"", FRAME_HEAD_BYTES
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
        if not self._kind and len(self._data) >= FRAME_HEAD_BYTES:
            self._kind, length = HEADER.unpack_from(self._data)
            peak = LENGTH.unpack_from(self._data, HEADER.size)[0]
            self.peak_memory = peak * PEAK_UNIT_BYTES
            if length > self._limits.result_bytes:
                self._end(InvalidReply("the answer is too large"))
                return
            self._wanted += length
        if len(self._data) > self._wanted or self._job is None:
            self._end(InvalidReply("the child said more than it was asked"))
        elif len(self._data) == self._wanted:
            del self._data[:FRAME_HEAD_BYTES]
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

    def _take_job(self) -> ParseJob:
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
        """Say why the process ended."""
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
