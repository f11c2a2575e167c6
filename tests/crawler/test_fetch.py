"""One call: a URL in, a result or a typed error out, and good manners on the way."""

import asyncio
import gzip
import random
import ssl
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import trustme

from contact_extraction.urls import parse_url
from extraction_tests.pace import takes_at_most
from scrapersky.crawler import (
    Accept,
    CacheValidators,
    Charset,
    CharsetSource,
    ContentKind,
    Crawler,
    CrawlerPolicy,
    FetchRecord,
    IncompleteReason,
    Redirect,
)
from scrapersky.errors import (
    BadHttp,
    BadTls,
    BlockedAddress,
    BlockedScheme,
    ConfigurationError,
    ConnectFailed,
    CrawlDelayTooLong,
    DnsFailed,
    HostBackoff,
    HostPaused,
    NotHtml,
    RedirectLimit,
    RobotsDenied,
    RobotsUnreachable,
    TooBig,
    TooSlow,
)
from tests.crawler.rig import QUICK, Names, a_crawler, a_ledger, a_site, answer
from tests.zoo.encoding import EMPTY_BLOCKS, gzip_of

Says = dict[str, bytes | Sequence[bytes]]
PAGE = b"<html><title>Caf\xe9</title></html>"


def to(place: str, status: str = "302 Found") -> bytes:
    return answer(b"", f"Location: {place}", status=status)


def threads(prefix: str) -> int:
    return sum(one.name.startswith(prefix) for one in threading.enumerate())


async def test_stacked_compression_froze_the_loop_and_was_tried_again() -> None:
    bomb = gzip_of(EMPTY_BLOCKS, 256, head=gzip.compress(b"")[:10])
    page = answer(bomb, "Content-Encoding: gzip, gzip")
    async with a_site({"/": page}) as site, a_crawler(site) as crawler:
        with takes_at_most(0.5), pytest.raises(TooBig) as refused:
            await crawler.fetch(site.url())

    assert not refused.value.retryable


async def test_a_long_body_is_inflated_beside_the_loop_and_a_short_one_on_it() -> None:
    noise = random.Random(0).randbytes(200_000).hex().encode()
    says = {
        path: answer(gzip.compress(b"<html>" + text), "Content-Encoding: gzip")
        for path, text in {"/short": noise[:5_000], "/long": noise}.items()
    }
    async with a_site(says) as site, a_crawler(site) as crawler:
        short = await crawler.fetch(site.url("/short"))
        beside = threads("inflate")
        long = await crawler.fetch(site.url("/long"))
        again = await crawler.fetch(site.url("/long"))

        assert (beside, threads("inflate") > 0) == (0, True)
    assert short.body == b"<html>" + noise[:5_000]
    assert long.body == again.body == b"<html>" + noise
    assert (long.cut, site.connections) == (None, 1)


async def test_a_long_body_that_breaks_off_while_it_is_inflated_is_cut() -> None:
    noise = random.Random(0).randbytes(200_000).hex().encode()
    whole = answer(gzip.compress(b"<html>" + noise), "Content-Encoding: gzip")
    async with (
        a_site({"/": whole[:-50_000]}, closes=True) as site,
        a_crawler(site) as crawler,
    ):
        found = await crawler.fetch(site.url())

    assert found.cut is IncompleteReason.TRUNCATED
    assert (b"<html>" + noise).startswith(found.body)
    assert len(found.body) > 200_000


async def test_what_follows_a_long_body_does_not_fail_it() -> None:
    noise = random.Random(0).randbytes(50_000).hex().encode()
    whole = answer(gzip.compress(b"<html>" + noise), "Content-Encoding: gzip")
    async with a_site({"/": whole + b"junk"}) as site, a_crawler(site) as crawler:
        first = await crawler.fetch(site.url())
        second = await crawler.fetch(site.url())

    assert first.body == second.body == b"<html>" + noise
    assert site.connections == 2  # never a second answer from the one with junk


async def test_a_fetch_that_is_given_up_while_inflating_leaves_no_connection() -> None:
    noise = random.Random(0).randbytes(2_000_000).hex().encode()
    whole = answer(gzip.compress(b"<html>" + noise), "Content-Encoding: gzip")
    async with a_site({"/": whole}) as site, a_crawler(site) as crawler:
        await crawler.robots(site.url())
        fetch = asyncio.create_task(crawler.fetch(site.url()))
        while not threads("inflate"):  # noqa: ASYNC110 - a thread, not an event
            await asyncio.sleep(0)
        fetch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetch

        assert (await crawler.fetch(site.url())).body == b"<html>" + noise


