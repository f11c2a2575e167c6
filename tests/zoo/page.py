"""Cases 60 to 79: pages built to trap, to stall or to deceive a reader."""

from collections.abc import Iterator

from tests.zoo.case import Evidence, Exhibit, at_most, every, exhibit, took_at_most
from tests.zoo.redirect import INSIDE, never
from tests.zoo.wire import Exchange, Request, answer, page, says

MEBI = 1 << 20


def pages() -> Iterator[Exhibit]:
    """Return the cases about what stands in a page."""
    yield exhibit(
        "60",
        "an endless page of links",
        endless_links,
        slug="page-links",
        expect="too_big",
        judge=took_at_most(32 * MEBI),
    )
    for number, title, body in hostile_bodies():
        yield exhibit(
            number,
            title,
            says(answer(body)),
            slug=f"page-{number}",
            expect="ok",
            limit=15,
            # The page is held as bytes and as text; 5 MiB of them are allowed.
            memory=96 * MEBI,
        )
    yield exhibit(
        "69",
        "looks at the user agent",
        cloaked,
        slug="page-cloaked",
        expect="ok",
        judge=honest,
    )
    for letter, title, status, headers, expect in (
        (
            "a",
            "bot challenge",
            "403 Forbidden",
            {"cf-mitigated": "challenge", "Server": "cloudflare"},
            "blocked ok challenge",
        ),
        (
            "b",
            "login wall",
            "401 Unauthorized",
            {"WWW-Authenticate": 'Basic realm="x"'},
            "ok",
        ),
        ("c", "legal reasons", "451 No", {}, "ok"),
        ("d", "server error", "500 Oops", {}, "backoff ok server_error"),
        ("e", "teapot", "418 Teapot", {}, "ok"),
        ("f", "gone", "410 Gone", {}, "ok"),
    ):
        yield exhibit(
            f"70{letter}",
            title,
            says(answer(page(title="Just a moment"), status, headers), keep=True),
            slug=f"wall-{letter}",
            expect=expect,
            judge=at_most(1),
        )
    yield from cookies()
    for letter, scheme in zip(
        "abcd", ("Basic", "NTLM", "Negotiate", "Digest"), strict=True
    ):
        yield exhibit(
            f"79{letter}",
            f"401 {scheme}",
            says(
                answer("who?", "401 No", {"WWW-Authenticate": f'{scheme} realm="x"'}),
                keep=True,
            ),
            slug=f"auth-{letter}",
            expect="ok",
            judge=every(at_most(1), never("authorization")),
        )


