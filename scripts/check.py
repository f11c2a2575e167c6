"""Run every gate, show what each says, and end with one summary."""

import os
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(sys.executable).parent
LONG = "--long"
SHARED = ("--dist", "loadgroup")
"""Tests that share a browser and an application stay together on one worker."""
STUCK = ["-o", "faulthandler_timeout=600", "-o", "faulthandler_exit_on_timeout=true"]
"""A quick test that takes many minutes hangs: show where, and go on with the others."""


def main() -> int:
    """Run the gates one after the other; all of them, whatever fails."""
    words = [word for word in sys.argv[1:] if word != LONG]
    is_long = LONG in sys.argv
    marker = [] if is_long else ["-m", "not long", *STUCK]
    gates = {
        "formatting": ["ruff", "format", "--check", "."],
        "lint": ["ruff", "check", "."],
        "types": ["mypy"],
        "imports": ["lint-imports"],
        "web page": ["python", "scripts/page.py", "check"],
        "tests": ["pytest", "-q", "-n", workers(), *SHARED, *marker, *words],
    }
    results = {name: run(name, command) for name, command in gates.items()}
    print("\n── summary " + "─" * 40)
    for name, (code, seconds) in results.items():
        print(f"{'ok  ' if code == 0 else 'FAIL'}  {name:12} {seconds:6.1f} s")
    return 0 if all(code == 0 for code, _ in results.values()) else 1


def run(name: str, command: list[str]) -> tuple[int, float]:
    """Run one gate and return its exit code and how long it took."""
    print(f"\n── {name}: {' '.join(command)}", flush=True)
    started = time.monotonic()
    # Some environments forbid writing bytecode, which makes every child start slowly.
    environment = {
        k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"
    }
    done = subprocess.run(
        [BIN / command[0], *command[1:]], check=False, env=environment
    )
    return done.returncode, time.monotonic() - started


def workers() -> str:
    """Use the cores there are, but leave room for the servers the tests start."""
    return str(max(2, min(4, os.cpu_count() or 2)))


if __name__ == "__main__":
    sys.exit(main())
