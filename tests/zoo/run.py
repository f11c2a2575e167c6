"""Sends the crawler through the zoo and writes down what became of it.

Run as `python -m tests.zoo.run`; in the `namespace` lane it gives itself a network
namespace first. Prints one line of JSON: the rows, and what was left over at the end.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterable, MutableMapping, Sequence
from contextlib import AsyncExitStack, nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from scrapersky.crawler import (
    Crawler,
    CrawlerPolicy,
    FetchLimits,
    FetchResult,
    MemoryLedger,
)
from scrapersky.errors import FetchError
from tests.zoo import HEALTHY_SITES, all_cases, exhibits, namespace
from tests.zoo.canary import Canaries
from tests.zoo.case import Case, Evidence, Seen
from tests.zoo.census import Census, forget_peak, memory, peak_memory
from tests.zoo.rig import ROOT, Rig, environment, raise_open_files
from tests.zoo.wiretap import Wiretap

TRIES = 5
USUAL_DELAY = CrawlerPolicy().host_delay
PESTS = (
    *("1", "2", "3", "4", "5", "6", "7", "7b", "8", "10", "11a", "12b", "13"),
    *("14a", "14b", "15a", "16a", "18c", "22", "23a", "23b", "23c", "23d", "24"),
    *("25a", "27a", "29a", "35a", "36a", "36c", "38a", "41a", "42a", "44c", "51a"),
    *("52c", "54a", "57a", "57e", "58a", "58b", "60", "61a", "61g", "74b", "75i"),
    *("78b", "81b", "81h", "92a"),
)
"""The fifty bad hosts that good ones are mixed with."""
LONGEST_TEXT = 400
"""What a server sent may stand in the log, but not at length."""
HARD_LIMIT = 60.0
"""A fetch that lasts longer is a bug, and is called `hangs`."""


@dataclass(slots=True)
class Row:
    """One line of the table."""

    id: str
    title: str
    outcome: str
    expect: tuple[str, ...]
    seconds: float
    limit: float
    memory: int | None
    """How much the process grew at its peak; only where the case ran alone."""
    stall: float
    """The most processor time in which the event loop answered nobody."""
    complaint: str | None = None


@dataclass(slots=True)
class Result:
    """What one walk through the zoo found."""

    lane: str
    pace: float
    seed: int
    seconds: float = 0.0
    rows: list[Row] = field(default_factory=list)
    canaries: list[str] = field(default_factory=list)
    forbidden_packets: dict[str, int] | None = None
    packets: int = 0
    leaks: dict[str, int] = field(default_factory=dict)
    server_connections: int = 0
    unclassified: list[str] = field(default_factory=list)
    unsafe_log_lines: list[str] = field(default_factory=list)
    log_lines: int = 0
    peak_memory: int = 0


def quick_limits(pace: float) -> FetchLimits:
    """Return the limits with every duration but one multiplied by the pace.

    A busy machine may take a second to ask its own name server, which no case is about.
    """
    usual = FetchLimits()
    return replace(
        usual,
        connect=usual.connect * pace,
        tls=usual.tls * pace,
        headers=usual.headers * pace,
        total=usual.total * pace,
        rate_grace=usual.rate_grace * pace,
    )


def policy_for(rig: Rig, pace: float) -> CrawlerPolicy:
    """Return the usual policy, faster; in a namespace the guard is as always."""
    return CrawlerPolicy(
        user_agent="ScraperSky/0.1 (+https://bot.example.com/about)",
        limits=quick_limits(pace),
        host_delay=timedelta(),
        host_timeout=timedelta(seconds=60 * pace),
        extra_networks=rig.extra_networks(),
        extra_ports=rig.extra_ports(),
    )


def utc_now() -> datetime:
    return datetime.now(UTC)


def make_crawler(rig: Rig, *, delay: timedelta = timedelta()) -> Crawler:
    """Return a crawler that knows the zoo's names and trusts its CA."""
    return Crawler(
        replace(policy_for(rig, rig.lane.pace), host_delay=delay),
        MemoryLedger(utc_now),
        resolver=rig.resolver(),
        ssl_context=rig.trust(),
    )


