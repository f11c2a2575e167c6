"""The API as a process of its own that says how long its event loop stood still.

    python -m tests.api.gateway.watched DATABASE_URL SETTINGS

The first line that it writes is its port; for every line that it reads it writes one of
JSON: the longest pause since the last one, and the memory that it has. A pause is what
the process worked between two turns of the loop, in its loop or elsewhere: a thread that
holds the interpreter stops the loop as well. Time in which the machine did other things
is not counted, so that a busy machine does not make a pause of nothing.
"""

import asyncio
import gc
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import structlog

from scrapersky.api.app import create_app
from scrapersky.api.server import Server
from scrapersky.configuration import load_settings
from scrapersky.db.connection import parse_target
from scrapersky.scheduler import app as processes

ROOT = Path(__file__).parents[3]
TURN_SECONDS = 0.002
PAGE_BYTES = 4_096


@dataclass(slots=True)
class Probe:
    """Turns with the loop, and keeps the longest time between two turns."""

    longest: float = 0.0
    turns: int = 0

    async def watch(self) -> None:
        wall, worked = time.monotonic(), time.process_time()
        while True:
            await asyncio.sleep(TURN_SECONDS)
            now, done = time.monotonic(), time.process_time()
            pause = min(now - wall - TURN_SECONDS, done - worked)
            self.longest = max(self.longest, pause)
            self.turns += 1
            wall, worked = now, done

    def take(self) -> float:
        """Return the longest pause, once the loop has turned again."""
        seen = self.turns
        while self.turns < seen + 2:
            time.sleep(TURN_SECONDS / 2)
        longest, self.longest = self.longest, 0.0
        return longest


@dataclass(frozen=True, slots=True)
class WatchedServer:
    """A server that is asked how it feels."""

    url: str
    process: "subprocess.Popen[str]"

    def pause(self) -> float:
        """Return the longest pause since this was asked last, in seconds."""
        return float(self._ask("pause")["pause"])

    def memory(self) -> int:
        """Return the bytes that the process holds, after it has thrown away all it can."""
        return int(self._ask("memory")["memory"])

    def _ask(self, what: str) -> dict[str, float]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()
        found: dict[str, float] = json.loads(self.process.stdout.readline())
        return found


@contextmanager
def watching(database_url: str, settings: Mapping[str, str]) -> Iterator[WatchedServer]:
    """Serve a database, watched, until the block ends."""
    command = [
        sys.executable, "-m", "tests.api.gateway.watched", database_url,
        json.dumps(settings),
    ]  # fmt: skip
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port.isdigit(), "the application did not start"
            yield WatchedServer(f"http://127.0.0.1:{port}", process)
        finally:
            process.terminate()


def resident_bytes() -> int:
    """Return how much memory this process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * PAGE_BYTES


def answer_questions(probe: Probe) -> None:
    """Answer every line that is read."""
    for line in sys.stdin:
        if line.strip() == "memory":
            said: dict[str, float] = {"memory": resident_bytes()}
        else:
            said = {"pause": probe.take()}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


async def serve(database_url: str, given: Mapping[str, str]) -> None:
    """Serve, watched, until the process is ended."""
    settings = load_settings(given, dotenv=None).settings
    app = create_app(settings, parse_target(database_url), process=processes.serve)
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(app, grace=1)
    serving = asyncio.create_task(server.serve([listener]))
    while not (server.started or serving.done()):  # noqa: ASYNC110 - uvicorn's own flag
        await asyncio.sleep(0.02)
    probe = Probe()
    watching = asyncio.create_task(probe.watch())
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    threading.Thread(target=answer_questions, args=[probe], daemon=True).start()
    await serving
    watching.cancel()


if __name__ == "__main__":
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL)
    )
    asyncio.run(serve(sys.argv[1], json.loads(sys.argv[2])))