async def test_a_page_comes_with_everything_known_about_it() -> None:
    page = answer(
        PAGE,
        'ETag: "1"',
        "Server: nginx",
        "Set-Cookie: a=b",
        "X-Robots-Tag: noindex",
        "X-Robots-Tag: nofollow",
        kind="text/html; charset=latin-1",
    )
    async with a_site({"/": page}) as site, a_crawler(site) as crawler:
        found = await crawler.fetch(site.url())

    assert (found.status, found.body, found.outcome, found.cut) == (
        200,
        PAGE,
        "ok",
        None,
    )
    assert (found.kind, found.charset) == (
        ContentKind.HTML,
        Charset("cp1252", CharsetSource.HEADER),
    )
    assert found.text == "<html><title>Café</title></html>"
    assert found.headers["etag"] == '"1"'
    assert "set-cookie" not in found.headers
    assert found.x_robots_tag == ("noindex", "nofollow")
    assert (found.peer, found.hops, found.downgraded) == ("127.0.0.1", (), False)
    assert found.wire_bytes == len(page)
    assert found.timings.total > timedelta()


async def test_a_request_says_who_we_are_and_nothing_else() -> None:
    async with a_site({"/": answer()}) as site, a_crawler(site) as crawler:
        await crawler.fetch(site.url())

    names = [
        line.split(b":")[0] for line in site.requests[1].split(b"\r\n")[1:] if line
    ]
    assert names == [
        b"Host",
        b"User-Agent",
        b"Accept",
        b"Accept-Language",
        b"Accept-Encoding",
    ]
    assert b"ScraperSky/0.1 (+https://" in site.requests[1]


async def test_a_connection_serves_many_requests() -> None:
    async with a_site({"*": answer()}) as site, a_crawler(site) as crawler:
        for number in range(5):
            await crawler.fetch(site.url(f"/{number}"))

    assert site.connections == 1


async def test_a_connection_closed_on_reuse_is_retried_once_and_silently() -> None:
    async with a_site({"*": answer()}, closes=True) as site, a_crawler(site) as crawler:
        for number in range(3):
            assert (await crawler.fetch(site.url(f"/{number}"))).status == 200

    assert site.paths() == ["/robots.txt", "/0", "/1", "/2"]


async def test_a_connection_that_said_too_much_is_not_reused() -> None:
    async with (
        a_site({"*": answer() + b"HTTP/1.1 200 OK\r\n\r\n"}) as site,
        a_crawler(site, obey_robots=False) as crawler,
    ):
        await crawler.fetch(site.url("/a"))
        await crawler.fetch(site.url("/b"))

    assert site.connections == 2


@pytest.mark.parametrize("status", ["301 M", "302 F", "303 S", "307 T", "308 P"])
async def test_redirects_are_followed_and_written_down(status: str) -> None:
    says = {"/a": to("b?x", status), "/b?x": answer()}
    async with a_site(says) as site, a_crawler(site) as crawler:
        found = await crawler.fetch(site.url("/a"))

    assert str(found.url) == site.url("/b?x")
    assert found.hops == (Redirect(parse_url(site.url("/a")), int(status[:3])),)


async def test_a_redirect_carries_nothing_to_the_next_host() -> None:
    async with a_site({"/": answer()}) as target:
        cookie = answer(
            b"",
            f"Location: {target.url('/', 'other.example')}",
            "Set-Cookie: a=b",
            "Referrer-Policy: unsafe-url",
            "Refresh: 0;url=/trap",
            "Alt-Svc: h2=:443",
            status="302 Found",
        )
        async with a_site({"/": cookie}) as site, a_crawler(site, target) as crawler:
            await crawler.fetch(
                site.url("/", "shop.example"), conditions=CacheValidators(etag='"1"')
            )

    request = target.requests[-1].lower()
    for name in (b"cookie", b"referer", b"authorization", b"if-none-match"):
        assert name not in request


