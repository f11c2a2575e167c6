"""The child of the sandbox: runs one function after the other under hard limits.

It is started by path, not as a module, so that it loads nothing it does not need. What
it reads comes from its parent and is trusted; what it writes is not, so results
travel as JSON that the parent checks against the function's return type.
"""

import importlib
import math
import os
import pickle
import resource
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
FILE_SPACE = socket.CMSG_SPACE(FILE.size)
AT_ONCE = 1 << 16
RESULT, FAILURE = b"r", b"f"


def main(descriptor: int) -> None:
    """Serve the parent until it hangs up."""
    link = socket.socket(fileno=descriptor)
    settings = pickle.loads(read_frame(link)[0])  # noqa: S301 - from our own parent
    sys.path[:] = settings["path"]
    for module in settings["preload"]:
        importlib.import_module(module)
    # Found only now: where our own modules are, the parent has just told.
    confinement = importlib.import_module("scrapersky.kit.confinement")
    held = confinement.confine(settings["memory"])
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
    first, files, _, _ = link.recvmsg(AT_ONCE, FILE_SPACE)
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
"""Linux starts a child's peak at its parent's: up to here it says nothing of us."""


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
