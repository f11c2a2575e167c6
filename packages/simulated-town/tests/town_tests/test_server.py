import asyncio
import zlib

import pytest

from simulated_town.addresses import ARCHIVE_HOST
from simulated_town.business import Business, PageKind, SiteKind
from simulated_town.sites.dress import page_paths
from simulated_town.town import Town
from town_tests.visitor import Visitor, read_head


def one_of(town: Town, kind: SiteKind) -> Business:
    return next(b for b in town.plan.businesses if b.kind is kind)


async def test_a_site_has_one_name_and_sends_the_other_there(
    town: Town, visitor: Visitor
) -> None:
    at_www = next(b for b in town.plan.businesses if b.www and b.mailboxes)
    bare = next(b for b in town.plan.businesses if not b.www and b.mailboxes)

    from_bare = await visitor.get(f"http://{at_www.domain}/x")
    from_www = await visitor.get(f"http://www.{bare.domain}/x")

    assert from_bare.status == from_www.status == 301
    assert from_bare.headers["location"] == f"http://www.{at_www.domain}/x"
    assert from_www.headers["location"] == f"http://{bare.domain}/x"


async def test_a_request_by_host_header_is_answered_too(
    town: Town, visitor: Visitor
) -> None:
    business = one_of(town, SiteKind.PLAIN)

    reader = await visitor.send(f"GET / HTTP/1.1\r\nHost: {business.host}\r\n\r\n")

    assert (await read_head(reader))[0] == 200


async def test_a_name_that_is_not_of_the_town_is_refused(
    town: Town, visitor: Visitor
) -> None:
    assert (await visitor.get("http://elsewhere.com/")).status == 502


async def test_there_is_no_tls_in_town_and_the_attempt_is_logged(
    town: Town, visitor: Visitor
) -> None:
    business = one_of(town, SiteKind.PLAIN)
    host = business.host

    reader = await visitor.send(
        f"CONNECT {host}:443 HTTP/1.1\r\nHost: {host}:443\r\n\r\n"
    )

    assert (await read_head(reader))[0] == 502
    assert business.domain
    assert [visit.method for visit in town.log.sites[business.domain]] == ["CONNECT"]


async def test_what_has_not_changed_is_not_sent_again(
    town: Town, visitor: Visitor
) -> None:
    url = f"http://{one_of(town, SiteKind.PLAIN).host}/"
    first = await visitor.get(url)

    second = await visitor.get(url, extra=f"If-None-Match: {first.headers['etag']}\r\n")

    assert first.status == 200
    assert second.status == 304
    assert second.body == b""


async def test_a_head_request_has_no_body(town: Town, visitor: Visitor) -> None:
    url = f"http://{one_of(town, SiteKind.PLAIN).host}/"

    seen = await visitor.get(url, method="HEAD")

    assert int(seen.headers["content-length"]) > 1000
    assert (await visitor.get(url)).status == 200


async def test_a_busy_site_asks_to_come_back_later_once(
    town: Town, visitor: Visitor
) -> None:
    url = f"http://{one_of(town, SiteKind.BUSY).host}/"

    first, second = await visitor.get(url), await visitor.get(url)

    assert (first.status, first.headers["retry-after"]) == (429, "2")
    assert second.status == 200


async def test_a_flaky_site_fails_once_where_it_matters(
    town: Town, visitor: Visitor
) -> None:
    business = one_of(town, SiteKind.FLAKY)
    url = f"http://{business.host}{page_paths(business)[PageKind.CONTACT]}"

    assert [(await visitor.get(url)).status for _ in range(2)] == [500, 200]


@pytest.mark.parametrize(
    ("kind", "path", "status"),
    [
        (SiteKind.SOFT_404, "/no-such-page", 200),
        (SiteKind.PLAIN, "/no-such-page", 404),
        (SiteKind.SERVER_ERROR, "/", 500),
        (SiteKind.ROBOTS_ERROR, "/robots.txt", 503),
        (SiteKind.OTHER_BRAND, "/", 301),
        (SiteKind.PRIVATE_REDIRECT, "/", 302),
        (SiteKind.REDIRECT_LOOP, "/", 302),
        (SiteKind.REDIRECT_LOOP, "/welcome", 302),
    ],
)
async def test_each_trouble_answers_with_its_status(
    town: Town, visitor: Visitor, kind: SiteKind, path: str, status: int
) -> None:
    assert (
        await visitor.get(f"http://{one_of(town, kind).host}{path}")
    ).status == status


async def test_another_brand_is_a_site_of_the_town(
    town: Town, visitor: Visitor
) -> None:
    business = one_of(town, SiteKind.OTHER_BRAND)

    seen = await visitor.get(f"http://{business.host}/")

    home = seen.headers["location"].split("/")[2].removeprefix("www.")
    assert home in town.plan.owners
    assert home != business.domain


async def test_a_bomb_is_small_on_the_wire_and_large_inside(
    town: Town, visitor: Visitor
) -> None:
    seen = await visitor.get(f"http://{one_of(town, SiteKind.GZIP_BOMB).host}/")

    assert seen.headers["content-encoding"] == "gzip"
    assert len(zlib.decompress(seen.body, 31)) > 100 * len(seen.body)


async def test_an_endless_page_goes_on_until_the_visitor_leaves(town: Town) -> None:
    async with Visitor(town.endpoint.port) as visitor:
        host = one_of(town, SiteKind.ENDLESS).host
        reader = await visitor.send(
            f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n"
        )

        got = await reader.readexactly(8_000_000)

    assert len(got) == 8_000_000


async def test_a_hanging_site_says_nothing(town: Town, visitor: Visitor) -> None:
    host = one_of(town, SiteKind.HANGING).host
    reader = await visitor.send(f"GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n")

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.read(1), 0.3)


async def test_a_slow_site_answers_late_and_the_log_shows_it(
    town: Town, visitor: Visitor
) -> None:
    business = one_of(town, SiteKind.SLOW)

    seen = await visitor.get(f"http://{business.host}/")

    assert seen.status == 200
    assert business.domain
    (visit,) = town.log.sites[business.domain]
    assert visit.ended is not None
    assert visit.ended - visit.started >= 0.9


async def test_the_archive_names_fifty_thousand_pages(
    town: Town, visitor: Visitor
) -> None:
    reader = await visitor.send(
        f"GET http://{ARCHIVE_HOST}/sitemap.xml HTTP/1.1\r\nHost: {ARCHIVE_HOST}\r\n\r\n"
    )
    await read_head(reader)

    body = bytearray()
    while size := int((await reader.readline()).strip(), 16):
        body += (await reader.readexactly(size + 2))[:-2]

    assert body.count(b"<loc>") == 50_000
    assert body.endswith(b"</urlset>\n")


async def test_both_names_of_a_site_are_one_in_the_log(
    town: Town, visitor: Visitor
) -> None:
    business = one_of(town, SiteKind.PLAIN)

    await visitor.get(f"http://{business.domain}/")
    await visitor.get(f"http://www.{business.domain}/")

    (record,) = town.log.records()
    assert (record.site, record.requests, record.overlaps) == (business.domain, 2, 0)


async def test_a_closed_town_leaves_nothing_behind() -> None:
    before = asyncio.all_tasks()

    async with Town.open(size=100) as town:
        visitor = await Visitor(town.endpoint.port).__aenter__()
        await visitor.get(f"http://{town.plan.businesses[0].host}/")
    await asyncio.sleep(0)

    assert asyncio.all_tasks() == before
    with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
        await visitor.get(f"http://{town.plan.businesses[0].host}/")
    await visitor.__aexit__()
