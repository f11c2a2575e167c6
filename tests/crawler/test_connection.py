"""What is not HTTP by the standard is refused, whatever a parser would forgive."""

import pytest

from scrapersky.errors import BadHttp, TooBig
from tests.crawler.rig import a_crawler, a_site

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
HI = b"\r\nhi"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "said",
    [
        OK + b"Content-Length: 2\r\nContent-Length: 2\r\n" + HI,
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n" + HI,
        OK
        + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        *(
            OK + b"Content-Length: %s\r\n" % n + HI
            for n in (b"+2", b"-2", b"2, 2", b"2x", b"0x2")
        ),
        *(
            OK + b"X: a%sb\r\nContent-Length: 2\r\n" % c + HI
            for c in (b"\0", b"\r", b"\n", b"\x7f")
        ),
        OK + b"X: a\r\n b\r\nContent-Length: 2\r\n" + HI,
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi",
        *(
            OK + b"%s: a\r\nContent-Length: 2\r\n" % n + HI
            for n in (b"X\xc3\xbc", b"X ", b"", b"X\0")
        ),
        OK + b"nonsense\r\nContent-Length: 2\r\n" + HI,
        *(
            b"%s\r\nContent-Length: 2\r\n" % line + HI
            for line in (
                *(
                    b"HTTP/9.9 999 X",
                    b"HTTP/1.1 999 X",
                    b"HTTP/1.1 099 X",
                    b"HTTP/1.1 200",
                ),
                *(
                    b"ICY 200 OK",
                    b"HTTP/2.0 200 OK",
                    b"HTTP/2 200 OK",
                    b"http/1.1 200 OK",
                ),
                *(
                    b"HTTP/1.1 2000 OK",
                    b"HTTP/1.1  200 OK",
                    b"HTTP/1.1 abc OK",
                    b"HTTP/1.2 200 OK",
                ),
            )
        ),
        b"<html>hello, I am HTTP/0.9</html>",
        b"\r\n\r\n" + OK + b"Content-Length: 2\r\n" + HI,
        *(
            OK + b"Transfer-Encoding: %s\r\n\r\n2\r\nhi\r\n0\r\n\r\n" % n
            for n in (b"gzip, chunked", b"identity", b"chunked, chunked", b"xchunked")
        ),
        OK + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n2\r\nhi\r\n0\r\n\r\n",
        *(
            CHUNKED + n + b"\r\nhi\r\n0\r\n\r\n"
            for n in (b"0x2", b"-2", b"+2", b" 2", b"2 2", b"z")
        ),
        CHUNKED + b"2\nhi\n0\n\n",
        CHUNKED + b"2\r\nhiXX0\r\n\r\n",
        CHUNKED + b"2\r\nhi\r\n0\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
        OK + b"X: y\r\n" * 500 + b"Content-Length: 2\r\n" + HI,
        OK + b"X: y\r\n" * 100_000 + b"Content-Length: 2\r\n" + HI,
        OK + b"X: " + b"y" * 10_000_000 + b"\r\n" + HI,
        OK + b"X" * 200_000 + b": y\r\n" + HI,
        b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" * 11
        + OK
        + b"Content-Length: 2\r\n"
        + HI,
        b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n" + HI,
        b"HTTP/1.1 206 Part\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n"
        + HI,
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
    ],
)
async def test_what_is_not_http_is_refused(said: bytes) -> None:
    async with (
        a_site({"*": said}, closes=True) as site,
        a_crawler(site, obey_robots=False) as crawler,
    ):
        with pytest.raises(BadHttp) as refused:
            await crawler.fetch(site.url())

    assert str(refused.value).isprintable()


@pytest.mark.parametrize(
    "said",
    [
        OK + b"Content-Length: 2\r\n" + HI,
        CHUNKED + b"2\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"1;name=value\r\nh\r\n1\r\ni\r\n0\r\nX-Trailer: y\r\n\r\n",
        OK + HI,
        b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n" + HI,
        b"HTTP/1.1 200 \r\nContent-Type: text/html\r\nContent-Length: 2\r\n" + HI,
        b"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" * 10
        + OK
        + b"Content-Length: 2\r\n"
        + HI,
        OK + b"X: \xc3\xbc\xff\r\nContent-Length: 2\r\n" + HI,
    ],
)
async def test_what_is_http_is_read(said: bytes) -> None:
    async with (
        a_site({"*": said}, closes=True) as site,
        a_crawler(site, obey_robots=False) as crawler,
    ):
        found = await crawler.fetch(site.url())

    assert (found.body, found.cut) == (b"hi", None)


@pytest.mark.parametrize("status", [b"204 No Content", b"205 Reset"])
async def test_a_body_where_none_belongs_is_ignored(status: bytes) -> None:
    said = b"HTTP/1.1 %s\r\nContent-Length: 0\r\n" % status + HI
    async with (
        a_site({"*": said}) as site,
        a_crawler(site, obey_robots=False) as crawler,
    ):
        for _ in range(2):
            assert (await crawler.fetch(site.url())).body == b""

    assert site.connections == 2


@pytest.mark.parametrize("length", [b"10995116277760", b"9" * 15, b"99999999"])
async def test_an_announced_monster_is_refused_at_its_headers(length: bytes) -> None:
    said = OK + b"Content-Length: " + length + b"\r\n" + HI
    async with (
        a_site({"*": said}) as site,
        a_crawler(site, obey_robots=False) as crawler,
    ):
        with pytest.raises(TooBig):
            await crawler.fetch(site.url())