@pytest.mark.parametrize(
    ("says", "most"),
    [
        ({"/a": to("/a")}, 1),
        ({"/a": to("/b"), "/b": to("/a")}, 2),
        ({f"/{name}": to(f"/{name}a") for name in ("a" * n for n in range(1, 12))}, 6),
        ({"/a": answer(b"<meta http-equiv=refresh content='0;url=/a'>")}, 1),
        (
            {
                "/a": answer(b"<meta http-equiv=refresh content='0;url=/b'>"),
                "/b": to("/a"),
            },
            2,
        ),
    ],
)
async def test_circles_and_long_chains_end(says: dict[str, bytes], most: int) -> None:
    async with a_site({**says}) as site, a_crawler(site, obey_robots=False) as crawler:
        with pytest.raises(RedirectLimit):
            await crawler.fetch(site.url("/a"))

    assert len(site.requests) <= most


async def test_a_meta_refresh_is_a_redirect() -> None:
    says = {
        "/a": answer(b"<html><meta http-equiv=refresh content='0; url=b'>"),
        "/b": answer(b"<html>there"),
    }
    async with a_site({**says}) as site, a_crawler(site) as crawler:
        found = await crawler.fetch(site.url("/a"))

    assert found.body == b"<html>there"
    assert [hop.how for hop in found.hops] == ["meta"]


@pytest.mark.parametrize(
    "place", ["file:///etc/passwd", "ftp://a.example/", "javascript:1"]
)
async def test_a_redirect_out_of_the_web_is_blocked(place: str) -> None:
    async with a_site({"/": to(place)}) as site, a_crawler(site) as crawler:
        with pytest.raises(BlockedScheme):
            await crawler.fetch(site.url())


@pytest.mark.parametrize(
    "place",
    ["http://169.254.169.254/", "http://[::1]/", "http://10.0.0.1/", "http://0/"],
)
async def test_a_redirect_to_a_private_address_is_blocked(place: str) -> None:
    async with a_site({"/": to(place)}) as site, a_crawler(site) as crawler:
        with pytest.raises(BlockedAddress):
            await crawler.fetch(site.url())


@pytest.mark.parametrize("place", ["", "/a b", "http://[", "/\xff\xfe", "http://a..b/"])
async def test_a_location_that_is_no_url_is_bad_http(place: str) -> None:
    async with a_site({"/": to(place)}) as site, a_crawler(site) as crawler:
        with pytest.raises(BadHttp):
            await crawler.fetch(site.url())


async def test_what_we_hold_need_not_be_sent_again() -> None:
    says = {"/": answer(b"", status="304 Not Modified")}
    held = CacheValidators(etag='"1"', last_modified="Sun, 15 Nov 2026 00:00:00 GMT")
    async with a_site({**says}) as site, a_crawler(site) as crawler:
        found = await crawler.fetch(site.url(), conditions=held)

    assert found.not_modified
    assert b'If-None-Match: "1"\r\n' in site.requests[-1]
    assert b"If-Modified-Since: Sun, 15 Nov 2026 00:00:00 GMT\r\n" in site.requests[-1]


@pytest.mark.parametrize("etag", ['"a\r\nX: y"', '"\x00"', '"ü"'])
async def test_a_poisoned_condition_is_not_sent(etag: str) -> None:
    async with a_site({"/": answer()}) as site, a_crawler(site) as crawler:
        await crawler.fetch(site.url(), conditions=CacheValidators(etag=etag))

    assert b"If-None-Match" not in site.requests[-1]


async def test_an_unasked_304_is_bad_http() -> None:
    async with (
        a_site({"/": answer(b"", status="304 N")}) as site,
        a_crawler(site) as crawler,
    ):
        with pytest.raises(BadHttp):
            await crawler.fetch(site.url())


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found", "500 Oops", "401 Who"])
async def test_a_status_is_a_result_not_an_error(status: str) -> None:
    async with a_site({"/": answer(status=status)}) as site, a_crawler(site) as crawler:
        found = await crawler.fetch(site.url())

    assert found.status == int(status[:3])
    assert len(site.requests) == 2


async def test_a_login_is_never_answered() -> None:
    challenge = answer(b"", "WWW-Authenticate: Basic realm=x", status="401 Who")
    async with a_site({"/": challenge}) as site, a_crawler(site) as crawler:
        assert (await crawler.fetch(site.url())).status == 401

    assert b"authorization" not in b"".join(site.requests).lower()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("image/png", b"\x89PNG\r\n\x1a\n"),
        ("text/html", b"\xff\xd8\xff\xe0"),
        ("text/plain", b"hi"),
    ],
)
async def test_what_is_no_page_is_refused(kind: str, body: bytes) -> None:
    async with (
        a_site({"/": answer(body, kind=kind)}) as site,
        a_crawler(site) as crawler,
    ):
        with pytest.raises(NotHtml):
            await crawler.fetch(site.url())
        assert (await crawler.fetch(site.url(), accept=Accept.ANY)).body == body


