"""Run every gate, show what each says, and end with one summary.

`./check --help` names its options: everything once, everything several times beside busy
loops, or what a change of some files can break. `./check --regenerate` writes files that are
made from the code.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts import affected, tested  # noqa: E402 - found by the line above
from scripts.tested import LONG_RESULTS, RESULTS  # noqa: E402

BIN = Path(sys.executable).parent
LONG = "long tests"
QUICK_ONES, SLOW_ONES = "not long and not slow", "slow and not long"
QUICK_AND_SLOW_ONES = "not long"
"""Which tests pytest is to choose."""
NOTHING_TO_RUN = 5
"""What pytest exits with when no test was chosen."""
LONG_WORKERS = 2
"""A long test starts processes of its own: more of them at once measure the machine."""
SHARED = ("--dist", "loadgroup", "--no-loadscope-reorder")
"""Tests that share a browser and an application stay together on one worker; conftest.py
says which begin first."""
STUCK = "--stuck-after=1200"
"""A quick test that takes many minutes hangs: show where, and go on with the others."""
BUSY = "while True: pass"
SEVERAL_WORKERS = 3
"""So many others that want a core make a machine busy."""
FIRST = {
    "formatting": ("ruff", "format", "--check", "."),
    "lint": ("ruff", "check", "."),
    "imports": ("lint-imports",),
}
"""Done in seconds, before the tests; each is busy on one core only."""
TYPES = ("mypy",)
PAGE = ("python", "scripts/page.py", "check")
REGENERATE = ("python", "-m", "scripts.regenerate")


@dataclass(frozen=True, slots=True)
class Done:
    """What a gate came to."""

    name: str
    code: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{'FAIL' if self.code else 'ok  '}  {self.name:12} {self.seconds:6.1f} s"
        )


def main(words: Sequence[str]) -> int:
    """Run the line once or several times; return 1 if anything failed."""
    asked = options(words)
    end_on_signals()
    if asked.regenerate:
        return run("regenerate", REGENERATE).code
    if asked.long:
        os.environ["TEST_WHOLE_SIZES"] = "1"
    with busy_loops(asked.busy):
        if asked.repeat:
            return repeat(asked.repeat, asked)
        return run_line(asked)


def end_on_signals() -> None:
    """End by SIGTERM as by Ctrl-C: servers and browsers of the tests end first."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    # What a script starts in the background ignores SIGINT, and so would the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def options(words: Sequence[str]) -> argparse.Namespace:
    """Read the command line; the tests of this script call it too."""
    parser = argparse.ArgumentParser(
        prog="./check", description="Check formatting, lint, types, imports and tests."
    )
    parser.add_argument("paths", nargs="*", help="check what these files can break")
    parser.add_argument(
        "--changed", action="store_true", help="the files that differ from the commit"
    )
    parser.add_argument(
        "--slow",
        action="store_true",
        help="only the slow tests, which CI adds to the others",
    )
    parser.add_argument(
        "--long", action="store_true", help="slow tests and runs that take minutes too"
    )
    parser.add_argument(
        "--regenerate",
        action="store_true",
        help="check nothing; write anew what is made from the code",
    )
    parser.add_argument("--repeat", type=int, metavar="N", help="run it all N times")
    parser.add_argument("--busy", type=int, metavar="B", help="busy loops beside it")
    parser.add_argument("--seed", type=int, metavar="S", help="the order of the tests")
    asked = parser.parse_args(words)
    if asked.busy is None:
        asked.busy = 4 * bool(asked.repeat)
    # What has changed may be deleted; what is named and missing is a typing error.
    for path in asked.paths:
        if not affected.is_in_repository(ROOT, path):
            parser.error(f"{path}: no such file or folder in this repository")
    if asked.changed:
        asked.paths = [*asked.paths, *affected.changed_files(ROOT)]
        if not asked.paths:
            parser.exit(0, "Nothing has changed.\n")
    return asked


def repeat(times: int, asked: argparse.Namespace) -> int:
    """Run the line again and again; name every test that ever failed."""
    failed: dict[str, list[int]] = defaultdict(list)
    codes = []
    for turn in range(1, times + 1):
        print(f"\n══ run {turn} of {times}", flush=True)
        codes.append(run_line(asked))
        for name in tested.read(RESULTS, LONG_RESULTS).failed:
            failed[name].append(turn)
    print(f"\n── {times} runs, {sum(map(bool, codes))} of them failed")
    for name, turns in sorted(failed.items()):
        print(f"FAIL  {name} in run {', '.join(map(str, turns))}")
    return int(any(codes))


def run_line(asked: argparse.Namespace) -> int:
    """Run the gates: types and web page beside the short ones and the tests."""
    for report in (RESULTS, LONG_RESULTS):
        report.unlink(missing_ok=True)
    tested.forget_fixtures()
    plan = affected.plan_for(ROOT, asked.paths) if asked.paths else affected.EVERYTHING
    gates, beside = ({}, {}) if asked.slow else (FIRST, gates_beside(plan))
    with running_beside(beside) as others:
        done = [run(name, command) for name, command in gates.items()]
        if plan.tests is not None:
            # What some files can break may have no quick test, or no long one.
            may_be_empty = bool(plan.tests)
            done += [
                run(name, words, may_be_empty=may_be_empty)
                for name, words in pytest(plan, asked).items()
            ]
        done += [other.wait() for other in others]
    summarise(done, plan, asked)
    return int(any(one.code for one in done))


