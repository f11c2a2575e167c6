"""What is dead or slow harms itself alone: its neighbours are fetched as if it were not there."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest

from scrapersky.crawler.resolver import SystemResolver
from scrapersky.errors import (
    ConnectFailed,
    DnsFailed,
    HostBackoff,
    HostBusy,
    HostPaused,
    NoSuchHost,
)
from tests.crawler.rig import QUICK, Names, Site, a_crawler, a_site, answer


class Silent:
    """A name service that never answers."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        await asyncio.sleep(60)
        return []


async def test_a_dead_name_was_asked_for_again_under_each_spelling() -> None:
    names = Silent()
    brief = replace(QUICK, dns=timedelta(seconds=0.05))
    async with a_crawler(resolver=names, limits=brief) as crawler:
        for url in ("https://dead.example/", "http://www.dead.example/"):
            with pytest.raises(DnsFailed) as failed:
                await crawler.fetch(url)
            assert (failed.value.retry_after or timedelta()) > timedelta(seconds=10)

    assert names.asked == ["dead.example"]


async def test_a_name_that_does_not_exist_says_nothing_about_its_neighbours() -> None:
    class Www(Names):
        async def resolve(self, host: str, port: int) -> Sequence[str]:
            if not host.startswith("www."):
                raise NoSuchHost(host, "unknown")
            return await super().resolve(host, port)

    names = Www("127.0.0.1")
    async with a_site({"*": answer()}) as site, a_crawler(site, resolver=names) as one:
        for _ in range(2):
            with pytest.raises(NoSuchHost):
                await one.fetch(site.url("/", "shop.example"))
        assert (await one.fetch(site.url("/", "www.shop.example"))).status == 200


async def test_hanging_lookups_kept_all_others_from_asking() -> None:
    hang = threading.Event()

    def look_up(host: str, *_: Any, **__: Any) -> list[Any]:
        if host.startswith("dead"):
            hang.wait(20)
        return [(0, 0, 0, "", ("127.0.0.1", 80))]

    names = SystemResolver(lookups=70)
    with mock.patch("socket.getaddrinfo", look_up):
        dead = [asyncio.ensure_future(names.resolve(f"dead{n}", 80)) for n in range(69)]
        await asyncio.sleep(0)
        try:
            assert await names.resolve("shop.example", 80) == ["127.0.0.1"]
            dead.append(asyncio.ensure_future(names.resolve("dead", 80)))
            await asyncio.sleep(0)
            with pytest.raises(HostBusy):
                await names.resolve("shop.example", 80)
        finally:
            hang.set()
            await asyncio.gather(*dead)
        assert await names.resolve("shop.example", 80) == ["127.0.0.1"]


async def test_an_address_that_nobody_answers_at_is_not_dialled_for_every_site() -> (
    None
):
    async with a_site() as site:
        pass
    async with a_crawler(site) as crawler:
        dialled = mock.AsyncMock(wraps=crawler._pool._dial)
        with mock.patch.object(crawler._pool, "_dial", dialled):
            for name in ("a.example", "b.example"):
                with pytest.raises(ConnectFailed) as failed:
                    await crawler.fetch(site.url("/", name))
                assert failed.value.retry_after is not None

    assert dialled.await_count == 1


class Mute(Site):
    """A site that listens and never says a word."""

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connections += 1
        await reader.read()
        writer.close()


async def test_a_slow_site_kept_everyone_from_the_address_they_share() -> None:
    mute = Mute()
    server = await asyncio.start_server(mute.serve, "127.0.0.1", 0)
    mute.port = server.sockets[0].getsockname()[1]
    how: dict[str, Any] = {
        "address_turn": timedelta(seconds=0.05),
        "limits": replace(QUICK, headers=timedelta(30), total=timedelta(30)),
        "obey_robots": False,
    }
    async with (
        server,
        a_site({"*": answer()}) as site,
        a_crawler(site, mute, **how) as crawler,
    ):
        slow = asyncio.ensure_future(crawler.fetch(mute.url("/", "slow.example")))
        while not mute.connections:  # noqa: ASYNC110 - the site tells nobody
            await asyncio.sleep(0.01)

        found = await crawler.fetch(site.url("/", "quick.example"))

        assert found.status == 200
        assert not slow.done()
        slow.cancel()
        await asyncio.gather(slow, return_exceptions=True)


async def test_one_site_that_wants_rest_does_not_speak_for_its_address() -> None:
    busy = answer(b"", "Retry-After: 60", status="429 Too Many Requests")
    says = {"/": busy, "/well": answer()}
    async with a_site(says) as site, a_crawler(site) as crawler:
        for name in ("a.example", "b.example"):
            with pytest.raises(HostBackoff):
                await crawler.fetch(site.url("/", name))
            found = await crawler.fetch(site.url("/well", f"beside-{name}"))
            assert found.status == 200
        with pytest.raises(HostBackoff):
            await crawler.fetch(site.url("/", "c.example"))

        with pytest.raises(HostPaused) as paused:
            await crawler.fetch(site.url("/well", "d.example"))

    assert "several sites" in str(paused.value)
