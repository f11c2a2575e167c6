"""Cases 81 to 94: what robots.txt and rates may look like."""

import asyncio
from collections.abc import Iterator

from tests.zoo.case import Evidence, Exhibit, Judge, Site, at_most, exhibit
from tests.zoo.encoding import coded, gzip_bomb
from tests.zoo.wire import (
    Exchange,
    Request,
    Serve,
    answer,
    healthy,
    page,
    says,
)

DENIED = "robots_denied"
DENY_ALL = "User-agent: *\nDisallow: /\n"


def rules(text: str | bytes, status: str = "200 OK") -> Serve:
    """Return a handler for robots.txt."""
    return says(answer(text, status, kind="text/plain"), keep=True)


def robots() -> Iterator[Exhibit]:
    """Return the cases about robots.txt and about rates."""
    yield from sizes()
    yield from failures()
    yield from chains()
    yield from matches()
    yield from delays()
    yield from rates()


def sizes() -> Iterator[Exhibit]:
    filler = "# " + "x" * 97 + "\n"
    early = "User-agent: *\nDisallow: /private\n" + filler * 50_000 + "Disallow: /\n"
    for letter, path, expect in (("a", "/", "ok"), ("b", "/private", DENIED)):
        yield exhibit(
            f"81{letter}",
            f"robots.txt of 5 MiB, {path}",
            robots=rules(early),
            slug=f"robots-big-{letter}",
            url=path,
            expect=expect,
        )
    yield exhibit(
        "81c",
        "robots.txt of one line of 5 MiB",
        robots=rules("User-agent: *\nDisallow: /" + "a" * (5 << 20)),
        slug="robots-line",
        expect="ok",
    )
    yield exhibit(
        "81d",
        "robots.txt is HTML",
        robots=says(answer(page()), keep=True),
        slug="robots-html",
        expect="ok",
    )
    yield exhibit(
        "81e",
        "robots.txt is binary",
        robots=rules(bytes(range(256)) * 100),
        slug="robots-binary",
        expect="ok robots_denied",
    )
    yield exhibit(
        "81f",
        "robots.txt with 20,000 rules",
        robots=rules("User-agent: *\n" + "Disallow: /*a*b*c*$\n" * 20_000),
        slug="robots-rules",
        url="/" + "a" * 500,
        expect="ok robots_denied",
    )
    distinct = "".join(f"Disallow: /{n}*b{n}*c$\n" for n in range(20_000))
    yield exhibit(
        "81h",
        "robots.txt with 20,000 different patterns",
        robots=rules("User-agent: *\n" + distinct),
        slug="robots-patterns",
        url="/" + "ab" * 250,
        expect="ok robots_denied",
        # 400 KB of rules are sixty times that once they are patterns.
        memory=64 << 20,
    )
    agents = "".join(f"User-agent: bot{n}\n" for n in range(12_000))
    yield exhibit(
        "81i",
        "robots.txt with 12,000 agents",
        robots=rules(agents + "Disallow: /a\n" * 12_000 + DENY_ALL),
        slug="robots-agents",
        expect="robots_denied",
    )
    yield exhibit(
        "81g",
        "a rule of 2,000 stars",
        robots=rules("User-agent: *\nDisallow: /" + "*a" * 2000 + "$\n"),
        slug="robots-stars",
        url="/" + "a" * 1900,
        expect="ok robots_denied",
    )


