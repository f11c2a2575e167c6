"""Functions for the sandbox's tests: some behave, most do not."""

import os
import signal
import socket
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from scrapersky.errors import BadSitemap


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
