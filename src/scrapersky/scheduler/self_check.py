"""A worker that looks after itself: unfit, it claims nothing, says why, and recovers.

One machine with a broken resolver must not ruin the queue that all share. So before a
site is blamed for a failure of the network, hosts that others reached lately are tried
from here. If none of them answers, it is this machine. Its clock, disk and memory are
looked at now and then. Whoever is unfit rests, and looks again until it is well.
"""

import asyncio
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import structlog
from sqlalchemy import Row, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from contact_extraction.urls import Url, parse_url
from scrapersky.crawler import Crawler
from scrapersky.errors import BadTls, FetchError
from scrapersky.scheduler.presence import Pausable

ANSWER_LIFETIME_SECONDS: Final = 5.0
"""Seconds for which what was found out about ourselves is believed."""
RECOVERY_SECONDS: Final = 60.0
"""Seconds for which what fails may have begun before this machine was fit again."""
MAX_CANARIES: Final = 4
CANARIES_LIFETIME_SECONDS: Final = 30.0
CHECK_SECONDS: Final = 10.0
CHECK_SECONDS_WHILE_UNFIT: Final = 5.0
MAX_SKEW_SECONDS: Final = 300.0
"""Seconds by which our clock may differ from the database's."""
MIN_DISK_BYTES: Final = 64 * 1024 * 1024
MIN_MEMORY_BYTES: Final = 48 * 1024 * 1024
MEMINFO_FILE: Final = Path("/proc/meminfo")
CGROUP_DIRECTORY: Final = Path("/sys/fs/cgroup")
REACHED_LATELY = """SELECT key FROM host_outcomes
  WHERE outcome = 'ok' AND key ~ '[a-z]' AND last_at > clock_timestamp() - interval '1 day'
  ORDER BY last_at DESC LIMIT :most"""
WEB_PORTS: Final = (("http", 80), ("https", 443))
"""Some sites have only one of them."""
TRUSTED_LATELY = """SELECT origin FROM host_robots
  WHERE origin LIKE 'https://%' AND state <> 'unreachable'
    AND fetched_at > clock_timestamp() - interval '1 day'
  ORDER BY fetched_at DESC LIMIT :most"""
"""Whoever read a robots.txt over https trusted the certificate there."""

Check = Callable[[], Awaitable[str | None]]
log = structlog.get_logger(__name__)


