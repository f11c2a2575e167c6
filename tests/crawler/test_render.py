"""A browser renders what only scripts fill, and reaches nothing but through the crawler."""

import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from scrapersky.crawler import FetchResult, Renderer, RenderLimits, can_render, render
from scrapersky.crawler.limits import MIB
from scrapersky.crawler.render import RequestFilter
from scrapersky.errors import BlockedAddress, RenderFailed
from tests.crawler.rig import Site, a_crawler, a_site, answer

BROWSER = shutil.which("chromium-headless-shell") or shutil.which("chromium")
SHELL = b"<html><body><div id=root></div><script src=/app.js></script></body></html>"
APP = b"""fetch('/data.json').then(r => r.json()).then(d => {
  document.getElementById('root').innerHTML = '<a href="mailto:' + d.m + '">' + d.m + '</a>'
})"""


@dataclass
class Asked:
    """A request of a page, as the browser hands it over."""

    url: str = "https://a.bv/app.js"
    method: str = "GET"
    resource_type: str = "script"
    is_page: bool = False
    outcome: str = ""
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def request(self) -> "Asked":
        return self

    def is_navigation_request(self) -> bool:
        return self.is_page

    async def abort(self, why: str) -> None:
        self.outcome = why

    async def fulfill(self, **given: Any) -> None:
        self.outcome, self.given = "answered", given