async def walk(rig: Rig, cases: Sequence[Case], *, seed: int) -> Result:
    """Fetch every case and judge it."""
    pace = rig.lane.pace
    result = Result(rig.lane.name, pace, seed)
    began = time.monotonic()
    before = Census.take()
    lines = LogReader()
    structlog.configure(processors=[lines])
    async with Canaries(own_canaries(rig)) as canaries:
        with wiretap(rig) as tap:
            async with make_crawler(rig) as crawler:
                await visit_all(crawler, rig, cases, result)
        result.canaries += canaries.hits
        if tap is not None:
            result.forbidden_packets = dict(tap.forbidden)
            result.packets = tap.packets
    result.unsafe_log_lines, result.log_lines = lines.unsafe, lines.count
    await take_leave(rig, before, result)
    result.seconds = time.monotonic() - began
    return result


async def visit_all(
    crawler: Crawler, rig: Rig, cases: Sequence[Case], result: Result
) -> None:
    watch = StallWatch()
    async with watch:
        trials = [Trial(crawler, rig, case, watch) for case in cases]
        alone = [trial for trial in trials if not trial.case.waits]
        random.Random(result.seed).shuffle(alone)
        # The first fetch pays for what is made once: do not charge it to a case.
        await Trial(crawler, rig, cases_by_id()["36d"], watch).run(alone=True)
        await rig.report()
        waiting = (trial.run(alone=False) for trial in trials if trial.case.waits)
        await asyncio.gather(*waiting)
        forget_peak()
        for trial in alone:
            await trial.run(alone=True)
    await asyncio.sleep(0.3)
    report = await rig.report()
    slugs = slugs_by_case()
    for trial in trials:
        result.rows.append(trial.row(report.seen, slugs))
    result.canaries += report.canaries
    result.unclassified = [trial.crash for trial in trials if trial.crash]
    result.peak_memory = peak_memory()


async def take_leave(rig: Rig, before: Census, result: Result) -> None:
    """Wait until everything is gone that ought to go, then count what is left."""
    # A lookup that hangs keeps its thread until the system gives up on it.
    for _ in range(100):
        left = Census.take().more_than(before)
        connections = (await rig.ask("connections"))["connections"]
        if not left and not connections:
            break
        await asyncio.sleep(0.1)
    report = await rig.report()
    result.canaries = sorted({*result.canaries, *report.canaries})
    result.leaks = Census.take().more_than(before)
    result.server_connections = (await rig.ask("connections"))["connections"]


