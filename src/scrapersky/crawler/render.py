"""Render a page in a browser whose every request is made by our crawler.

The browser itself reaches nothing: each request is intercepted, and what the crawler may
not fetch (a private address, what robots.txt forbids, too much) the page does not get.
"""

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapersky.crawler.limits import MIB
from scrapersky.crawler.log import log, printable
from scrapersky.crawler.result import Accept
from scrapersky.errors import FetchError, RenderFailed

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page, Playwright, Route

    from scrapersky.crawler.fetch import Crawler
    from scrapersky.crawler.result import FetchResult

QUIET_SECONDS: Final = 0.5
"""Seconds without a request after which a page is taken to be finished."""
POLL_SECONDS: Final = 0.1
CLOSE_TIMEOUT_SECONDS: Final = 3.0
NEEDED_RESOURCES: Final = frozenset(("script", "xhr", "fetch"))
"""What may change the text of a page; images, fonts and films do not."""
PROC: Final = Path("/proc")
# Should a request ever pass the interception, it finds no names and a closed door.
BROWSER_FLAGS: Final = (
    "--proxy-server=http://127.0.0.1:9", "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-pings", "--disable-gpu",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--disable-dev-shm-usage",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """What one page may cost; whatever takes more is ended with its browser."""

    total: timedelta = timedelta(seconds=30)
    requests: int = 40
    wire_bytes: int = 10 * MIB
    html_bytes: int = 8 * MIB
    memory: int = 768 * MIB
    """Of the browser and all its processes, counted where there is a /proc."""
    pages: int = 50
    """After so many a new browser is started."""


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page as its scripts have made it, in UTF-8."""

    html: bytes
    requests: int
    refused: int


@dataclass(slots=True)
class RequestFilter:
    """Answers what a page asks for, through the crawler or not at all."""

    crawler: "Crawler"
    document: "FetchResult"
    limits: RenderLimits
    context: Context = field(default_factory=copy_context)
    """Of the item that the page is rendered for: what it fetches is charged to its site."""
    requests: int = 0
    refused: int = 0
    taken: int = 0
    pending: int = 0
    is_entered: bool = False

    is_over: bool = False
    fetching: "set[asyncio.Task[FetchResult]]" = field(default_factory=set)

    async def answer(self, route: "Route") -> None:
        """Answer one request of the page; once it is over nobody listens."""
        try:
            await self._answer(route)
        except Exception:
            if not self.is_over:
                raise

    def end(self) -> None:
        """Stop whatever is still being fetched for the page."""
        self.is_over = True
        for fetch in self.fetching:
            fetch.cancel()

    async def _answer(self, route: "Route") -> None:
        request = route.request
        if request.is_navigation_request():
            # The page itself is here already; it does not lead us anywhere else.
            if self.is_entered:
                await self._refuse(route)
                return
            self.is_entered = True
            kind = f"text/html; charset={self.document.charset.name}"
            body = self.document.read_all()
            await route.fulfill(status=200, body=body, headers={"content-type": kind})
        elif request.resource_type == "stylesheet":
            await route.fulfill(
                status=200, body="", headers={"content-type": "text/css"}
            )
        elif request.method == "GET" and request.resource_type in NEEDED_RESOURCES:
            await self._fetch(route)
        else:
            await self._refuse(route)

    async def _fetch(self, route: "Route") -> None:
        left = self.limits.wire_bytes - self.taken
        if self.requests >= self.limits.requests or left <= 0:
            await self._refuse(route)
            return
        self.requests += 1
        self.pending += 1
        try:
            fetch = self.crawler.fetch(
                route.request.url, accept=Accept.ANY, max_bytes=left
            )
            # The browser's driver calls from a task of its own.
            task = asyncio.create_task(fetch, context=self.context)
            self.fetching.add(task)
            task.add_done_callback(self.fetching.discard)
            await asyncio.wait((task,))
            fetched = task.result()
        except (FetchError, asyncio.CancelledError):
            await self._refuse(route)
            return
        finally:
            self.pending -= 1
        self.taken += len(fetched.body)
        headers = {"access-control-allow-origin": "*"}
        if kind := fetched.headers.get("content-type"):
            headers["content-type"] = kind
        await route.fulfill(status=fetched.status, body=fetched.body, headers=headers)

    async def _refuse(self, route: "Route") -> None:
        self.refused += 1
        await route.abort("blockedbyclient")


@dataclass(slots=True)
class _BrowserProcess:
    """A browser and the processes it is made of."""

    driver: "Playwright"
    browser: "Browser"
    mark: str
    pages: int = 0
    group: int | None = field(default=None)

    def kill(self) -> None:
        """End the browser and all its processes at once."""
        group = self.group or group_of(self.mark)
        # Never our own, whatever the driver may do one day.
        if group is not None and group != os.getpgrp():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)


