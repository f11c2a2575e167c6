"""No URL, header or body makes a fetch end in a way that nobody foresaw."""

import asyncio
import gzip
import warnings
from collections.abc import Coroutine, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapersky.crawler import Accept, CacheValidators, FetchResult
from scrapersky.crawler.log import printable
from scrapersky.errors import FetchError, Unforeseen
from sdk_tests.rig.size import size
from tests.crawler.rig import Names, a_crawler, a_site

THOROUGH = settings(
    max_examples=size(100, 300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

status_lines = st.one_of(
    st.sampled_from(
        [
            *(
                b"HTTP/1.1 %d X\r\n" % n
                for n in (100, 101, 103, 200, 204, 206, 301, 304, 404)
            ),
            *(b"HTTP/1.1 %d X\r\n" % n for n in (429, 500, 503, 599, 999)),
            *(b"HTTP/1.0 200 OK\r\n", b"HTTP/2 200 OK\r\n", b"ICY 200 OK\r\n", b"\r\n"),
        ]
    ),
    st.binary(max_size=30),
)
headers = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *(
                    b"Content-Length: 5",
                    b"Content-Length: -1",
                    b"Content-Length: 99999999999",
                ),
                *(
                    b"Transfer-Encoding: chunked",
                    b"Transfer-Encoding: gzip",
                    b"Connection: x",
                ),
                *(
                    b"Content-Encoding: gzip",
                    b"Content-Encoding: br",
                    b"Content-Type: text/html",
                ),
                *(
                    b"Location: /x",
                    b"Location: \xff",
                    b"Location: file:///",
                    b"Retry-After: 1e9",
                ),
                *(b"Content-Type: text/html; charset=\x00", b"X-Robots-Tag: \x1b[31m"),
                *(
                    b"Retry-After: Sun, 99 Nov 99999 00:00:00 GMT",
                    b"Set-Cookie: a=b",
                    b": x",
                ),
            ]
        ),
        st.binary(max_size=40),
    ),
    max_size=6,
)
bodies = st.one_of(
    st.binary(max_size=300),
    st.binary(max_size=100).map(gzip.compress),
    st.sampled_from(
        [
            *(
                b"5\r\nhello\r\n0\r\n\r\n",
                b"5\r\nhello\r\n0\r\nX: y\r\n\r\n",
                b"ffffffffff\r\n",
            ),
            *(
                b"<meta http-equiv=refresh content='0;url=//[' >",
                b"<html>\0\xff",
                b"-5\r\n",
            ),
            b"<meta http-equiv=refresh content='0;url=http://10.0.0.1/'>",
        ]
    ),
)
answers = st.one_of(
    st.binary(max_size=500),
    st.tuples(status_lines, headers, bodies).map(
        lambda parts: (
            parts[0] + b"".join(h + b"\r\n" for h in parts[1]) + b"\r\n" + parts[2]
        )
    ),
)


@THOROUGH
@given(st.lists(answers, min_size=1, max_size=3), st.sampled_from(Accept))
def test_any_answer_is_a_result_or_a_typed_error(
    said: list[bytes], accept: Accept
) -> None:
    async def visit() -> None:
        says: dict[str, bytes | Sequence[bytes]] = {"/robots.txt": said[-1], "*": said}
        async with a_site(says, closes=True) as site, a_crawler(site) as crawler:
            for path in ("/a", "/b"):
                await check(crawler.fetch(site.url(path), accept=accept))

    strictly(visit())


@THOROUGH
@given(
    st.one_of(
        st.text(max_size=80), st.text(max_size=40).map("http://a.example/{}".format)
    )
)
def test_any_text_is_a_result_or_a_typed_error(text: str) -> None:
    async def visit() -> None:
        async with a_crawler(resolver=Names()) as crawler:
            await check(crawler.fetch(text))

    strictly(visit())


@THOROUGH
@given(st.text(max_size=60), st.text(max_size=60))
def test_any_condition_is_sent_safely_or_not_at_all(etag: str, modified: str) -> None:
    async def visit() -> None:
        async with a_site() as site, a_crawler(site, obey_robots=False) as crawler:
            await crawler.fetch(
                site.url(),
                conditions=CacheValidators(etag=etag, last_modified=modified),
            )
        (request,) = site.requests
        assert request.count(b"\r\n") <= 9

    strictly(visit())


@given(st.text())
def test_what_is_logged_is_one_short_printable_line(text: str) -> None:
    shown = printable(text)

    assert len(shown) <= 301
    assert len(shown.splitlines()) <= 1
    assert not any(character in shown for character in "\x1b\r\n\0\u202e\u2028")


async def check(fetch: Coroutine[Any, Any, FetchResult]) -> None:
    """Let a fetch end, and look at how it did."""
    end = (await asyncio.gather(fetch, return_exceptions=True))[0]
    if isinstance(end, FetchResult):
        assert "\0" not in end.text
        return
    assert isinstance(end, FetchError)
    assert not isinstance(end, Unforeseen)
    assert str(end).isprintable()


def strictly(visit: Coroutine[Any, Any, None]) -> None:
    """Run in a loop of its own, in which a forgotten socket is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(visit)
