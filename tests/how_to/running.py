"""An installation of real processes, for guides that are followed while it runs."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from sdk_tests.rig.port import free_port
from sdk_tests.rig.waiting import HUNG, wait_until
from tests.cli.rig import CLEAN, COMMAND


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process of ScraperSky, and where it answers."""

    process: "subprocess.Popen[bytes]"
    address: str

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Send a request to it."""
        return httpx.request(method, f"{self.address}{path}", timeout=HUNG, **more)

    def is_ready(self) -> bool:
        """Say whether it answers that it is ready; raise if it has ended."""
        assert self.process.poll() is None, "it has ended"
        try:
            return self.ask("GET", "/health/ready").status_code == 200
        except httpx.TransportError:
            return False


@contextmanager
def running(
    what: str,
    settings: Mapping[str, object],
    *more: str,
    codes: tuple[int, ...] = (0,),
) -> Iterator[RunningProcess]:
    """Run a command of ScraperSky until the block ends; it must end when asked to."""
    port = free_port()
    own = {"PORT": port, "WORKER_PORT": port, **settings}
    environment = CLEAN | {name: str(value) for name, value in own.items()}
    process = subprocess.Popen(
        [COMMAND, what, *more], env=environment, cwd="/", stderr=subprocess.DEVNULL
    )
    try:
        started = RunningProcess(process, f"http://127.0.0.1:{port}")
        wait_until(started.is_ready, f"{what} to be ready")
        yield started
        process.send_signal(signal.SIGTERM)
        assert process.wait(HUNG) in codes
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
