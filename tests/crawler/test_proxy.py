"""Proxies by the usual variables; the guard is asked first all the same."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from contact_extraction.urls import parse_url
from scrapersky.crawler import CrawlerPolicy, ProxyRules, proxy_rules
from scrapersky.errors import BlockedAddress, ConfigurationError, ConnectFailed
from tests.crawler.rig import LOOPBACK, Names, a_crawler, a_site, answer


@dataclass(slots=True)
class Proxy:
    """A proxy that writes down what it is asked and answers itself."""

    port: int = 0
    lines: list[str] = field(default_factory=list)

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                line = request.split(b"\r\n")[0].decode()
                self.lines.append(line)
                refused = b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"
                writer.write(refused if line.startswith("CONNECT") else answer())
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    @property
    def rules(self) -> ProxyRules:
        url = f"http://127.0.0.1:{self.port}"
        return proxy_rules(
            {"HTTP_PROXY": url, "HTTPS_PROXY": url, "NO_PROXY": "direct.example"}
        )


@asynccontextmanager
async def a_proxy() -> AsyncIterator[Proxy]:
    proxy = Proxy()
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    yield proxy
    server.close()


async def test_a_plain_request_names_the_whole_url() -> None:
    async with (
        a_proxy() as proxy,
        a_crawler(proxy=proxy.rules, resolver=Names("127.0.0.1")) as crawler,
    ):
        found = await crawler.fetch("http://shop.example/a?b")

    assert found.status == 200
    assert proxy.lines == [
        "GET http://shop.example/robots.txt HTTP/1.1",
        "GET http://shop.example/a?b HTTP/1.1",
    ]


async def test_tls_goes_through_a_tunnel() -> None:
    async with (
        a_proxy() as proxy,
        a_crawler(proxy=proxy.rules, resolver=Names("127.0.0.1")) as crawler,
    ):
        with pytest.raises(ConnectFailed, match="refused a tunnel"):
            await crawler.fetch("https://shop.example/")

    assert proxy.lines == ["CONNECT shop.example:443 HTTP/1.1"]


async def test_a_proxy_does_not_excuse_the_check() -> None:
    async with (
        a_proxy() as proxy,
        a_crawler(proxy=proxy.rules, resolver=Names("10.0.0.7")) as crawler,
    ):
        for url in (
            "http://inside.example/",
            "https://inside.example/",
            "http://10.0.0.7/",
        ):
            with pytest.raises(BlockedAddress):
                await crawler.fetch(url)

    assert proxy.lines == []


async def test_some_hosts_are_reached_directly() -> None:
    async with (
        a_proxy() as proxy,
        a_site({"*": answer()}) as site,
        a_crawler(site, proxy=proxy.rules) as crawler,
    ):
        await crawler.fetch(site.url("/", "direct.example"))

    assert proxy.lines == []


@pytest.mark.parametrize(
    ("direct", "url", "is_direct"),
    [
        ("example.com", "http://example.com/", True),
        (".example.com", "http://www.example.com/", True),
        ("*.example.com", "http://www.example.com/", True),
        ("example.com", "http://badexample.com/", False),
        ("*", "http://anything.example/", True),
        ("10.0.0.0/8", "http://10.1.2.3/", True),
        ("10.0.0.0/8", "http://11.1.2.3/", False),
        ("127.0.0.1, localhost", "http://localhost/", True),
        ("", "http://example.com/", False),
    ],
)
def test_no_proxy_is_read_as_usual(direct: str, url: str, is_direct: bool) -> None:
    rules = proxy_rules({"http_proxy": "proxy.example:3128", "no_proxy": direct})

    assert (rules.choose(parse_url(url)) is None) is is_direct


def test_lower_case_variables_win() -> None:
    rules = proxy_rules(
        {"http_proxy": "http://a.example", "HTTP_PROXY": "http://b.example"}
    )

    assert rules.http is not None
    assert rules.http.host == "a.example"
    assert rules.https is None


@pytest.mark.parametrize(
    "value",
    [
        "socks5://p.example",
        "https://p.example",
        "http://u:hunter2@p.example",
        "http://[",
    ],
)
def test_a_proxy_we_cannot_use_is_refused_without_telling_its_password(
    value: str,
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        proxy_rules({"all_proxy": value})

    assert "hunter2" not in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    "agent", ["", "Mozilla/5.0\r\nX: y", "1/2", "Böt/1.0", "a b\x00"]
)
def test_an_agent_without_a_plain_name_is_refused(agent: str) -> None:
    with pytest.raises(ConfigurationError):
        CrawlerPolicy(user_agent=agent, extra_networks=(LOOPBACK,))
