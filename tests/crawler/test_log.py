"""Every fetch leaves one line, and nothing from outside is printed raw."""

import pytest
from structlog.testing import capture_logs

from scrapersky.crawler import Crawler, OutcomeCounter, log_fetch
from scrapersky.errors import BadUrl, NotHtml
from tests.crawler.rig import Names, a_ledger, a_policy, a_site, answer


async def test_a_fetch_leaves_one_line_with_its_story() -> None:
    counter = OutcomeCounter()
    async with a_site({"/": answer()}) as site:
        crawler = Crawler(
            a_policy(site),
            a_ledger(),
            resolver=Names("127.0.0.1"),
            listeners=[log_fetch, counter],
        )
        async with crawler:
            with capture_logs() as lines:
                await crawler.fetch(site.url("/", "shop.example"))

    robots, page = lines
    assert (robots["event"], robots["status"]) == ("fetch.done", 404)
    assert page == {
        "event": "fetch.done",
        "log_level": "info",
        "url": site.url("/", "shop.example"),
        "final_url": None,
        "host": "shop.example",
        "outcome": "ok",
        "status": 200,
        "bytes": len(answer()),
        "inflated": 18,
        "seconds": page["seconds"],
        "waited": page["waited"],
        "redirects": 0,
        "robots": "allowed",
        "why": None,
    }
    assert counter.outcomes == {"ok": 2}


async def test_hostile_text_is_never_printed_raw() -> None:
    hostile = "\x1b[31m\r\nforged: line\u202e"
    evil = answer(b"x", kind=f"image/{hostile[:5]}").replace(b"\x1b", b"\xc2\x9b")
    async with a_site({"/": evil}) as site:
        crawler = Crawler(a_policy(site), a_ledger(), listeners=[log_fetch])
        async with crawler:
            with capture_logs() as lines:
                with pytest.raises(NotHtml) as refused:
                    await crawler.fetch(site.url())
                with pytest.raises(BadUrl):
                    await crawler.fetch(f"http://{hostile}/")

    shown = [str(value) for line in lines for value in line.values()]
    assert [text for text in shown if not text.isprintable()] == []
    assert str(refused.value).isprintable()


async def test_a_widened_guard_is_said_aloud() -> None:
    with capture_logs() as lines:
        Crawler(a_policy(), a_ledger())

    (line,) = lines
    assert (line["event"], line["log_level"]) == ("guard.widened", "warning")
    assert line["networks"] == ["127.0.0.0/8"]