class Trial:
    """One case under way."""

    def __init__(
        self, crawler: Crawler, rig: Rig, case: Case, watch: "StallWatch"
    ) -> None:
        self.crawler = crawler
        self.lane = rig.lane
        self.case = case
        self.watch = watch
        self.outcome = ""
        self.answer: Any = None
        self.crash: str | None = None
        self.seconds = 0.0
        self.growth: int | None = None
        self.stall = 0.0

    async def run(self, *, alone: bool) -> None:
        """Fetch, and note how long it took and, when alone, how much it grew."""
        held = memory()
        forget_peak()
        self.watch.longest = 0.0
        for _ in range(self.case.times):
            began = time.monotonic()
            await self.fetch()
            self.seconds = max(self.seconds, time.monotonic() - began)
        if alone:
            self.growth = max(peak_memory() - held, 0)
            # A stall ends after the fetch did: let the watch see it.
            await asyncio.sleep(0.002)
            self.stall = self.watch.longest

    async def fetch(self) -> None:
        try:
            async with asyncio.timeout(HARD_LIMIT):
                self.answer = await self.crawler.fetch(self.case.address(self.lane))
            self.outcome = self.answer.outcome
        except FetchError as error:
            self.answer, self.outcome = error, error.outcome
            if error.outcome == "unforeseen":
                self.crash = f"{self.case.id}: {error!r} from {error.__cause__!r}"
        except TimeoutError:
            self.outcome = "hangs"
        except Exception as error:  # noqa: BLE001 - to find these is what we are here for
            self.answer, self.outcome = error, "unclassified"
            self.crash = f"{self.case.id}: {error!r}"

    def row(self, seen: Iterable[Seen], slugs: dict[str, set[str]]) -> Row:
        """Judge the case by its outcome, its time, its growth and the server's log."""
        own = [visit for visit in seen if visit.slug in slugs[self.case.id]]
        robots = [visit for visit in own if visit.request.target == "/robots.txt"]
        pages = [visit for visit in own if visit.request.target != "/robots.txt"]
        evidence = Evidence(self.outcome, self.answer, pages, robots, self.lane)
        return Row(
            id=self.case.id,
            title=self.case.title,
            outcome=self.outcome,
            expect=self.case.expect,
            seconds=round(self.seconds, 3),
            limit=self.limit,
            memory=self.growth,
            stall=round(self.stall, 3),
            complaint=self.complain(evidence),
        )

    @property
    def limit(self) -> float:
        """Return the seconds allowed: a noisy machine adds some of its own."""
        case = self.case
        return round(case.limit * (self.lane.pace if case.waits else 1.0) + 2.0, 1)

    def complain(self, evidence: Evidence) -> str | None:
        case = self.case
        if self.outcome not in case.expect:
            return f"{self.outcome} instead of {' or '.join(case.expect)}: " + ascii(
                str(self.answer)[:200]
            )
        # With shortened time-outs it is the outcome that counts, not the clock.
        if self.lane.pace == 1.0 and self.seconds > self.limit:
            return f"took {self.seconds:.1f} s of {self.limit:.1f} s"
        if self.growth is not None and self.growth > case.memory:
            return f"grew by {self.growth >> 20} MiB of {case.memory >> 20} MiB"
        return case.judge(evidence) if case.judge else None


class LogReader:
    """Takes the place of the log's last step and reads every line."""

    def __init__(self) -> None:
        self.count = 0
        self.unsafe: list[str] = []

    def __call__(
        self, logger: object, method: str, event: MutableMapping[str, Any]
    ) -> MutableMapping[str, Any]:
        self.count += 1
        texts = [value for value in event.values() if isinstance(value, str)]
        safe = all(text.isprintable() and len(text) <= LONGEST_TEXT for text in texts)
        if not safe or any("secret" in text for text in texts):
            self.unsafe.append(ascii(event)[:500])
        raise structlog.DropEvent


class StallWatch:
    """Notes how long the event loop answers nobody.

    Counted in processor time of its thread: what others do on the machine is not ours.
    """

    def __init__(self) -> None:
        self.longest = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> "StallWatch":  # noqa: PYI034
        self._task = asyncio.create_task(self._tick())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.001)
            self.longest = max(self.longest, time.thread_time() - before)


def own_canaries(rig: Rig) -> list[str]:
    """Return the places on this side of the cable that must stay untouched."""
    if not rig.is_isolated:
        return []
    ports = (22, 25, 80, 443, 5432, 6379, 8080, 8443)
    return [f"{host}:{port}" for host in ("127.0.0.1", "[::1]") for port in ports]


def wiretap(rig: Rig) -> "Wiretap | nullcontext[None]":
    if rig.is_isolated:
        return Wiretap(["93.184.0.0/16"])
    return nullcontext()


def cases_by_id() -> dict[str, Case]:
    return {case.id: case for case in all_cases()}


def slugs_by_case() -> dict[str, set[str]]:
    """Return the sites that belong to each case."""
    return {
        exhibit.case.id: {exhibit.case.slug, *(site.slug for site in exhibit.sites)}
        for exhibit in exhibits()
        if exhibit.case
    }


def run_apart(
    words: Sequence[str],
    *,
    lane: str,
    timeout: float,
    module: str = "tests.zoo.run",
) -> dict[str, Any]:
    """Run a module in a process, in the namespace lane with a network of its own."""
    apart = namespace.unshare() if lane == "namespace" else []
    command = [*apart, sys.executable, "-m", module, "--lane", lane, *words]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=ROOT,
        env=environment(),
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{done.stdout}\n{done.stderr}")
    last: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return last