class Fetcher:
    """Gives the same body for every address but those of a private network."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def fetch(self, url: str, **_: Any) -> Any:
        self.asked.append(url)
        if "10.0.0.1" in url:
            raise BlockedAddress(url, "is a private address")
        return SimpleNamespace(status=200, body=b"x" * 600, headers={})


def a_filter(**limits: int) -> tuple[RequestFilter, Fetcher]:
    fetcher = Fetcher()
    charset = SimpleNamespace(name="utf-8")
    page = SimpleNamespace(read_all=lambda: SHELL, charset=charset)
    resources = RequestFilter(fetcher, page, RenderLimits(**limits))  # type: ignore[arg-type]
    return resources, fetcher


async def answered(resources: RequestFilter, *asked: Asked) -> list[str]:
    for one in asked:
        await resources.answer(one)  # type: ignore[arg-type]
    return [one.outcome for one in asked]


async def test_the_page_itself_is_not_fetched_twice_and_leads_nowhere_else() -> None:
    resources, fetcher = a_filter()
    page, away = Asked(is_page=True), Asked("https://b.bv/", is_page=True)

    assert await answered(resources, page, away) == ["answered", "blockedbyclient"]
    assert page.given["body"] == SHELL
    assert fetcher.asked == []


@pytest.mark.parametrize(
    "asked",
    [
        Asked(method="POST", resource_type="fetch"),
        Asked(resource_type="image"),
        Asked(resource_type="font"),
        Asked(resource_type="media"),
        Asked(resource_type="websocket"),
    ],
    ids=lambda asked: f"{asked.method} {asked.resource_type}",
)
async def test_what_does_not_change_the_text_is_never_asked_for(asked: Asked) -> None:
    resources, fetcher = a_filter()

    assert await answered(resources, asked) == ["blockedbyclient"]
    assert (fetcher.asked, resources.refused) == ([], 1)


async def test_what_the_crawler_refuses_the_page_does_not_get() -> None:
    resources, _ = a_filter()

    assert await answered(resources, Asked("http://10.0.0.1/")) == ["blockedbyclient"]
    assert (resources.requests, resources.refused, resources.pending) == (1, 1, 0)


async def test_a_page_gets_no_more_requests_and_bytes_than_it_may_have() -> None:
    few, _ = a_filter(requests=2)
    small, fetcher = a_filter(wire_bytes=1_000)

    assert await answered(few, Asked(), Asked(), Asked()) == [
        "answered", "answered", "blockedbyclient",
    ]  # fmt: skip
    assert await answered(small, Asked(), Asked(), Asked()) == [
        "answered", "answered", "blockedbyclient",
    ]  # fmt: skip
    assert len(fetcher.asked) == 2


def test_nothing_is_rendered_unless_a_browser_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert not can_render("off")
    assert not can_render("auto")

    (tmp_path / "chromium_headless_shell-1200").mkdir()
    assert can_render("auto")


async def test_a_browser_that_cannot_start_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries = []

    async def start(*given: Any) -> None:
        tries.append(given)
        raise OSError("there is no such program")

    monkeypatch.setattr(render, "start", start)
    page: Any = SimpleNamespace(url="https://a.bv/")
    renderer = Renderer(Fetcher())  # type: ignore[arg-type]
    for why in ("cannot start: there is no such program", "could not be started"):
        with pytest.raises(RenderFailed, match=why):
            await renderer.render(page)
    await renderer.close()

    assert len(tries) == 1


@asynccontextmanager
async def rendering(
    says: Mapping[str, bytes | Sequence[bytes]], limits: RenderLimits | None = None
) -> AsyncIterator[tuple[Site, Renderer, FetchResult]]:
    async with a_site(says) as site, a_crawler(site) as crawler:
        renderer = Renderer(crawler, limits, browser=BROWSER)
        try:
            yield site, renderer, await crawler.fetch(site.url())
        finally:
            await renderer.close()


needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
SCRIPT = "text/javascript"


@pytest.mark.long
@needs_browser
async def test_what_a_script_fetches_is_read_and_robots_are_obeyed() -> None:
    says = {
        "/": answer(
            SHELL.replace(b"</body>", b"<script src=/secret.js></script></body>")
        ),
        "/app.js": answer(APP, kind=SCRIPT),
        "/data.json": answer(b'{"m": "jo@a.bv"}', kind="application/json"),
        "/secret.js": answer(b"document.title = 'no'", kind=SCRIPT),
        "/robots.txt": answer(
            b"User-agent: *\nDisallow: /secret.js", kind="text/plain"
        ),
    }
    async with rendering(says) as (site, renderer, fetched):
        rendered = await renderer.render(fetched)

    assert b"mailto:jo@a.bv" in rendered.html
    assert (rendered.requests, rendered.refused) == (3, 1)
    assert site.paths().count("/") == 1
    assert "/secret.js" not in site.paths()


@pytest.mark.long
@needs_browser
async def test_no_request_of_the_browser_passes_the_crawler() -> None:
    async with a_site({"*": answer(b"inside")}) as other:
        tries = f"""
        const there = '127.0.0.1:{other.port}'
        new WebSocket('ws://' + there + '/socket')
        navigator.sendBeacon('http://' + there + '/beacon', 'x')
        fetch('http://' + there + '/post', {{method: 'POST'}})
        new Image().src = 'http://' + there + '/image'
        const frame = document.createElement('iframe')
        frame.src = 'http://' + there + '/frame'
        document.body.append(frame)
        window.open('http://' + there + '/window')
        new EventSource('http://' + there + '/events')
        const pre = document.createElement('link')
        pre.rel = 'prefetch'; pre.href = 'http://' + there + '/prefetch'
        document.head.append(pre)
        navigator.serviceWorker && navigator.serviceWorker.register('/worker.js')
        """
        says = {"/": answer(SHELL), "/app.js": answer(tries.encode(), kind=SCRIPT)}
        async with rendering(says) as (site, renderer, fetched):
            await renderer.render(fetched)

    assert other.requests == []
    assert site.paths() == ["/robots.txt", "/", "/app.js"]


@pytest.mark.long
@needs_browser
@pytest.mark.parametrize(
    ("script", "limits", "why"),
    [
        (b"for (;;) {}", RenderLimits(total=timedelta(seconds=20)), "took too long"),
        (
            b"const all = []; for (;;) all.push(new Uint8Array(2e7).fill(7))",
            RenderLimits(total=timedelta(minutes=2), memory=600 * MIB),
            "the browser failed",
        ),
    ],
    ids=["time", "memory"],
)
async def test_a_page_without_end_ends_with_its_browser_and_the_next_is_rendered(
    script: bytes, limits: RenderLimits, why: str
) -> None:
    says: dict[str, bytes | Sequence[bytes]] = {
        "/": answer(SHELL),
        "/app.js": [answer(script, kind=SCRIPT), answer(APP, kind=SCRIPT)],
        "/data.json": answer(b'{"m": "jo@a.bv"}', kind="application/json"),
    }
    async with rendering(says, limits) as (_, renderer, fetched):
        with pytest.raises(RenderFailed, match=why):
            await renderer.render(fetched)
        rendered = await renderer.render(fetched)

    assert b"mailto:jo@a.bv" in rendered.html
