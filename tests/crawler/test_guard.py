"""Nothing but public addresses is connected to, whatever they are called."""

import asyncio
import socket
from collections.abc import AsyncIterator
from ipaddress import IPv6Address, ip_address, ip_network

import psutil
import pytest

from contact_extraction.urls import parse_url
from scrapersky.crawler import Crawler, CrawlerPolicy
from scrapersky.crawler.guard import Guard, embedded_v4, is_own, why_not_public
from scrapersky.crawler.pool import ConnectionPool, ConnectTimings, tls_context
from scrapersky.errors import (
    BlockedAddress,
    BlockedPort,
    ConfigurationError,
    NoSuchHost,
)
from tests.crawler.rig import QUICK, Names, a_ledger

URL = parse_url("http://shop.example/")


@pytest.mark.parametrize(
    "address",
    [
        *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200"),
        *("127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.169.254"),
        *("172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1"),
        *("192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.7", "224.0.0.1"),
        *("239.255.255.250", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:93.184.216.34"),
        *("::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        *("64:ff9b:1::7f00:1", "100::1", "2001::1", "2001:10::1", "2001:20::1"),
        *("2001:2::1", "2001:db8::1", "2002:7f00:1::", "2002:a9fe:a9fe::1"),
        *("3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1"),
        *("ff02::1", "2606:4700::5efe:7f00:1", "2606:4700::200:5efe:a00:1"),
    ],
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(BlockedAddress):
        Guard().check_all(URL, [address])
    with pytest.raises(BlockedAddress):
        Guard().check(URL, ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("93.184.216.34", "1.1.1.1", "8.8.8.8", "100.63.255.255", "100.128.0.1"),
        *("172.15.255.255", "172.32.0.1", "169.253.1.1", "223.255.255.255"),
        *("2606:2800:220:1::1", "2a00:1450:4001::1", "2400:cb00::1", "2001:4860::8888"),
    ],
)
def test_a_public_address_is_allowed(address: str) -> None:
    assert why_not_public(ip_address(address)) is None
    assert [str(one) for one in Guard().check_all(URL, [address])] == [address]


@pytest.mark.parametrize(
    ("address", "inner"),
    [
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("64:ff9b::a00:1", "10.0.0.1"),
        ("2002:a00:1::", "10.0.0.1"),
        ("2001:0:1:2:3:4:f5ff:fffe", "10.0.0.1"),
        ("::10.0.0.1", "10.0.0.1"),
        ("fe80::5efe:10.0.0.1", "10.0.0.1"),
        ("2606:4700::1", None),
    ],
)
def test_a_disguised_address_is_seen_through(address: str, inner: str | None) -> None:
    found = embedded_v4(IPv6Address(address))

    assert (str(found) if found else None) == inner


@pytest.mark.parametrize(
    "found",
    [["93.184.216.34", "10.0.0.7"], ["93.184.216.34", "::1"], ["10.0.0.7", "1.1.1.1"]],
)
def test_one_bad_address_spoils_all(found: list[str]) -> None:
    with pytest.raises(BlockedAddress):
        Guard().check_all(URL, found)


def test_a_name_without_addresses_leads_nowhere() -> None:
    with pytest.raises(NoSuchHost):
        Guard().check_all(URL, [])


def test_our_own_addresses_are_refused_even_if_public() -> None:
    mine = [
        entry.address.partition("%")[0]
        for entries in psutil.net_if_addrs().values()
        for entry in entries
        if entry.family in {socket.AF_INET, socket.AF_INET6}
        # A link-local one needs a zone to be asked about, and is refused anyway.
        and not entry.address.startswith("fe80")
    ]

    assert [address for address in mine if not is_own(ip_address(address))] == []
    assert not is_own(ip_address("93.184.216.34"))


@pytest.mark.parametrize("port", [22, 25, 53, 81, 3306, 5432, 6379, 8081, 65535])
def test_only_the_ports_of_the_web_are_used(port: int) -> None:
    url = parse_url(f"http://shop.example:{port}/")

    with pytest.raises(BlockedPort):
        Guard().check_port(url)
    with pytest.raises(BlockedPort):
        Guard().check(url, ip_address("93.184.216.34"))


def test_an_extra_port_is_open_only_inside_extra_networks() -> None:
    guard = Guard((ip_network("127.0.0.0/8"),), frozenset({9000}))
    url = parse_url("http://shop.example:9000/")

    guard.check(url, ip_address("127.0.0.1"))
    with pytest.raises(BlockedPort):
        guard.check(url, ip_address("93.184.216.34"))


def test_an_extra_network_opens_nothing_else() -> None:
    guard = Guard((ip_network("127.0.0.0/8"),))

    for address in ("10.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254"):
        with pytest.raises(BlockedAddress):
            guard.check_all(URL, [address])


def test_extra_ports_alone_are_a_mistake() -> None:
    with pytest.raises(ConfigurationError):
        CrawlerPolicy(extra_ports=frozenset({9000}))


@pytest.fixture
async def canary() -> AsyncIterator[tuple[int, list[str]]]:
    """Listen on loopback, on a port of the web, and write down who comes."""
    hits: list[str] = []

    async def caught(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        hits.append(str(writer.get_extra_info("peername")))
        writer.close()

    for port in (8080, 8443, 80, 443):
        try:
            server = await asyncio.start_server(caught, "127.0.0.1", port)
        except OSError:
            continue
        yield port, hits
        server.close()
        return
    pytest.skip("no port of the web is free here")


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost"),
        *("①②⑦.⓪.⓪.①", "[::ffff:127.0.0.1]", "rebind.example", "user@127.0.0.1"),
    ],
)
async def test_no_spelling_reaches_a_canary(
    canary: tuple[int, list[str]], host: str
) -> None:
    port, hits = canary
    policy = CrawlerPolicy(limits=QUICK)

    async with Crawler(
        policy, a_ledger(), resolver=Names("127.0.0.1"), listeners=()
    ) as crawler:
        with pytest.raises(BlockedAddress):
            await crawler.fetch(f"http://{host}:{port}/")

    assert hits == []


async def test_the_check_at_connect_time_stands_alone(
    canary: tuple[int, list[str]],
) -> None:
    port, hits = canary
    pool = ConnectionPool(CrawlerPolicy(limits=QUICK), Names(), tls_context(), Guard())

    with pytest.raises(BlockedAddress):
        await pool.connect(
            parse_url(f"http://shop.example:{port}/"),
            ip_address("127.0.0.1"),
            ConnectTimings(),
            timeout=1.0,
        )

    assert hits == []