class Renderer:
    """Renders one page at a time; the browser starts with the first one."""

    def __init__(
        self,
        crawler: "Crawler",
        limits: RenderLimits | None = None,
        *,
        browser: str | None = None,
    ) -> None:
        self.limits = limits or RenderLimits()
        self._crawler = crawler
        self._path = browser
        self._running: _BrowserProcess | None = None
        self._turn = asyncio.Lock()
        self._is_broken = False

    async def render(self, fetched: "FetchResult") -> RenderedPage:
        """Run the scripts of a page that was fetched, or raise RenderFailed."""
        url = printable(str(fetched.url))
        async with self._turn:
            if self._is_broken:
                raise RenderFailed(url, "the browser could not be started")
            try:
                async with asyncio.timeout(self.limits.total.total_seconds()):
                    running = await self._browser()
                    return await self._render(running, fetched)
            except TimeoutError as error:
                await self.close(kill=True)
                raise RenderFailed(url, "it took too long") from error
            except RenderFailed:
                raise
            except Exception as error:
                # The driver has one error for all: a crash, a page that was closed.
                await self.close(kill=True)
                why = str(error).partition("\n")[0][:200]
                raise RenderFailed(url, f"the browser failed: {why}") from error

    async def close(self, *, kill: bool = False) -> None:
        """End the browser; `kill` does not wait for what it is doing."""
        running, self._running = self._running, None
        if running is None:
            return
        if kill:
            running.kill()
        with suppress(Exception):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await running.browser.close()
        running.kill()
        with suppress(Exception):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS):
                await running.driver.stop()

    async def _browser(self) -> _BrowserProcess:
        if self._running and (
            self._running.pages >= self.limits.pages
            or not self._running.browser.is_connected()
        ):
            await self.close(kill=not self._running.browser.is_connected())
        if self._running is None:
            try:
                self._running = await start(self._path, self.limits)
            except Exception as error:
                self._is_broken = True
                why = str(error).partition("\n")[0][:200]
                log.warning("render.unavailable", why=why)
                raise RenderFailed("", f"the browser cannot start: {why}") from error
        self._running.pages += 1
        return self._running

    async def _render(
        self, running: _BrowserProcess, fetched: "FetchResult"
    ) -> RenderedPage:
        resources = RequestFilter(self._crawler, fetched, self.limits)

        async def answer(route: "Route") -> None:
            await resources.answer(route)

        # A context of its own: no page finds what another one left.
        context = await running.browser.new_context(
            service_workers="block",
            accept_downloads=False,
            user_agent=self._crawler.policy.user_agent,
        )
        try:
            async with self._watched(running):
                # Of the context: windows that the page opens are held to it too.
                await context.route("**/*", answer)
                await context.route_web_socket("**/*", lambda socket: socket.close())
                page = await context.new_page()
                await page.goto(str(fetched.url), wait_until="commit")
                await wait_until_quiet(page, resources)
                html = (await page.content()).encode("utf-8", "replace")
        finally:
            resources.end()
        await context.close()
        return RenderedPage(
            html[: self.limits.html_bytes], resources.requests, resources.refused
        )

    @asynccontextmanager
    async def _watched(self, running: _BrowserProcess) -> AsyncIterator[None]:
        """End a browser that takes more memory than it may."""
        running.group = running.group or group_of(running.mark)

        async def watch() -> None:
            while running.group is not None:
                if memory_of(running.group) > self.limits.memory:
                    log.warning("render.too_much_memory")
                    running.kill()
                    return
                await asyncio.sleep(POLL_SECONDS)

        watching = asyncio.create_task(watch(), name="render-memory")
        try:
            yield
        finally:
            watching.cancel()


async def wait_until_quiet(page: "Page", resources: RequestFilter) -> None:
    """Wait until a page has asked for nothing for a while."""
    await page.wait_for_load_state("domcontentloaded")
    quiet, asked = 0.0, -1
    while quiet < QUIET_SECONDS:
        await asyncio.sleep(POLL_SECONDS)
        is_busy = resources.pending > 0 or resources.requests != asked
        quiet = 0.0 if is_busy else quiet + POLL_SECONDS
        asked = resources.requests


async def start(path: str | None, limits: RenderLimits) -> _BrowserProcess:
    """Start a browser that cannot reach the network by itself."""
    from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra

    driver = await async_playwright().start()
    mark = f"--scrapersky-render={secrets.token_hex(8)}"
    heap = limits.memory // MIB // 2
    try:
        browser = await driver.chromium.launch(
            executable_path=path,
            args=[*BROWSER_FLAGS, mark, f"--js-flags=--max-old-space-size={heap}"],
            # Chromium's own sandbox refuses to work for root.
            chromium_sandbox=os.geteuid() != 0,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
    except BaseException:
        await driver.stop()
        raise
    return _BrowserProcess(driver, browser, mark)


def can_render(browser: str) -> bool:
    """Say whether the extra is installed, and a browser that was not named is there."""
    if browser == "off" or find_spec("playwright") is None:
        return False
    if browser != "auto":
        return True
    return any(any(folder.glob("chromium*")) for folder in _browser_folders())


def _browser_folders() -> tuple[Path, ...]:
    """Give where Playwright keeps the browsers that it has installed."""
    if named := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        return (Path(named),)
    try:
        home = Path.home()
    except RuntimeError:  # a container's user may have none
        return ()
    return home / ".cache/ms-playwright", home / "Library/Caches/ms-playwright"


def group_of(mark: str) -> int | None:
    """Find the process group of the browser that was started with a mark."""
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                return os.getpgid(int(folder.name))
    return None


def memory_of(group: int) -> int:
    """Add up what the processes of a group hold for themselves alone, in bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    held = 0
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError, ValueError):
            if os.getpgid(int(folder.name)) == group:
                numbers = (folder / "statm").read_text("ascii").split()
                held += (int(numbers[1]) - int(numbers[2])) * page
    return held