async def test_packed_bodies_are_unpacked() -> None:
    packed = answer(gzip.compress(PAGE), "Content-Encoding: gzip")
    async with a_site({"/": packed}) as site, a_crawler(site) as crawler:
        found = await crawler.fetch(site.url())

    assert found.body == PAGE
    assert found.inflated_bytes == len(PAGE)


async def test_a_short_body_is_partial() -> None:
    short = answer(PAGE).replace(b"Content-Length: ", b"Content-Length: 9")
    async with a_site({"/": short}, closes=True) as site, a_crawler(site) as crawler:
        found = await crawler.fetch(site.url())

    assert (found.cut, found.outcome) == (IncompleteReason.TRUNCATED, "ok_partial")


async def test_a_body_past_the_limit_is_refused_or_cut_as_the_caller_says() -> None:
    async with (
        a_site({"/": answer(b"<html>" + b"x" * 200_000)}) as site,
        a_crawler(site) as crawler,
    ):
        with pytest.raises(TooBig):
            await crawler.fetch(site.url(), max_bytes=100_000)
        found = await crawler.fetch(site.url(), max_bytes=100_000, keep_partial=True)

    assert found.cut is IncompleteReason.SIZE
    assert found.outcome == "ok_partial"
    assert found.body.startswith(b"<html>xxx")


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        ("7", 6, 8),
        ("soon", 59, 61),
        ("999999999", 21_599, 21_601),
        ("-5", 59, 61),
        ("0", 59, 61),
    ],
)
@pytest.mark.parametrize("status", ["429 Slow Down", "503 Busy"])
async def test_a_host_that_asks_for_rest_gets_it(
    status: str, header: str, low: int, high: int
) -> None:
    says = {"/": answer(b"", f"Retry-After: {header}", status=status)}
    async with a_site({**says}) as site, a_crawler(site) as crawler:
        with pytest.raises(HostBackoff) as reported:
            await crawler.fetch(site.url())
        with pytest.raises(HostPaused):
            await crawler.fetch(site.url("/other"))

    assert reported.value.retry_after is not None
    assert low <= reported.value.retry_after.total_seconds() <= high
    assert site.paths() == ["/robots.txt", "/"]


async def test_robots_are_read_once_and_obeyed() -> None:
    says = {"/robots.txt": answer(b"User-agent: *\nDisallow: /no"), "*": answer()}
    async with a_site({**says}) as site, a_crawler(site) as crawler:
        allowed = await crawler.fetch(site.url("/yes"))
        with pytest.raises(RobotsDenied, match="Disallow: /no"):
            await crawler.fetch(site.url("/no/x"))
        await crawler.fetch(site.url("/also"))

    assert allowed.robots.allowed
    assert site.paths() == ["/robots.txt", "/yes", "/also"]


async def test_a_redirect_into_a_forbidden_place_is_denied() -> None:
    says = {"/robots.txt": answer(b"User-agent: *\nDisallow: /no"), "/a": to("/no")}
    async with a_site({**says}) as site, a_crawler(site) as crawler:
        with pytest.raises(RobotsDenied):
            await crawler.fetch(site.url("/a"))

    assert "/no" not in site.paths()


@pytest.mark.parametrize("status", ["500 Oops", "503 Busy", "429 Slow Down"])
async def test_a_site_that_cannot_say_is_closed(status: str) -> None:
    says = {"/robots.txt": answer(b"", status=status), "*": answer()}
    async with a_site({**says}) as site, a_crawler(site) as crawler:
        with pytest.raises(RobotsUnreachable) as denied:
            await crawler.fetch(site.url())
        with pytest.raises(RobotsUnreachable):
            await crawler.fetch(site.url("/again"))

    assert denied.value.retry_after is not None
    assert denied.value.retry_after > timedelta(minutes=59)
    assert site.paths() == ["/robots.txt"]


async def test_robots_are_read_again_when_they_are_old() -> None:
    denying = answer(b"User-agent: *\nDisallow: /")
    says: Says = {"/robots.txt": [answer(b""), denying], "*": answer()}
    async with (
        a_site({**says}) as site,
        a_crawler(site, robots_age=timedelta(seconds=0.2)) as crawler,
    ):
        await crawler.fetch(site.url())
        await asyncio.sleep(0.3)
        with pytest.raises(RobotsDenied):
            await crawler.fetch(site.url())