def failures() -> Iterator[Exhibit]:
    for letter, title, serve, waits in (
        ("a", "500", rules("", "500 Oops"), False),
        ("b", "503", rules("", "503 Busy"), False),
        ("c", "never answers", never, True),
        ("d", "reset", reset, False),
        ("e", "is not HTTP", says(b"hello\r\n\r\n"), False),
    ):
        yield exhibit(
            f"82{letter}",
            f"robots.txt: {title}",
            robots=serve,
            slug=f"robots-82{letter}",
            expect=DENIED,
            judge=at_most(0),
            limit=31,
            waits=waits,
        )
    for status in ("401 No", "403 No", "404 No", "410 Gone", "451 No"):
        code = status[:3]
        yield exhibit(
            f"83-{code}",
            f"robots.txt: {code}",
            robots=rules(DENY_ALL, status),
            slug=f"robots-{code}",
            expect="ok",
        )
    yield exhibit(
        "83-429",
        "robots.txt: 429",
        robots=rules("", "429 Slow down"),
        slug="robots-429",
        expect="robots_denied backoff",
        judge=at_most(0),
    )
    for letter, title, serve, waits in (
        ("a", "endless", endless, False),
        ("b", "a bomb", says(coded(gzip_bomb(), "gzip")), False),
        ("c", "slow", slow, True),
    ):
        yield exhibit(
            f"85{letter}",
            f"robots.txt: {title}",
            robots=serve,
            slug=f"robots-85{letter}",
            # Half a megabyte of an endless file was read, and it forbids nothing.
            expect=f"{DENIED} ok" if letter == "a" else DENIED,
            limit=31,
            waits=waits,
        )


def chains() -> Iterator[Exhibit]:
    yield exhibit(
        "84a",
        "robots.txt behind five redirects",
        robots=chain(5),
        serve=behind(5),
        slug="robots-chain-5",
        expect=DENIED,
    )
    yield exhibit(
        "84b",
        "robots.txt behind six redirects",
        robots=chain(6),
        serve=behind(6),
        slug="robots-chain-6",
        expect="ok",
        url="/page",
    )
    yield exhibit(
        "84c",
        "robots.txt on another host",
        robots=moved("robots-elsewhere"),
        slug="robots-moved",
        expect=DENIED,
        more=[Site(slug="robots-elsewhere", robots=rules(DENY_ALL))],
    )
    yield exhibit(
        "84d",
        "robots.txt moved inside",
        robots=says(
            answer(status="302 Found", headers={"Location": "http://127.0.0.1/"})
        ),
        slug="robots-inside",
        expect=f"{DENIED} blocked_addr ok",
    )


def matches() -> Iterator[Exhibit]:
    star = "User-agent: *\n"
    for number, text, path, expect in (
        ("88a", "Disallow: /a\nAllow: /a\n", "/a", "ok"),
        ("88b", "Disallow: /a\nAllow: /a/b\n", "/a/b/c", "ok"),
        ("88c", "Allow: /a\nDisallow: /a/b\n", "/a/b/c", DENIED),
        ("88d", "Disallow: /Case\n", "/case", "ok"),
        ("88e", "Disallow: /a%2Fb\n", "/a/b", "ok"),
        ("88f", "Disallow: /*.php$\n", "/x.php", DENIED),
        ("88g", "Disallow: /*.php$\n", "/x.php?a", "ok"),
        ("88h", "Disallow:\n", "/", "ok"),
        ("88i", "Disallow: /%7Ejoe\n", "/~joe", DENIED),
        ("88j", "Disallow: /*/x\n", "/a/x", DENIED),
    ):
        yield exhibit(
            number,
            f"{text.strip().splitlines()[-1]} for {path}",
            robots=rules(star + text),
            slug=f"robots-{number}",
            url=path,
            expect=expect,
        )
    yield exhibit(
        "88k",
        "a group of our own",
        robots=rules(
            "User-agent: *\nAllow: /\n\nUser-agent: ScraperSky\nDisallow: /\n"
        ),
        slug="robots-own",
        expect=DENIED,
    )
    yield exhibit(
        "94a",
        "robots.txt of the plain port says no",
        robots=rules_of_plain,
        slug="robots-authority",
        expect=DENIED,
        more=[],
        both=True,
    )
    yield exhibit(
        "94b",
        "robots.txt of the TLS port says yes",
        robots=rules_of_plain,
        slug="robots-authority-tls",
        tls="good",
        expect="ok",
        both=True,
    )


def delays() -> Iterator[Exhibit]:
    for letter, value, expect in (
        ("a", "0.001", "ok"),
        ("b", "86400", "robots_denied backoff too_slow host_paused skipped"),
        ("c", "-1", "ok"),
        ("d", "NaN", "ok"),
        ("e", "1e400", "ok robots_denied"),
        ("f", "9" * 4000, "ok robots_denied"),
        ("g", "soon", "ok"),
    ):
        yield exhibit(
            f"90{letter}",
            f"Crawl-delay: {value[:12]}",
            robots=rules(f"User-agent: *\nCrawl-delay: {value}\nAllow: /\n"),
            slug=f"robots-90{letter}",
            expect=expect,
        )


