"""Counts what a process holds, so that a leak is a number and not a feeling."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Census:
    """What the process held at one moment."""

    tasks: int
    files: int
    children: int
    threads: int

    @classmethod
    def take(cls) -> "Census":
        """Count now; the calling task is one of the tasks."""
        me = psutil.Process()
        return cls(
            tasks=len(asyncio.all_tasks()),
            files=len(list(FILES.iterdir())) if PROC else me.num_fds(),
            children=len(me.children(recursive=True)),
            threads=me.num_threads(),
        )

    def more_than(self, earlier: "Census") -> dict[str, int]:
        """Return how much more there is than earlier, left out what is not."""
        growth = {
            "tasks": self.tasks - earlier.tasks,
            "files": self.files - earlier.files,
            "children": self.children - earlier.children,
            "threads": self.threads - earlier.threads,
        }
        return {name: count for name, count in growth.items() if count > 0}


FILES = Path("/proc/self/fd")
PROC = FILES.exists()


def forget_peak() -> None:
    """Make the kernel count the peak of memory from now on."""
    if PROC:
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """Return the most memory held since `forget_peak`, in bytes."""
    return _status("VmHWM")


def memory() -> int:
    """Return the memory held now, in bytes."""
    return _status("VmRSS") if PROC else psutil.Process().memory_info().rss


def _status(key: str) -> int:
    if not PROC:
        return psutil.Process().memory_info().rss
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(key)