async def test_many_fetches_ask_for_robots_once() -> None:
    async with a_site({"*": answer()}, pace=0.01) as site, a_crawler(site) as crawler:
        await asyncio.gather(*(crawler.fetch(site.url(f"/{n}")) for n in range(10)))

    assert site.paths().count("/robots.txt") == 1


async def test_each_origin_has_its_own_robots() -> None:
    closed = {"/robots.txt": answer(b"User-agent: *\nDisallow: /"), "*": answer()}
    async with (
        a_site({"*": answer()}) as one,
        a_site({**closed}) as other,
        a_crawler(one, other) as crawler,
    ):
        assert (await crawler.fetch(one.url())).status == 200
        with pytest.raises(RobotsDenied):
            await crawler.fetch(other.url())


async def test_a_crawl_delay_is_kept() -> None:
    says = {"/robots.txt": answer(b"User-agent: *\nCrawl-delay: 0.1"), "*": answer()}
    async with a_site({**says}) as site, a_crawler(site) as crawler:
        await crawler.fetch(site.url("/a"))
        await crawler.fetch(site.url("/b"))

    (_, ended), (began, _) = site.moments[1:]
    assert began - ended >= 1 - 0.01


async def test_a_site_that_asks_for_too_much_time_is_left() -> None:
    says = {"/robots.txt": answer(b"User-agent: *\nCrawl-delay: 61"), "*": answer()}
    async with a_site({**says}) as site, a_crawler(site) as crawler:
        with pytest.raises(CrawlDelayTooLong):
            await crawler.fetch(site.url())


async def test_requests_to_one_site_never_overlap_and_keep_their_distance() -> None:
    async with (
        a_site({"*": answer()}, pace=0.02) as site,
        a_crawler(site, host_delay=timedelta(seconds=0.1)) as crawler,
    ):
        hosts = ["shop.example", "www.shop.example", "other.example"]
        await asyncio.gather(
            *(crawler.fetch(site.url(f"/{n}", hosts[n % 3])) for n in range(9))
        )

    # Three names, two sites, but one address: all of them take turns.
    moments = sorted(site.moments)
    assert len(moments) == 12
    assert (
        min(after[0] - before[1] for before, after in pairwise(moments)) >= 0.1 - 0.01
    )


async def test_a_name_is_resolved_once_per_connection() -> None:
    names = Names("127.0.0.1")
    async with (
        a_site({"*": answer()}) as site,
        a_crawler(site, resolver=names) as crawler,
    ):
        await crawler.fetch(site.url("/a", "shop.example"))
        await crawler.fetch(site.url("/b", "shop.example"))

    assert names.asked == ["shop.example"]


async def test_the_next_address_is_tried_when_one_is_dead() -> None:
    names = Names("127.0.0.2", "127.0.0.1")
    async with (
        a_site({"*": answer()}) as site,
        a_crawler(site, resolver=names) as crawler,
    ):
        found = await crawler.fetch(site.url("/", "shop.example"))

    assert found.peer == "127.0.0.1"


async def test_a_dead_host_is_a_connect_error() -> None:
    async with a_site() as site:
        pass
    async with a_crawler(site) as crawler:
        with pytest.raises(ConnectFailed) as failed:
            await crawler.fetch(site.url())

    assert failed.value.scope == "host"
    assert failed.value.retryable


async def test_a_slow_resolver_is_a_dns_error() -> None:
    class Asleep:
        async def resolve(self, host: str, port: int) -> list[str]:
            await asyncio.sleep(60)
            return []

    async with a_crawler(resolver=Asleep()) as crawler:
        with pytest.raises(DnsFailed):
            await crawler.fetch("http://shop.example/")


@pytest.mark.slow
async def test_the_total_time_counts_all_hops_but_not_the_waiting() -> None:
    says = {f"/{n}": to(f"/{n + 1}") for n in range(5)}
    slow = replace(QUICK, total=timedelta(seconds=1.2))
    async with (
        a_site({**says, "/5": answer()}, pace=0.1) as site,
        a_crawler(site, host_delay=timedelta(seconds=0.5), limits=slow) as crawler,
    ):
        assert (await crawler.fetch(site.url("/0"))).status == 200
    async with (
        a_site({**says, "/5": answer()}, pace=0.5) as site,
        a_crawler(site, limits=slow, obey_robots=False) as crawler,
    ):
        with pytest.raises(TooSlow):
            await crawler.fetch(site.url("/0"))


