"""Cases 95 to 105: sitemaps which loop, explode or are something else."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from tests.zoo.case import Site
from tests.zoo.encoding import coded, gzip_bomb
from tests.zoo.wire import Exchange, Request, Serve, answer, page, says

XML = '<?xml version="1.0" encoding="UTF-8"?>'
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
KIND = "application/xml"


@dataclass(frozen=True, slots=True)
class Map:
    """One hostile sitemap: what reading the file may end in."""

    id: str
    title: str
    site: Site
    expect: tuple[str, ...]
    urls: int | None = None
    """How many URLs it must give, where that is certain."""
    path: str = "/sitemap.xml"


def urlset(*urls: str, head: str = "") -> str:
    """Return a sitemap of these URLs."""
    rows = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f"{XML}{head}<urlset {SPACE}>{rows}</urlset>"


def xml(body: str | bytes) -> Serve:
    """Return a handler for a sitemap."""
    return says(answer(body, kind=KIND), keep=True)


def sitemaps() -> Iterator[Map]:
    """Return the hostile sitemaps."""
    for number, title, serve, expect, urls in (
        *entities(),
        *disguises(),
        *sizes(),
        *indexes(),
    ):
        site = Site(slug=f"sitemap-{number}", serve=serve)
        yield Map(number, title, site, tuple(expect.split()), urls)


def indexes() -> Iterator[tuple[str, str, Serve, str, int | None]]:
    yield "95a", "an index of itself", index("/sitemap.xml"), "ok", None
    yield "95b", "A to B to A", index("/b.xml", "/sitemap.xml"), "ok", None
    yield "96a", "an index without end", deeper, "ok ok_partial", None
    yield "96b", "an index of 50,000 children", wide, "ok ok_partial", None


def entities() -> Iterator[tuple[str, str, Serve, str, int | None]]:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    doctypes = {
        "97a": ("billion laughs", f'<!ENTITY l0 "lol">{laughs}', "&l9;"),
        "97b": ("quadratic entity", f'<!ENTITY a "{"x" * 50_000}">', "&a;" * 10_000),
        "98a": ("XXE of a file", '<!ENTITY a SYSTEM "file:///etc/passwd">', "&a;"),
        "98b": (
            "XXE of the metadata service",
            '<!ENTITY a SYSTEM "http://169.254.169.254/">',
            "&a;",
        ),
        "98c": (
            "a parameter entity",
            '<!ENTITY % p SYSTEM "http://127.0.0.1/e.dtd"> %p;',
            "x",
        ),
    }
    for number, (title, inner, use) in doctypes.items():
        body = urlset(
            f"http://sitemap-{number}.com/{use}", head=f"<!DOCTYPE u [{inner}]>"
        )
        yield number, title, xml(body), "bad_xml", None
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd"/>'
    yield (
        "98d",
        "XInclude",
        xml(f"{XML}<urlset {SPACE}>{include}</urlset>"),
        "bad_xml ok",
        0,
    )
    style = '<?xml-stylesheet href="http://169.254.169.254/" type="text/xsl"?>'
    yield (
        "98e",
        "a stylesheet",
        xml(urlset("http://sitemap-98e.com/a", head=style)),
        "ok bad_xml",
        None,
    )


def disguises() -> Iterator[tuple[str, str, Serve, str, int | None]]:
    url = "http://{}.com/a"
    texts: dict[str, tuple[str, str | bytes, str, int | None]] = {
        "102a": ("HTML as a sitemap", page(), "bad_xml ok", 0),
        "102b": (
            "RSS as a sitemap",
            f"{XML}<rss><channel><item><link>{url}</link></item></channel></rss>",
            "ok",
            1,
        ),
        "102c": ("text as a sitemap", f"{url}\n{url}b\n", "ok", 2),
        "102d": (
            "a wrong namespace",
            urlset(url).replace("www.sitemaps.org", "example.org"),
            "ok",
            1,
        ),
        "102e": ("CDATA", urlset(f"<![CDATA[{url}]]>"), "ok", 1),
        "102f": ("comments", urlset(f"<!-- x -->{url}"), "ok", 1),
        "102g": (
            "1M nested elements",
            f"{XML}<urlset>" + "<a>" * 1_000_000,
            "bad_xml ok ok_partial",
            None,
        ),
        "102h": (
            "invalid UTF-8",
            urlset(url).encode() + b"\xff\xfe",
            "ok bad_xml",
            None,
        ),
        "102i": (
            "an unescaped ampersand",
            urlset(f"{url}?a=1&b=2", f"{url}c"),
            "ok",
            2,
        ),
        "102j": (
            "cut in the middle",
            urlset(url, url + "b")[:-40],
            "ok ok_partial",
            None,
        ),
        "102k": ("UTF-16", urlset(url).encode("utf-16"), "ok bad_xml", None),
        "102l": (
            "a picture",
            b"\x89PNG\r\n\x1a\n" + bytes(2000),
            "bad_xml not_html",
            None,
        ),
        "105a": ("nothing", "", "ok bad_xml", 0),
    }
    for number, (title, body, expect, urls) in texts.items():
        host = f"sitemap-{number}"
        filled = (
            body.replace("{}", host)
            if isinstance(body, str)
            else body.replace(b"{}", host.encode())
        )
        yield number, title, xml(filled), expect, urls
    missing = says(answer("", "404 Not Found"))
    yield "105b", "not found", missing, "status_404", None
    broken = says(answer("", "500 Oops"))
    yield "105c", "server error", broken, "status_500 backoff", None


def sizes() -> Iterator[tuple[str, str, Serve, str, int | None]]:
    yield "99", "300 MB in one file", endless_urls, "too_big ok_partial", None
    bomb = gzip_bomb()
    yield "100a", "a gzip bomb as a file", xml(bomb), "too_big bad_xml", None
    yield (
        "100b",
        "a gzip bomb as a coding",
        says(coded(bomb, "gzip")),
        "too_big bad_xml",
        None,
    )
    yield (
        "100e",
        "a bomb of a sitemap",
        xml(map_bomb()),
        "too_big ok_partial trap",
        None,
    )
    twice = gzip.compress(gzip.compress(urlset("http://sitemap-100c.com/a").encode()))
    yield "100c", "gzip in gzip", xml(twice), "ok bad_xml not_html too_big", None
    once = gzip.compress(urlset("http://sitemap-100d.com/a").encode())
    yield (
        "100d",
        "a gzip file inside a gzip coding",
        says(coded(gzip.compress(once), "gzip")),
        "ok",
        1,
    )


def map_bomb() -> bytes:
    """Return a megabyte that begins like a sitemap and is a gigabyte of blanks."""
    packer = zlib.compressobj(9, wbits=31)
    head = packer.compress(f"{XML}<urlset {SPACE}>".encode())
    head += packer.flush(zlib.Z_FULL_FLUSH)
    blanks = packer.compress(b" " * (1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + blanks * 1024


def index(*paths: str) -> Serve:
    """Return a handler which always answers with an index of these files."""

    async def serve(exchange: Exchange, request: Request) -> bool:
        origin = exchange.lane.origin(exchange.slug)
        rows = "".join(
            f"<sitemap><loc>{origin}{path}</loc></sitemap>" for path in paths
        )
        body = f"{XML}<sitemapindex {SPACE}>{rows}</sitemapindex>"
        await exchange.send(answer(body, kind=KIND))
        return True

    return serve


async def deeper(exchange: Exchange, request: Request) -> bool | None:
    return await index(f"{request.target}x", f"{request.target}y")(exchange, request)


async def wide(exchange: Exchange, request: Request) -> bool | None:
    if request.target == "/sitemap.xml":
        many = (f"/{number}.xml" for number in range(50_000))
        return await index(*many)(exchange, request)
    body = urlset(*(exchange.url(exchange.slug, f"/{n}") for n in range(2000)))
    await exchange.send(answer(body, kind=KIND))
    return True


async def endless_urls(exchange: Exchange, request: Request) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {KIND}\r\n\r\n{XML}<urlset {SPACE}>"
    await exchange.send(head.encode())
    row = b"<url><loc>http://sitemap-99.com/%d</loc></url>"
    for start in range(0, 6_000_000, 2000):
        rows = (row % number for number in range(start, start + 2000))
        await exchange.send(b"".join(rows))