def gates_beside(plan: affected.Plan) -> dict[str, Sequence[str]]:
    """Name the gates that take so long that they run while the tests do."""
    return {"types": TYPES} | ({"web page": PAGE} if plan.page else {})


def chosen(plan: affected.Plan, asked: argparse.Namespace) -> str:
    """Write which tests belong to a run, as pytest takes it."""
    if asked.slow:
        return SLOW_ONES
    is_named = bool(plan.tests) and not plan.is_daily
    return QUICK_AND_SLOW_ONES if asked.long or is_named else QUICK_ONES


def pytest(plan: affected.Plan, asked: argparse.Namespace) -> dict[str, list[str]]:
    """Write the commands that run the tests of a plan, in an order of their own."""
    seed = asked.seed if asked.seed is not None else random.randrange(10**6)  # noqa: S311
    print(f"\nOrder of the tests: ./check --seed {seed}", flush=True)
    quick = [f"--at-most={affected.DAILY_SECONDS}"] if plan.is_daily else []
    shared = [*SHARED, f"--order={seed}", *quick, *(plan.tests or ())]
    commands = {
        "tests": [
            *("pytest", "-q", "-n", workers(asked.busy), STUCK),
            *("-m", chosen(plan, asked), f"--junitxml={RESULTS}", *shared),
        ]
    }
    if asked.long:
        commands[LONG] = [
            *("pytest", "-q", "-n", str(LONG_WORKERS), "-m", "long"),
            *(f"--junitxml={LONG_RESULTS}", *shared),
        ]
    return commands


def left_out(plan: affected.Plan, asked: argparse.Namespace) -> Iterator[str]:
    """Name the tests that a run has not chosen, and how to run them."""
    if plan.is_daily:
        yield f"tests that last took more than {affected.DAILY_SECONDS:.0f} s (./check)"
    if chosen(plan, asked) == QUICK_ONES:
        yield "slow tests (./check --slow)"
    if not asked.long:
        yield "long tests (./check --long)"


def summarise(
    done: Sequence[Done], plan: affected.Plan, asked: argparse.Namespace
) -> None:
    """Print what was slow, what was skipped, and what every gate came to."""
    results = tested.read(RESULTS, LONG_RESULTS)
    if not plan.is_daily:
        tested.remember(results)
    print("\n── slowest tests")
    for name, seconds in results.slowest(10):
        print(f"{seconds:6.1f} s  {name}")
    print("── skipped" + ("" if results.skipped else ": nothing"))
    for reason, names in sorted(results.skipped.items()):
        print(f"{len(names):4} x  {reason}")
    if left := [*left_out(plan, asked)]:
        print(f"── left out: {', '.join(left)}")
    print("── summary " + "─" * 40)
    print(*done, sep="\n")


@dataclass(frozen=True, slots=True)
class Beside:
    """A gate that runs while the tests do; what it says is shown at its end."""

    name: str
    process: "subprocess.Popen[bytes]"
    said: Path
    began: float

    def wait(self) -> Done:
        """Wait for its end and show what it said."""
        code = self.process.wait()
        # What the file says last is when it ended, not when somebody looked.
        seconds = max(self.said.stat().st_mtime - self.began, 0.0)
        print(f"\n── {self.name}\n{self.said.read_text(errors='replace')}", flush=True)
        return Done(self.name, code, seconds)


@contextmanager
def running_beside(gates: Mapping[str, Sequence[str]]) -> Iterator[list[Beside]]:
    """Start gates that need no attention; end them when the tests are interrupted."""
    with tempfile.TemporaryDirectory() as folder:
        started = []
        for name, command in gates.items():
            said = Path(folder) / name.replace(" ", "-")
            with said.open("wb") as out:
                process = subprocess.Popen(
                    [BIN / command[0], *command[1:]],
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    cwd=ROOT,
                    env=environment(),
                )
            started.append(Beside(name, process, said, time.time()))
        try:
            yield started
        finally:
            for one in started:
                one.process.kill()
                one.process.wait()


def run(name: str, command: Sequence[str], *, may_be_empty: bool = False) -> Done:
    """Run one gate in the foreground."""
    print(f"\n── {name}: {' '.join(command)}", flush=True)
    began = time.monotonic()
    process = subprocess.Popen(
        [BIN / command[0], *command[1:]], cwd=ROOT, env=environment()
    )
    try:
        code = process.wait()
    except KeyboardInterrupt:
        # The terminal has interrupted the gate too, which ends what it has started.
        process.wait()
        raise
    except SystemExit:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    is_well = may_be_empty and code == NOTHING_TO_RUN
    return Done(name, 0 if is_well else code, time.monotonic() - began)


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep processors busy while the block runs, as other work on a machine does."""
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def environment() -> dict[str, str]:
    """Let bytecode be written: without it every child starts slowly."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def workers(busy: int = 0) -> str:
    """Use the cores there are and two more: what waits leaves a core to another.

    What else runs on the machine takes its share of the cores; more workers keep ours.
    """
    running = running_now()
    # One or two come and go on a quiet machine.
    beside = min(4, max(busy, running if running >= SEVERAL_WORKERS else 0))
    return str(max(2, min(4, os.cpu_count() or 2)) + 2 + beside)


def running_now(looks: int = 5) -> int:
    """Return how many other processes want a core all the time, as far as is known."""
    found = []
    for _ in range(looks):
        try:
            # An average would still count what ended a minute ago.
            running, _, _ = Path("/proc/loadavg").read_text().split()[3].partition("/")
        except OSError:
            return 0
        found.append(int(running) - 1)
        time.sleep(0.05)
    return min(found)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("Interrupted.")