def rates() -> Iterator[Exhibit]:
    for letter, title, headers in (
        ("a", "429 on every page", {}),
        ("b", "429, Retry-After 3600", {"Retry-After": "3600"}),
        ("c", "429, Retry-After of ten years", {"Retry-After": "315360000"}),
        ("d", "429, Retry-After nonsense", {"Retry-After": "-1e9, soon"}),
        ("e", "429, Retry-After of 5,000 digits", {"Retry-After": "9" * 5000}),
        (
            "f",
            "429, a date long past",
            {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"},
        ),
    ):
        yield exhibit(
            f"92{letter}",
            title,
            says(answer("slow down", "429 Too Many", headers), keep=True),
            slug=f"rate-92{letter}",
            expect="backoff",
            judge=at_most(1),
            times=2,
        )
    yield exhibit(
        "92g",
        "503 on every page",
        says(answer("busy", "503 Busy", {"Retry-After": "120"}), keep=True),
        slug="rate-503",
        expect="backoff",
        judge=at_most(1),
        times=2,
    )
    tags = [("X-Robots-Tag", "noindex, nofollow"), ("X-Robots-Tag", "scrapersky: none")]
    yield exhibit(
        "93a",
        "X-Robots-Tag",
        says(answer(page(), headers=tags)),
        slug="robots-tag",
        expect="ok",
        judge=records("nofollow"),
    )
    meta = '<meta name="robots" content="noindex, nofollow">'
    yield exhibit(
        "93b",
        "meta robots",
        says(answer(page(head=meta))),
        slug="robots-meta",
        expect="ok",
    )
    yield exhibit(
        "93c",
        "tdm-reservation",
        says(answer(page(), headers={"TDM-Reservation": "1"})),
        slug="robots-tdm",
        expect="ok",
    )


async def never(exchange: Exchange, request: Request) -> None:
    await exchange.until_gone()


async def reset(exchange: Exchange, request: Request) -> None:
    exchange.reset()


async def endless(exchange: Exchange, request: Request) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        await exchange.send(b"# nothing to see here, ever\n" * 500)


async def slow(exchange: Exchange, request: Request) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n")
    while True:
        await exchange.send(b"#")
        await asyncio.sleep(0.1)


def chain(hops: int) -> Serve:
    """Return a robots.txt which is the first of this many redirects."""
    return says(answer(status="301 Moved", headers={"Location": "/hop/1"}), keep=True)


def behind(hops: int) -> Serve:
    """Return the rest of the chain; at its end everything is forbidden."""

    async def serve(exchange: Exchange, request: Request) -> bool:
        if not request.target.startswith("/hop/"):
            return await healthy(exchange, request)
        number = int(request.target.removeprefix("/hop/"))
        location = {"Location": f"/hop/{number + 1}"}
        data = answer(status="301 Moved", headers=location)
        await exchange.send(
            data if number < hops else answer(DENY_ALL, kind="text/plain")
        )
        return True

    return serve


def moved(slug: str) -> Serve:
    async def serve(exchange: Exchange, request: Request) -> bool:
        location = {"Location": exchange.url(slug, "/robots.txt")}
        await exchange.send(answer(status="301 Moved", headers=location))
        return True

    return serve


async def rules_of_plain(exchange: Exchange, request: Request) -> bool:
    secure = exchange.writer.get_extra_info("ssl_object") is not None
    text = answer(
        "User-agent: *\nAllow: /\n" if secure else DENY_ALL, kind="text/plain"
    )
    await exchange.send(text)
    return True


def records(directive: str) -> Judge:
    """Return a judge who looks for a directive among what was recorded."""

    def judge(evidence: Evidence) -> str | None:
        found = directive in repr(evidence.result).lower()
        return None if found else f"{directive} was not recorded"

    return judge
