"""The web the crawlers are timed on: many hosts on loopback, 20 KB a page.

`python -m bench.crawl_peers.town HOSTS` serves it until its input ends.
"""

import asyncio
import random
import sys
from functools import lru_cache

import uvloop

NETWORK = "127.88"
TOWN_PORT = 18_480
PAGE_BYTES = 20_000
PAGE_LINKS = 60
PAGE_EMAILS = 3
ROBOTS = b"User-agent: *\nDisallow: /private/\nAllow: /\n"
WORDS = [
    "bakery",
    "bread",
    "fresh",
    "town",
    "hall",
    "service",
    "customer",
    "repair",
    "garden",
    "family",
    "quality",
    "opening",
    "hours",
    "monday",
    "friday",
    "street",
    "visit",
    "phone",
    "workshop",
    "delivery",
    "offer",
    "since",
    "master",
    "craft",
    "wood",
    "window",
    "roof",
    "paint",
    "bicycle",
    "dental",
    "practice",
    "lawyer",
    "notary",
]


def host(number: int) -> str:
    """Return the address of a host."""
    return f"{NETWORK}.{number // 250}.{1 + number % 250}"


def urls(pages: int, hosts: int) -> list[str]:
    """Return the URLs to crawl, taking turns between the hosts."""
    return [
        f"http://{host(number % hosts)}:{TOWN_PORT}/page/{number // hosts}"
        for number in range(pages)
    ]


@lru_cache(maxsize=4096)
def answer(name: str, target: str) -> bytes:
    """Return the whole answer to a request."""
    if target == "/robots.txt":
        return _http(ROBOTS, "text/plain")
    return _http(_page(name, target).encode(), "text/html; charset=utf-8")


def _http(body: bytes, kind: str) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


def _page(name: str, target: str) -> str:
    chance = random.Random(f"{name}{target}")

    def sentence(length: int) -> str:
        return " ".join(chance.choices(WORDS, k=length)).capitalize() + "."

    links = "".join(
        f'<li class="menu-item menu-item-{n}"><a href="/page/{n}" title="{sentence(3)}">'
        f"{sentence(2)}</a></li>"
        for n in range(PAGE_LINKS)
    )
    mails = "".join(
        f'<p>Write to <a href="mailto:desk{n}@shop{n}.example.org">desk{n}'
        f"@shop{n}.example.org</a></p>"
        for n in range(PAGE_EMAILS)
    )
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>",
        f"<title>{name} {target}</title>",
        '<meta name="description" content="A page of a small shop">',
        f"</head><body><nav><ul>{links}</ul></nav><main>{mails}",
    ]
    size = sum(map(len, parts))
    while size < PAGE_BYTES:
        part = f'<section class="text"><h2>{sentence(4)}</h2><p>{sentence(60)}</p></section>'
        parts.append(part)
        size += len(part)
    return "".join([*parts, "</main></body></html>"])


class Shop(asyncio.Protocol):
    """Answers as fast as Python can: the server must not be what is measured."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.name = transport.get_extra_info("sockname")[0]
        self.pending = b""

    def data_received(self, data: bytes) -> None:
        self.pending += data
        while (end := self.pending.find(b"\r\n\r\n")) >= 0:
            target = self.pending[:end].split(b" ", 2)[1].decode()
            self.pending = self.pending[end + 4 :]
            self.transport.write(answer(self.name, target))  # type: ignore[attr-defined]


async def serve(hosts: int) -> None:
    """Serve every host until the input ends."""
    loop = asyncio.get_running_loop()
    for number in range(hosts):
        await loop.create_server(Shop, host(number), TOWN_PORT, backlog=512)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
