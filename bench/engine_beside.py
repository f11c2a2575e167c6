"""The engine of an older commit beside this tree's, on one machine and in one run.

    python bench/engine_beside.py             before the SDK became a package, and now
    python bench/engine_beside.py COMMIT      that commit, and now
    python bench/engine_beside.py --quick     smaller counts, under a minute

Each side runs in processes of its own that import the code of its own tree, and the
benchmark as it was then (`bench/engine_peers/ours.py`). Everything else is shared: the
PostgreSQL server, the packages installed here, the number of items. Sides take turns,
so that noise of the machine hits both alike, and medians are taken over the rounds.
Ratios are now / before. The last line is one object of JSON.
"""

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(
    1, str(Path(__file__).resolve().parents[1] / "packages/curation-sdk/tests")
)

from bench.engine import Bench
from sdk_tests.rig.cluster import running_cluster

ROOT = Path(__file__).resolve().parents[1]
SIDE = ROOT / "bench/engine_peers/side.py"
CODE = ("", "src", "packages/curation-sdk/src")
"""Where a tree's code is; what a tree does not have does no harm."""
BATCHES = (10, 100, 1000)
PROCESSES = (2, 4)
LOWER_IS_BETTER = ("us", "ms")
Figures = Callable[[Path], dict[str, float]]
"""Takes figures of one tree, by their names."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything one run does."""

    rounds: int = 5
    items: int = 20_000
    latency_samples: int = 200
    table_rows: int = 1_000_000
    claims: int = 60
    shared_items: int = 40_000


QUICK = Plan(
    rounds=1,
    items=3_000,
    latency_samples=60,
    table_rows=100_000,
    claims=40,
    shared_items=10_000,
)


class Child:
    """A process that has one tree's code on its path; it is ready once made."""

    def __init__(self, tree: Path, task: str, *arguments: object) -> None:
        path = os.pathsep.join(str(tree / each) for each in CODE)
        self._process = subprocess.Popen(
            [sys.executable, str(SIDE), task, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "PYTHONPATH": path},
        )
        self._read("ready")

    def begin(self) -> None:
        """Let it do what is timed."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, float]:
        """Return its figures once it has ended."""
        found: dict[str, float] = json.loads(self._read("{"))
        self._process.communicate()
        return found

    def _read(self, start: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(start):
                return line
        raise RuntimeError(f"{self._process.args!r} ended with {self._process.wait()}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The server on which both trees are measured."""

    bench: Bench
    plan: Plan

    def figures(self) -> list[Figures]:
        """Return what takes the figures of a tree, a few at a time."""
        drains = [partial(self.drain, batch=batch) for batch in BATCHES]
        together = [partial(self.drain_together, processes=n) for n in PROCESSES]
        return [*drains, self.start, self.claim, *together]

    def start(self, tree: Path) -> dict[str, float]:
        """Time the start of single items in an idle worker."""
        times = self.timed(tree, "latency", self.plan.latency_samples)
        return {"start p50 ms": times["p50_ms"], "start p99 ms": times["p99_ms"]}

    def claim(self, tree: Path) -> dict[str, float]:
        """Time a claim in a large table."""
        rows = self.plan.table_rows
        times = self.timed(tree, "claims", rows, self.plan.claims)
        return {f"claim of 10 among {rows:,} ms": times["ms"]}

    def drain(self, tree: Path, batch: int) -> dict[str, float]:
        """Time a drain, and what it costs both sides of the connection."""
        items = self.plan.items
        with self.bench.database() as name:
            child = Child(tree, "drain", self.bench.cluster.url(name), items, batch)
            self.bench.settle_down()
            server = self.bench.server_seconds()
            child.begin()
            times = child.end()
            server = self.bench.server_seconds() - server
        return {
            f"batch {batch} items/s": items / times["seconds"],
            f"batch {batch} client us": times["client_seconds"] / items * 1e6,
            f"batch {batch} server us": server / items * 1e6,
        }

    def drain_together(self, tree: Path, processes: int) -> dict[str, float]:
        """Time how several processes drain one queue."""
        with self.bench.database() as name:
            url, items = self.bench.cluster.url(name), self.plan.shared_items
            filler = Child(tree, "fill", url, items)
            filler.begin()
            filler.end()
            children = [Child(tree, "join", url, 100) for _ in range(processes)]
            self.bench.settle_down()
            began = time.monotonic()
            for child in children:
                child.begin()
            seconds = max(each.end()["ended"] for each in children) - began
        return {f"{processes} processes items/s": items / seconds}

    def timed(self, tree: Path, task: str, *numbers: int) -> dict[str, float]:
        """Do a task in a database of its own."""
        with self.bench.database() as name:
            child = Child(tree, task, self.bench.cluster.url(name), *numbers)
            self.bench.settle_down()
            child.begin()
            return child.end()


@contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """Give the tree of a commit in a directory of its own."""
    packed = git("archive", commit, "--", ".")
    with tempfile.TemporaryDirectory(prefix="engine-beside-") as name:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(name, filter="data")
        yield Path(name)


def before_the_move() -> str:
    """Return the last commit in which the engine was a part of the product."""
    added = git(
        *("log", "--diff-filter=A", "--format=%H"),
        *("--", "packages/curation-sdk/pyproject.toml"),
    )
    return f"{added.decode().split()[-1]}^"


def git(*arguments: str) -> bytes:
    """Return what a git command says about this repository."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True
    ).stdout


def compare(
    comparison: Comparison, before: Path
) -> dict[str, tuple[float, float, float]]:
    """Measure both trees in turns; return medians of before, now, and of the ratios."""
    pairs: dict[str, list[tuple[float, float]]] = {}
    for number in range(comparison.plan.rounds):
        for figures in comparison.figures():
            # Who comes first may have it easier or harder: each does every other time.
            order = (ROOT, before) if number % 2 else (before, ROOT)
            found = {tree: figures(tree) for tree in order}
            for name, then in found[before].items():
                pairs.setdefault(name, []).append((then, found[ROOT][name]))
    return {
        name: (
            statistics.median(then for then, _ in taken),
            statistics.median(now for _, now in taken),
            statistics.median(now / then for then, now in taken),
        )
        for name, taken in pairs.items()
    }


def print_table(found: dict[str, tuple[float, float, float]]) -> None:
    """Print every figure of both sides, and which way is better."""
    print(f"{'':<34}{'before':>12}{'now':>12}{'ratio':>8}")
    for name, (then, now, ratio) in found.items():
        better = "lower" if name.endswith(LOWER_IS_BETTER) else "higher"
        print(f"{name:<34}{then:>12,.1f}{now:>12,.1f}{ratio:>8.2f}  {better} is better")


def main() -> None:
    """Compare, print, and end with the line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", nargs="?", help="the older side")
    parser.add_argument("--quick", action="store_true", help="smaller counts")
    options = parser.parse_args()
    plan = QUICK if options.quick else Plan()
    commit = options.commit or before_the_move()
    with ExitStack() as stack:
        before = stack.enter_context(tree_of(commit))
        cluster = stack.enter_context(running_cluster())
        named = git("log", "-1", "--format=%h %s", commit).decode().strip()
        print(f"before: {named}\nnow: this tree; median of {plan.rounds} rounds\n")
        found = compare(Comparison(Bench(cluster, run_nothing), plan), before)
    print_table(found)
    print(json.dumps({name: round(ratio, 2) for name, (_, _, ratio) in found.items()}))


def run_nothing(_: Any) -> None:
    """Stand for the loop of this process: all work is done in others."""
    raise RuntimeError("this process runs no engine")


if __name__ == "__main__":
    main()
