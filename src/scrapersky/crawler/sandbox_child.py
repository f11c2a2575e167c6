"""The processes of the sandbox: a fork server, and the children that it forks.

The server is started by path, not as a module, so that it loads nothing it does not
need. It loads the parsers once and never sees a page; a child has them in memory that
all children share, and runs one function after the other under hard limits. What they
read comes from their parent and is trusted; what a child writes is not, so results
travel as JSON that the parent checks against the function's return type.
"""

import gc
import importlib
import math
import os
import pickle
import resource
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter

HEADER = struct.Struct("!cI")
LENGTH = struct.Struct("!I")
FILE = struct.Struct("@i")
FILE_BYTES = socket.CMSG_SPACE(FILE.size)
READ_BYTES = 1 << 16
RESULT, FAILURE = b"r", b"f"
CONFINEMENT = "scrapersky.kit.confinement"


FORK, END = b"f", b"e"
REQUEST = struct.Struct("!cI")
REPLY = struct.Struct("!i")
GARBAGE_OBJECTS = 50_000
"""New objects after which circles among them are looked for."""


def main(descriptor: int) -> None:
    """Load the parsers, then fork and end children for the parent until it hangs up."""
    be_killed_first()
    link = socket.socket(fileno=descriptor)
    settings = pickle.loads(read_frame(link)[0])  # noqa: S301 - from our own parent
    sys.path[:] = settings["path"]
    # Found only now: where our own modules are, the parent has just said.
    importlib.import_module(CONFINEMENT)
    for module, name, args in settings["warm"]:
        function = find(module, name)
        adapter(function).dump_json(function(*args))
    gc.collect()
    # What is here stays, and is not written to: children share its memory.
    gc.freeze()
    # A page makes thousands of objects that its end frees; to look for circles among them
    # every 700 takes a tenth of the time.
    gc.set_threshold(GARBAGE_OBJECTS)
    link.sendall(REPLY.pack(os.getpid()))
    serve_forks(link, settings)


def be_killed_first() -> None:
    """Have the kernel end us, and not our parent, when memory runs out."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write("1000")
    except OSError:
        pass  # not every system has it


def serve_forks(link: socket.socket, settings: dict[str, Any]) -> None:
    """Answer a request to fork with a process id, one to end with an exit code."""
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    ended: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([link.fileno(), woken], [], [])
        if woken in ready:
            os.read(woken, READ_BYTES)
            ended.update(dead_children())
        if link.fileno() not in ready:
            continue
        request, files, _, _ = link.recvmsg(REQUEST.size, FILE_BYTES)
        if not request:
            return
        kind, pid = REQUEST.unpack(request)
        if kind == END:
            code = ended.pop(pid) if pid in ended else end(pid)
            link.sendall(REPLY.pack(code))
            continue
        descriptor = FILE.unpack_from(files[0][2])[0]
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for one in (woken, wake, link.detach()):
                os.close(one)
            serve(socket.socket(fileno=descriptor), settings)
            os._exit(0)
        os.close(descriptor)
        link.sendall(REPLY.pack(pid))


def dead_children() -> dict[int, int]:
    """Return the exit codes of the children that ended by themselves."""
    found = {}
    try:
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            found[one[0]] = os.waitstatus_to_exitcode(one[1])
    except ChildProcessError:
        pass
    return found


def end(pid: int) -> int:
    """End a child that nobody has waited for yet, so that its number is still its own."""
    os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def serve(link: socket.socket, settings: dict[str, Any]) -> None:
    """Give up what a parser has no use for, and serve the parent until it hangs up."""
    global INHERITED  # noqa: PLW0603 - a process has one peak
    INHERITED = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    held = importlib.import_module(CONFINEMENT).confine(settings["memory"])
    write_frame(link, RESULT, TypeAdapter(list[str]).dump_json(held))
    while (frame := read_frame(link))[0]:
        kind, answer = work(*frame, settings["cpu"])
        write_frame(link, kind, answer)


def work(request: bytes, spool: int | None, cpu: float) -> tuple[bytes, bytes]:
    """Run one function; return its result, or the name and text of its error.

    With a spool, the function's first argument is what that file holds.
    """
    allow_cpu(cpu)
    try:
        module, name, args = pickle.loads(request)  # noqa: S301 - from our own parent
        if spool is not None:
            args = (read_spool(spool), *args)
        function = find(module, name)
        return RESULT, adapter(function).dump_json(function(*args))
    except Exception as error:  # noqa: BLE001 - the parent decides what it means
        return FAILURE, report(error)


def report(error: Exception) -> bytes:
    """Return the kind and the text of an error."""
    try:
        text = str(getattr(error, "why", error))[:500]
    except Exception:  # noqa: BLE001 - an error that cannot even say what it is
        text = ""
    failure = (type(error).__name__, text)
    return TypeAdapter(tuple[str, str]).dump_json(failure)


@cache
def find(module: str, name: str) -> Callable[..., Any]:
    """Return a top-level function by where it is."""
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


@cache
def adapter(function: Callable[..., Any]) -> TypeAdapter[Any]:
    """Return how the results of a function are written down."""
    return TypeAdapter(get_type_hints(function)["return"])


def allow_cpu(seconds: float) -> None:
    """Allow so much more processor time from now on; past it the kernel kills us."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, HARD_CPU))


def read_spool(descriptor: int) -> bytes:
    """Return what is in a file of the parent's, and close it on our side."""
    try:
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    finally:
        os.close(descriptor)


def read_frame(link: socket.socket) -> tuple[bytes, int | None]:
    """Return the next frame and a file that came along; nothing at the end.

    The parent sends no second request before it has our answer, so whatever is there
    belongs to this one, and most are there as a whole.
    """
    first, files, _, _ = link.recvmsg(READ_BYTES, FILE_BYTES)
    if not first:
        return b"", None
    data = first + read_exactly(link, LENGTH.size - len(first))
    size = LENGTH.size + LENGTH.unpack_from(data)[0]
    data += read_exactly(link, size - len(data))
    spool = FILE.unpack_from(files[0][2])[0] if files else None
    return data[LENGTH.size :], spool


def read_exactly(link: socket.socket, size: int) -> bytes:
    """Return so many bytes; raise EOFError when the parent hung up."""
    if size <= 0:
        return b""
    data = bytearray()
    while len(data) < size:
        if not (piece := link.recv(min(size - len(data), 1 << 20))):
            raise EOFError
        data += piece
    return bytes(data)


_, HARD_CPU = resource.getrlimit(resource.RLIMIT_CPU)
INHERITED = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
"""A child's peak starts at what its parent had: up to here it says nothing of us."""


def write_frame(link: socket.socket, kind: bytes, data: bytes) -> None:
    """Send one frame with the peak of our memory use, as far as it is ours."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = peak if peak > INHERITED else 0
    head = HEADER.pack(kind, len(data)) + LENGTH.pack(min(peak, 2**32 - 1))
    link.sendall(head + data)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    try:
        main(int(sys.argv[1]))
    except (OSError, EOFError, KeyboardInterrupt):
        os._exit(1)