class SelfCheck:
    """Finds out whether this machine is fit, and lets its worker rest while it is not."""

    def __init__(
        self,
        engine: AsyncEngine,
        crawler: Crawler,
        *,
        data_dir: Path,
        canaries: Sequence[str] = (),
    ) -> None:
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._crawler = crawler
        self._directories = (data_dir, Path(tempfile.gettempdir()))
        self._always = tuple(canaries)
        self._known: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._answers: dict[str, tuple[float, str | None]] = {}
        self._asking: dict[str, asyncio.Lock] = {}
        self._suspected: Check | None = None
        """What found that the network is at fault, and says when it no longer is."""
        self._worker: Pausable | None = None
        self._recovered: tuple[float, Check, str] | None = None
        """When it was fit again, what had found the fault, and what that was."""
        self.why: str | None = None
        """What is wrong with this machine, as far as is known."""

    def look_after(self, worker: Pausable) -> None:
        """Let this worker rest while the machine is unfit."""
        self._worker = worker

    async def dns_fault(self) -> str | None:
        """Say what is wrong with the way names are resolved here."""
        return await self._ask("names", self._names)

    async def route_fault(self) -> str | None:
        """Say what is wrong with the way hosts are reached from here."""
        return await self._ask("routes", self._routes)

    async def tls_fault(self) -> str | None:
        """Say what is wrong with the way certificates are checked here."""
        return await self._ask("certificates", self._certificates)

    async def watch(self) -> None:
        """Look again and again, for as long as the process works."""
        while True:
            await asyncio.sleep(
                CHECK_SECONDS if self.why is None else CHECK_SECONDS_WHILE_UNFIT
            )
            await self.look()

    async def look(self) -> None:
        """Look once at everything that may be wrong; at the network where it was."""
        checks: list[Check] = [self._clock, self._disk, self._memory]
        suspected = self._suspected
        checks += [] if suspected is None else [suspected]
        found = [why for check in checks if (why := await check()) is not None]
        if self._suspected == suspected:
            # Otherwise an item has met trouble meanwhile, which was not looked at.
            self._note(found[0] if found else None)

    async def _ask(self, what: str, check: Check) -> str | None:
        async with self._asking.setdefault(what, asyncio.Lock()):
            at, why = self._answers.get(what, (-ANSWER_LIFETIME_SECONDS, None))
            if time.monotonic() - at > ANSWER_LIFETIME_SECONDS:
                why = await check()
                self._answers[what] = (time.monotonic(), why)
            if why is None:
                return self._lately(check)
            self._suspected = check
            self._note(why)
            return why

    def _lately(self, check: Check) -> str | None:
        """Say what was wrong until a moment ago: the failure may be of before."""
        if self._recovered is None:
            return None
        at, found_by, was = self._recovered
        is_recent = time.monotonic() - at < RECOVERY_SECONDS
        return f"until a moment ago {was}" if is_recent and found_by == check else None

    def _note(self, why: str | None) -> None:
        before, self.why = self.why, why
        if before is None and why is not None:
            log.warning("worker.unfit", why=why)
            if self._worker is not None:
                self._worker.rest(why)
        elif before is not None and why is None:
            log.warning("worker.fit_again", was=before)
            if self._suspected is not None:
                self._recovered = time.monotonic(), self._suspected, before
            self._answers.clear()
            self._suspected = None
            self._crawler.clear_failures()
            if self._worker is not None:
                self._worker.resume()

    async def _names(self) -> str | None:
        hosts = (*await self._canaries(REACHED_LATELY), *self._always)
        urls = [Url("http", host, 80) for host in hosts]
        return await self._all_fail(urls, "no name is resolved here", dial=False)

    async def _routes(self) -> str | None:
        # Only sites that are visited anyway are knocked at.
        hosts = await self._canaries(REACHED_LATELY)
        urls = [Url(scheme, host, port) for host in hosts for scheme, port in WEB_PORTS]
        what = "no host is reached from here"
        return await self._all_fail(urls, what, dial=True, answers=BadTls)

    async def _certificates(self) -> str | None:
        origins = await self._canaries(TRUSTED_LATELY)
        if self.why is not None:
            self._crawler.reread_certificates()
        urls = [parse_url(origin) for origin in origins]
        return await self._all_fail(urls, "no certificate is trusted here", dial=True)

    async def _all_fail(
        self,
        urls: Sequence[Url],
        what: str,
        *,
        dial: bool,
        answers: type[FetchError] | tuple[()] = (),
    ) -> str | None:
        """Say that none of these was reached; some failures are an answer all the same."""
        if not urls:
            return None
        probes = [
            asyncio.ensure_future(self._fails(url, answers, dial=dial)) for url in urls
        ]
        try:
            for done in asyncio.as_completed(probes):
                if not await done:
                    return None
        finally:
            for probe in probes:
                probe.cancel()
        return f"{what}: not even {', '.join(dict.fromkeys(url.host for url in urls))}"

    async def _fails(
        self, url: Url, answers: type[FetchError] | tuple[()], *, dial: bool
    ) -> bool:
        try:
            await self._crawler.probe(url, dial=dial)
        except answers:
            return False
        except FetchError:
            return True
        return False

    async def _canaries(self, query: str) -> tuple[str, ...]:
        """Return hosts with which somebody had success lately."""
        at, found = self._known.get(query, (-CANARIES_LIFETIME_SECONDS, ()))
        if not found or time.monotonic() - at > CANARIES_LIFETIME_SECONDS:
            rows = await self._query(query, most=MAX_CANARIES)
            found = tuple(str(row[0]) for row in rows)
            self._known[query] = (time.monotonic(), found)
        return found

    async def _clock(self) -> str | None:
        asked = time.time()
        rows = await self._query("SELECT extract(epoch FROM clock_timestamp())::float8")
        if not rows:
            return None
        skew = abs(float(rows[0][0]) - (asked + time.time()) / 2)
        if skew <= MAX_SKEW_SECONDS:
            return None
        return f"the clock differs from the database's by {skew:.0f} s"

    async def _disk(self) -> str | None:
        for directory in self._directories:
            try:
                free = shutil.disk_usage(directory).free
            except OSError:
                continue
            if free < MIN_DISK_BYTES:
                return f"only {free >> 20} MiB are free in {directory}"
        return None

    async def _memory(self) -> str | None:
        left = memory_left()
        if left is None or left >= MIN_MEMORY_BYTES:
            return None
        return f"only {left >> 20} MiB of memory are left"

    async def _query(self, query: str, **values: object) -> Sequence[Row[Any]]:
        try:
            async with self._engine.connect() as connection:
                return (await connection.execute(text(query), values)).all()
        except (SQLAlchemyError, OSError):
            return ()  # the worker has noticed by itself


def memory_left(
    meminfo: Path = MEMINFO_FILE, cgroup: Path = CGROUP_DIRECTORY
) -> int | None:
    """Return how many bytes this machine, or its control group, still has; None: unknown."""
    left = [
        int(line.split()[1]) * 1024
        for line in read(meminfo).splitlines()
        if line.startswith("MemAvailable:")
    ]
    most, used = read(cgroup / "memory.max"), read(cgroup / "memory.current")
    if most.strip().isdigit() and used.strip().isdigit():
        # What files fill can be given back at once.
        cached = dict(
            line.split() for line in read(cgroup / "memory.stat").splitlines()
        )
        left.append(int(most) - int(used) + int(cached.get("inactive_file", 0)))
    return min(left, default=None)


def read(path: Path) -> str:
    """Return what a file of the system says, or nothing."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return ""