@pytest.mark.slow
async def test_waiting_for_an_address_costs_a_fetch_none_of_its_time() -> None:
    brief = replace(QUICK, total=timedelta(seconds=2))
    how: dict[str, Any] = {"limits": brief, "host_delay": timedelta(seconds=2.1)}
    async with a_site({"*": answer()}) as site, a_crawler(site, **how) as crawler:
        for path in ("/1", "/2"):
            found = await asyncio.gather(
                *(crawler.fetch(site.url(path, f"{name}.example")) for name in "ab")
            )
            assert [one.status for one in found] == [200, 200]

    assert site.connections == 2


async def test_tls_is_verified() -> None:
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("shop.example").configure_cert(server)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async with a_site({"*": answer()}, tls=server) as site:
        async with a_crawler(site, tls=trusting) as crawler:
            found = await crawler.fetch(site.url("/", "shop.example"))
            with pytest.raises(BadTls):
                await crawler.fetch(site.url("/", "other.example"))
        async with a_crawler(site) as stranger:
            with pytest.raises(BadTls):
                await stranger.fetch(site.url("/", "shop.example"))

    assert found.status == 200


async def test_a_way_from_https_to_http_is_marked() -> None:
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("shop.example").configure_cert(server)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    async with a_site({"*": answer()}) as plain:
        says = {"/": to(plain.url("/", "shop.example"))}
        async with (
            a_site({**says}, tls=server) as site,
            a_crawler(site, plain, tls=trusting) as crawler,
        ):
            found = await crawler.fetch(site.url("/", "shop.example"))

    assert found.downgraded


def test_a_context_that_verifies_nothing_is_refused() -> None:
    careless = ssl.create_default_context()
    careless.check_hostname = False
    careless.verify_mode = ssl.CERT_NONE

    with pytest.raises(ConfigurationError):
        Crawler(CrawlerPolicy(), a_ledger(), ssl_context=careless)


async def test_every_fetch_is_recorded_once() -> None:
    records: list[FetchRecord] = []
    ledger = a_ledger()
    async with (
        a_site({"/": answer()}) as site,
        a_crawler(site, ledger=ledger, records=records) as crawler,
    ):
        await crawler.fetch(site.url())
        with pytest.raises(BlockedScheme):
            await crawler.fetch("gopher://a.example/")

    assert [(r.url, r.outcome, r.status) for r in records] == [
        (site.url("/robots.txt"), "ok", 404),
        (site.url("/"), "ok", 200),
        ("gopher://a.example/", "blocked_scheme", None),
    ]
    assert dict((await ledger.statistics("127.0.0.1")).outcomes) == {"ok": 2}


async def test_a_cancelled_fetch_leaves_the_host_free() -> None:
    async with (
        a_site({"*": answer()}, pace=0.5) as site,
        a_crawler(site, obey_robots=False) as crawler,
    ):
        fetch = asyncio.create_task(crawler.fetch(site.url("/a")))
        await asyncio.sleep(0.1)
        fetch.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetch
        site.pace = 0.0

        assert (await crawler.fetch(site.url("/b"))).status == 200


async def test_the_verdict_can_be_asked_for_alone() -> None:
    rules = answer(b"User-agent: *\nDisallow: /no\nSitemap: https://a.example/s.xml")
    async with a_site({"/robots.txt": rules}) as site, a_crawler(site) as crawler:
        verdict = await crawler.robots(site.url("/no"))

    assert not verdict.allowed
    assert verdict.sitemaps == ("https://a.example/s.xml",)


@pytest.mark.parametrize(
    ("asked", "rests"),
    [
        ("30", 30),
        ("0", 60),
        ("1", 1),
        ("Fri, 31 Dec 1999 23:59:59 GMT", 60),
        ("-1", 60),
        ("NaN", 60),
        ("soon", 60),
        ("", 60),
        ("86400", 6 * 3600),
        ("9" * 5000, 6 * 3600),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 6 * 3600),
    ],
)
async def test_a_host_rests_for_as_long_as_it_asks_within_bounds(
    asked: str, rests: int
) -> None:
    busy = answer(b"", f"Retry-After: {asked}", status="429 Busy")
    async with a_site({"/": busy}) as site, a_crawler(site) as crawler:
        with pytest.raises(HostBackoff) as refused:
            await crawler.fetch(site.url())

    assert refused.value.retry_after == timedelta(seconds=rests)
