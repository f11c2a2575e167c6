"""Functions for the sandbox's tests: some behave, most do not."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from contact_extraction.errors import BadSitemap


@dataclass(frozen=True, slots=True)
class Facts:
    """Something a parser might return."""

    title: str
    count: int
    seen: datetime
    links: tuple[str, ...] = ()


def parse(body: bytes) -> Facts:
    return Facts(
        body.decode(), len(body), datetime(2026, 11, 15, tzinfo=UTC), ("a", "b")
    )


def pid() -> int:
    return os.getpid()


LOADED: list[int] = []


def load() -> int:
    LOADED.append(os.getpid())
    return len(LOADED)


def loaded() -> tuple[int, list[int]]:
    return os.getpid(), LOADED


def spin() -> int:
    while True:
        pass


def sleep() -> int:
    time.sleep(60)
    return 0


def hoard() -> int:
    return len(bytearray(4 * 1024**3))


def crash() -> int:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def fail() -> int:
    raise ValueError("\x1b[31mforged\r\n")


def refuse() -> int:
    raise BadSitemap("it is a song")


def lie() -> int:
    return "seven"  # type: ignore[return-value]


def much() -> str:
    return "x" * (64 * 1024 * 1024)


def deep(levels: int) -> int:
    return 0 if levels == 0 else deep(levels - 1)


def environment() -> list[str]:
    return sorted(os.environ)


def write_file() -> int:
    return Path("/tmp/scrapersky-sandbox-test").write_text("x")


def reach_out(port: int) -> str:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return "reached"
    except OSError as error:
        return type(error).__name__


def chatter() -> int:
    print("x" * 100_000)
    return 1


def attack(parent: int, door: str, secret: str, place: str) -> dict[str, str]:
    """Do what whoever has taken the parser over would do; say how each ended."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(number: int, *args: int) -> None:
        if libc.syscall(number, *args) < 0:
            raise OSError(ctypes.get_errno(), "refused")

    def reach(family: int, address: object) -> None:
        with socket.socket(family) as tried:
            tried.connect(address)  # type: ignore[arg-type]

    def leave_a_child() -> None:
        if os.fork() == 0:
            os._exit(0)

    x86 = os.uname().machine == "x86_64"
    tried: dict[str, Callable[[], object]] = {
        "fork": leave_a_child,
        "clone without a thread": lambda: call(56 if x86 else 220, signal.SIGCHLD),
        "clone3": lambda: call(435, 0, 0),
        "run a program": lambda: subprocess.run([sys.executable, "-V"], check=True),
        "open the database's door": lambda: reach(socket.AF_UNIX, door),
        "open a connection": lambda: reach(socket.AF_INET, ("127.0.0.1", 80)),
        "make a pair of sockets": socket.socketpair,
        "make a file": lambda: Path(place, "x").write_text("x"),
        "make an empty file": lambda: Path(place, "y").touch(),
        "make a directory": lambda: Path(place, "z").mkdir(),
        "delete a file": lambda: Path(secret).unlink(),
        "rename a file": lambda: Path(secret).rename(f"{secret}.old"),
        "change a file's rights": lambda: Path(secret).chmod(0o777),
        "make a link": lambda: Path(place, "l").symlink_to(secret),
        "make a file in memory": lambda: os.memfd_create("x"),
        "read a file of somebody": lambda: Path(secret).read_text(),
        "read the passwords": lambda: Path("/etc/shadow").read_text(),
        "list a directory": lambda: list(Path(place).iterdir()),
        "read the parent's environment": lambda: Path(
            f"/proc/{parent}/environ"
        ).read_bytes(),
        "signal the parent": lambda: os.kill(parent, 0),
        "trace the parent": lambda: call(101 if x86 else 117, 16, parent, 0, 0),
        "become root": lambda: os.setuid(0),
        "get other rights": lambda: (
            os.unshare(0x1000_0000)
            if hasattr(os, "unshare")
            else call(272 if x86 else 97, 0x1000_0000)
        ),
        "mount": lambda: call(165 if x86 else 40, 0, 0, 0, 0, 0),
        "set up io_uring": lambda: call(425, 1, 0),
        "load a filter": lambda: call(321 if x86 else 280, 0, 0, 0),
        "undo the end with the parent": lambda: call(157 if x86 else 167, 1, 0),
    }
    return {name: ended(act) for name, act in tried.items()}


def ended(act: Callable[[], object]) -> str:
    try:
        act()
    except (OSError, subprocess.SubprocessError) as error:
        return type(error).__name__
    return "did it"


def user() -> int:
    return os.getuid()