def hostile_bodies() -> Iterator[tuple[str, str, str]]:
    """Return the pages which only hurt whoever parses them."""
    yield "61a", "1M nested elements", "<div>" * 1_000_000
    yield (
        "61b",
        "20,000 attributes",
        page("<p " + "".join(f"a{n}=b " for n in range(20_000)) + ">"),
    )
    yield "61c", "20,000 misnested elements", page("<a><b><i><u>" * 20_000)
    yield "61d", "one comment without end", "<!--" + "-" * (4 * MEBI)
    yield "61e", "tables in tables", page("<table><tr><td>" * 100_000)
    yield "61f", "a select of selects", page("<select><option>" * 100_000)
    yield "61g", "a script without end", "<script>" + "a<" * (2 * MEBI)
    yield "64", "links into themselves", page('<a href="a/b/">x</a>' * 100)
    yield (
        "71a",
        "base of files",
        page('<a href="x">x</a>', head='<base href="file:///">'),
    )
    inside = f'<base href="http://{INSIDE}.com/">'
    yield "71b", "base of another host", page('<a href="x">x</a>', head=inside)
    yield "72", "links of every odd kind", page("".join(odd_links()))
    yield "73", "links nobody sees", page(HIDDEN)
    yield "74a", "a hundred thousand almost-addresses", page("a@b " * 100_000)
    yield "74b", "a local part of 1 MB", page("a" * MEBI + "@example.com")
    yield "74c", "a domain of 1 MB", page("a@" + "a." * (MEBI // 2))
    yield (
        "74d",
        "names of files",
        page(" logo@2x.png icon@3x.webp user@127.0.0.1 " * 999),
    )
    yield "75a", "1 MB of blanks", page(" " * MEBI + "!")
    yield "75b", "1 MB of @", page("@" * MEBI)
    yield "75c", "1 MB of <", page("<" * MEBI)
    yield "75d", "1 MB of brackets and digits", page("((((1234" * (MEBI // 8))
    yield "75e", "1 MB of digits", page("+49" + "1" * MEBI)
    yield "75f", "1 MB of one letter", page("a" * MEBI + "!")
    yield "75g", "1 MB of dots", page("." * MEBI + "@" + "." * MEBI)
    yield "75h", "1 MB of entities", page("&amp;&#64;&commat;" * (MEBI // 18))
    meta = "<meta name=a content=b>"
    yield "75i", "60 KB of scripts never closed", meta + "<script " * 7500 + page()
    yield "75j", "60 KB of comments never closed", meta + "<!--" * 15_000 + page()
    yield "75k", "60 KB of metas never closed", meta + "<meta " * 10_000 + page()
    yield "75l", "a meta of many attributes", f"<meta {'a=b ' * 1000}>" * 15 + page()
    yield (
        "75m",
        "a refresh of blanks",
        f"{meta[:-1]} content='0;{' ' * 4000}'>" + page(),
    )
    yield "76", "payloads in every field", page(PAYLOADS, title=PAYLOADS)


HIDDEN = (
    '<a style="display:none" href="/trap">x</a><a hidden href="/trap2">y</a>'
    '<a rel="nofollow" href="/nofollow">z</a>'
    '<span style="display:none">honeypot@example.com</span>'
)

PAYLOADS = (
    "<script>alert(1)</script>'; DROP TABLE pages;-- =cmd|' /C calc'!A0 {{7*7}} "
    "${jndi:ldap://127.0.0.1/a} \x1b[31mred\x1b[0m \r\nlog: forged"
)


def odd_links() -> Iterator[str]:
    for href in (
        "javascript:alert(1)",
        "mailto:" + "a" * 100_000,
        "tel:+49" + "1" * 1000,
        "//",
        "http:/x",
        "\\",
        "/" + "a" * 100_000,
        "%zz%00%2e%2e/",
        "/%2e%2e/%2e%2e/etc/passwd",
        "http://[::1]/",
        "http://127.1/",
        "http://a:99999/",
        "\u202ehttp://evil.com/",
        "http://\u2460.com/",
        "data:text/html,x",
        "?",
        "#",
        "",
        "http://u:p@h/",
    ):
        yield f'<a href="{href}">x</a>'


async def endless_links(exchange: Exchange, request: Request) -> None:
    await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<body>")
    number = 0
    while True:
        links = (b'<a href="/%d">x</a>' % n for n in range(number, number + 1000))
        await exchange.send(b"".join(links))
        number += 1000


async def cloaked(exchange: Exchange, request: Request) -> bool:
    agent = request.header("user-agent") or ""
    await exchange.send(answer(page(title=f"hello {agent[:40]}")))
    return True


def honest(evidence: Evidence) -> str | None:
    """Want one agent, ours, with an address where its owner can be reached."""
    everything = [*evidence.seen, *evidence.robots]
    agents = {seen.request.header("user-agent") or "" for seen in everything}
    named = all("ScraperSky" in agent and "http" in agent for agent in agents)
    return None if len(agents) == 1 and named else f"user agents {agents}"


def cookies() -> Iterator[Exhibit]:
    many = [("Set-Cookie", f"c{n}=v") for n in range(90)]
    flood = [("Set-Cookie", f"c{n}=v") for n in range(1000)]
    for letter, title, headers, expect in (
        ("a", "90 cookies", many, "ok"),
        ("b", "1,000 cookies", flood, "bad_http"),
        ("c", "a cookie of 1 MB", [("Set-Cookie", "c=" + "v" * MEBI)], "bad_http"),
        ("d", "a cookie for .com", [("Set-Cookie", "c=v; Domain=.com")], "ok"),
        (
            "e",
            "a cookie for another",
            [("Set-Cookie", "c=v; Domain=landing-301.com")],
            "ok",
        ),
    ):
        yield exhibit(
            f"78{letter}",
            title,
            says(answer(page(), headers=headers), keep=True),
            slug=f"cookie-{letter}",
            expect=expect,
            judge=never("cookie"),
            times=2 if expect == "ok" else 1,
        )