@dataclass(frozen=True, slots=True)
class Mixture:
    """How good hosts fare beside bad ones."""

    complete: float
    p95_alone: float
    p95_mixed: float
    p95_ratio: float
    hostile_fetches: int
    peak_memory: int


async def mix(lane: str, rounds: int, pages: int) -> Mixture:
    """Fetch from the good hosts alone, then again beside fifty bad ones.

    The policy is the usual one: its delay, and all of its limits.
    """
    structlog.configure(processors=[LogReader()])
    # Made before the clock runs: bombs take a while to build.
    known = cases_by_id()
    pests = [known[name] for name in PESTS]
    tried = 0
    alone: list[float] = []
    among: list[float] = []
    forget_peak()
    async with Rig(lane, 1.0) as rig:
        await rig.ask("yield")
        for _ in range(rounds):
            async with make_crawler(rig, delay=USUAL_DELAY) as crawler:
                alone += await visit_good(crawler, rig, pages)
            async with make_crawler(rig, delay=USUAL_DELAY) as crawler:
                bad = [
                    asyncio.create_task(pester(crawler, rig, case)) for case in pests
                ]
                among += await visit_good(crawler, rig, pages)
                for task in bad:
                    task.cancel()
                tried += sum(await asyncio.gather(*bad))
    before, after = p95(alone), p95(among)
    return Mixture(
        complete=len(among) / (HEALTHY_SITES * pages * rounds),
        p95_alone=round(before, 4),
        p95_mixed=round(after, 4),
        p95_ratio=round(after / before, 2),
        hostile_fetches=tried,
        peak_memory=peak_memory(),
    )


async def visit_good(crawler: Crawler, rig: Rig, pages: int) -> list[float]:
    """Fetch some pages of each good host; return the seconds of each that came."""
    times: list[float] = []

    async def visit(number: int) -> None:
        origin = rig.lane.origin(f"good-{number}")
        for page in range(pages):
            began = time.monotonic()
            fetched = await fetch_as_a_stage_does(crawler, f"{origin}/{page}")
            spent = time.monotonic() - began - fetched.timings.waited.total_seconds()
            if fetched.outcome == "ok" and fetched.status == 200:
                times.append(spent)

    await asyncio.gather(*(visit(number) for number in range(HEALTHY_SITES)))
    return times


async def fetch_as_a_stage_does(crawler: Crawler, url: str) -> FetchResult:
    """Fetch a page, and again if what went wrong may pass."""
    for _ in range(TRIES - 1):
        try:
            return await crawler.fetch(url)
        except FetchError as error:
            # A processor that others keep busy delays the answer of a name server too.
            if not error.retryable:
                raise
            if error.retry_after is not None:
                await asyncio.sleep(error.retry_after.total_seconds())
    return await crawler.fetch(url)


async def pester(crawler: Crawler, rig: Rig, case: Case) -> int:
    """Fetch one bad host again and again; return how often it was tried."""
    tried = 0
    try:
        while True:
            tried += 1
            with suppress(FetchError):
                await crawler.fetch(case.address(rig.lane))
            # No stage tries again at once, least of all where nothing was sent.
            await asyncio.sleep(USUAL_DELAY.total_seconds())
    except asyncio.CancelledError:
        return tried


def p95(values: Sequence[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


async def main(lane: str, pace: float, seed: int, only: Sequence[str]) -> Result:
    """Walk through the zoo once."""
    cases = [case for case in all_cases() if not only or case.id in only]
    async with AsyncExitStack() as stack:
        rig = await stack.enter_async_context(Rig(lane, pace))
        return await walk(rig, cases, seed=seed)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lane", choices=["loopback", "namespace"], required=True)
    parser.add_argument("--pace", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pages", type=int, default=4)
    return parser.parse_args()


if __name__ == "__main__":
    given = arguments()
    raise_open_files()
    if given.mixed:
        mixture = asyncio.run(mix(given.lane, given.rounds, given.pages))
        print(json.dumps(asdict(mixture)))
    else:
        found = asyncio.run(main(given.lane, given.pace, given.seed, given.only))
        print(json.dumps(asdict(found)))
