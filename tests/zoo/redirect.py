"""Cases 36 to 49: servers which send us elsewhere."""

from collections.abc import Iterator

from tests.zoo.case import Evidence, Exhibit, Judge, Site, at_most, every, exhibit
from tests.zoo.wire import Exchange, Request, Serve, answer, healthy, page, says

INSIDE = "inside-ten"
"""A name of ours that resolves to 10.0.0.7."""


def redirects() -> Iterator[Exhibit]:
    """Return the cases about Location and its friends."""
    yield exhibit(
        "36a",
        "to itself",
        to("{self}/"),
        slug="to-itself",
        expect="redirect_limit",
        judge=at_most(6),
    )
    yield exhibit(
        "36b",
        "A to B to A",
        to("http:redirect-b/"),
        slug="redirect-a",
        expect="redirect_limit",
        judge=at_most(6),
        more=[Site(slug="redirect-b", serve=to("http:redirect-a/"))],
    )
    yield exhibit(
        "36c",
        "a new path each time",
        counting(10**6),
        slug="redirect-count",
        expect="redirect_limit",
        judge=at_most(6),
    )
    yield exhibit("36d", "five hops", counting(5), slug="five-hops", expect="ok")
    yield exhibit(
        "36e", "six hops", counting(6), slug="six-hops", expect="redirect_limit"
    )
    yield from forbidden_targets()
    yield from confusing_targets()
    yield from bad_locations()
    yield from secrets()
    yield from other_statuses()


def forbidden_targets() -> Iterator[Exhibit]:
    targets = {
        "38a": "http://169.254.169.254/latest/meta-data/",
        "38b": "http://100.64.0.1/",
        "38c": "http://10.0.0.7/",
        "38d": "http://192.168.1.1/",
        "38e": "http://0.0.0.0/",
        "38f": "http://224.0.0.1/",
        "38g": "http://255.255.255.255/",
        "38h": "http://203.0.113.9/",
        "39a": "http://localhost:5432/",
        "39b": "http://localhost:6379/",
        "39c": "http://127.0.0.1:22/",
        "39d": "http://127.0.0.1:25/",
        "39e": "http://localhost:{http}/",
        "39f": "http://localhost.localdomain/",
        "41a": "http://2130706433/",
        "41b": "http://0x7f.1/",
        "41c": "http://0177.0.0.1/",
        "41d": "http://127.1/",
        "41e": "http://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/",
        "41f": "http://\uff11\uff12\uff17.0.0.1/",
        "41g": "http://127\u30020\u30020\u30021/",
        "41h": "http://0/",
        "41i": "http://0x7f000001:{http}/",
        "41j": "http://127.0.0.1./",
        "41k": "http://%31%32%37.0.0.1/",
        "42a": "http://[::ffff:127.0.0.1]/",
        "42b": "http://[::1]/",
        "42c": "http://[::]/",
        "42d": "http://[64:ff9b::a9fe:a9fe]/",
        "42e": "http://[2002:7f00:1::]/",
        "42f": "http://[fe80::1%25eth0]/",
        "42g": "http://[fd00:ec2::254]/",
        "42h": "http://[::127.0.0.1]/",
        "42i": "http://[64:ff9b:1::7f00:1]/",
        "42j": "http://[2001:0:7f00:1::]/",
        "42k": "http://[fec0::1]/",
        "42l": "http://[ff02::1]/",
        "42m": "http://[2001:db8::1]/",
        "42n": "http://[::ffff:0:127.0.0.1]/",
    }
    for number, target in targets.items():
        yield exhibit(
            number,
            f"to {target}",
            to(target),
            slug=f"to-{number}",
            expect="blocked_addr bad_url",
            judge=at_most(1),
        )
    yield exhibit(
        "39g",
        "to port 22 of a public host",
        to("http://to-39g.com:22/"),
        slug="to-39g",
        expect="blocked_addr",
    )
    for letter, target in zip(
        "abcdefghi",
        (
            "file:///etc/passwd",
            "ftp://to-40b.com/",
            "gopher://to-40c.com/_x",
            "data:text/html,<p>x",
            "javascript:alert(1)",
            "s3://bucket/key",
            "ws://to-40g.com/",
            "about:blank",
            "view-source:http://to-40i.com/",
        ),
        strict=True,
    ):
        yield exhibit(
            f"40{letter}",
            f"to {target}",
            to(target),
            slug=f"to-40{letter}",
            expect="blocked_scheme",
            judge=at_most(1),
        )


def confusing_targets() -> Iterator[Exhibit]:
    inside = f"{INSIDE}.com"
    yield exhibit(
        "43a",
        "to user:pass@host",
        to("http:user:pass@confused-landing/"),
        slug="confused-user",
        expect="ok",
        judge=never("authorization"),
        more=[Site(slug="confused-landing")],
    )
    for letter, target in (
        ("b", f"http://confused-landing.com@{inside}/"),
        ("c", f"http://{inside}\\@confused-landing.com/"),
        ("d", f"//{inside}/"),
        ("e", f"/\\{inside}/"),
        ("f", f"http:///{inside}/"),
        ("g", f"http:{inside}/"),
        ("h", f"http://{inside}#@confused-landing.com/"),
        ("i", f"http://{inside}?@confused-landing.com/"),
        ("j", f"http://confused-landing.com:80@{inside}/"),
        ("k", f"\\\\{inside}/"),
        ("l", f"http://[::1].{inside}/"),
        ("m", "http://127.0.0.1:80:80/"),
        ("n", "http://confused-landing.com:99999/"),
        ("o", "http://confused-landing.com:0/"),
        ("p", "http://confused-landing.com:8o/"),
        ("q", "http://"),
    ):
        yield exhibit(
            f"43{letter}",
            f"to {target}",
            to(target),
            slug=f"confused-{letter}",
            # `http:name/` is a relative path to some parsers: then it stays here.
            expect="blocked_addr bad_http bad_url"
            + (" redirect_limit" if letter in "fgq" else ""),
        )


def bad_locations() -> Iterator[Exhibit]:
    head = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
    for letter, title, line in (
        ("a", "Location with a bare CR", b"Location: /x\rSet-Cookie: a=b\r\n"),
        ("b", "Location with blanks", b"Location: /a b c\r\n"),
        ("c", "Location of 1 MiB", b"Location: /" + b"a" * (1 << 20) + b"\r\n"),
        ("d", "Location that is not UTF-8", b"Location: /\xff\xfe\x80\r\n"),
        ("e", "empty Location", b"Location: \r\n"),
        ("f", "two Locations", b"Location: /one\r\nLocation: /two\r\n"),
        ("g", "no Location", b""),
        ("h", "Location with NUL", b"Location: /a\x00b\r\n"),
        ("i", "Location of 60 KB", b"Location: /" + b"a" * 60_000 + b"\r\n"),
        ("j", "Location with encoded CRLF", b"Location: /%0d%0aSet-Cookie:%20a=b\r\n"),
    ):
        yield exhibit(
            f"44{letter}",
            title,
            first_then(head + line + b"\r\n"),
            slug=f"location-{letter}",
            # Blanks and stray bytes may be quoted and followed, or refused.
            expect="bad_http bad_url" + (" ok" if letter in "bdgj" else ""),
            judge=at_most(2),
        )


def secrets() -> Iterator[Exhibit]:
    yield exhibit(
        "45a",
        "https to http",
        to("http:downgraded/", cookie=True),
        slug="downgrade",
        tls="good",
        expect="ok",
        judge=every(never("cookie"), never("authorization"), never("referer")),
        more=[Site(slug="downgraded")],
    )
    yield exhibit(
        "45b",
        "a cookie, then another host",
        to("http:cookie-landing/", cookie=True),
        slug="cookie-giver",
        expect="ok",
        judge=never("cookie"),
        more=[Site(slug="cookie-landing")],
    )
    loop = '<meta http-equiv="refresh" content="0;url=/again">'
    yield exhibit(
        "46a",
        "meta refresh for ever",
        says(answer(page(head=loop)), keep=True),
        slug="meta-refresh",
        expect="ok redirect_limit",
        judge=at_most(6),
    )
    yield exhibit(
        "46b",
        "script location for ever",
        says(answer(page("<script>location='/again'</script>")), keep=True),
        slug="script-location",
        expect="ok redirect_limit",
        judge=at_most(6),
    )
    inward = f'<meta http-equiv="refresh" content="0;url=http://{INSIDE}.com/">'
    yield exhibit(
        "46c",
        "meta refresh inward",
        says(answer(page(head=inward))),
        slug="meta-inward",
        expect="ok blocked_addr",
    )
    yield exhibit(
        "49",
        "Refresh, Link, Alt-Svc, Referrer-Policy",
        says(
            answer(
                page(),
                headers={
                    "Refresh": "0;url=http://127.0.0.1/",
                    "Link": "<http://169.254.169.254/>; rel=preload",
                    "Alt-Svc": 'h3="127.0.0.1:443", h2="127.0.0.1:80"',
                    "Proxy-Authenticate": "Basic realm=x",
                    "Referrer-Policy": "os.system",
                    "Content-Location": "http://127.0.0.1/",
                    "Content-Base": "file:///",
                },
            )
        ),
        slug="odd-headers",
        expect="ok",
        judge=at_most(1),
    )


def other_statuses() -> Iterator[Exhibit]:
    for status, expect in (
        ("300 Multiple Choices", "bad_http ok"),
        ("304 Not Modified", "bad_http ok"),
        ("305 Use Proxy", "bad_http ok"),
        ("306 Unused", "bad_http ok"),
        ("399 Odd", "bad_http ok"),
    ):
        code = status[:3]
        yield exhibit(
            f"48-{code}",
            f"{code} is not followed",
            to(f"http://{INSIDE}.com/", status=status),
            slug=f"status-{code}",
            expect=expect,
            judge=at_most(1),
        )
    for status in ("301 Moved", "303 See", "307 Temporary", "308 Permanent"):
        code = status[:3]
        yield exhibit(
            f"48-{code}",
            f"{code} is followed",
            to(f"http:landing-{code}/", status=status),
            slug=f"status-{code}",
            expect="ok",
            judge=at_most(2),
            more=[Site(slug=f"landing-{code}")],
        )


def to(target: str, *, status: str = "302 Found", cookie: bool = False) -> Serve:
    """Return a handler that redirects; `http:slug/` means a site of the zoo."""

    async def serve(exchange: Exchange, request: Request) -> bool:
        location = target.replace("{http}", str(exchange.lane.http))
        location = location.replace("{self}", exchange.lane.origin(exchange.slug))
        if target.startswith("http:") and target[5] not in "/\\" and "." not in target:
            user, at, slug = target[5:].rstrip("/").rpartition("@")
            location = exchange.url(slug).replace("://", f"://{user}{at}")
        lines = [f"HTTP/1.1 {status}", f"Location: {location}", "Content-Length: 0"]
        if cookie:
            lines.append("Set-Cookie: secret=1; Path=/")
        await exchange.send("\r\n".join([*lines, "", ""]).encode())
        return True

    return serve


def counting(hops: int) -> Serve:
    """Return a handler that redirects this often and then answers."""

    async def serve(exchange: Exchange, request: Request) -> bool:
        done = int(request.target.strip("/") or 0)
        if done >= hops:
            return await healthy(exchange, request)
        moved = answer(status="302 Found", headers={"Location": f"/{done + 1}"})
        await exchange.send(moved)
        return True

    return serve


def first_then(data: bytes) -> Serve:
    """Return a handler that says `data` at the root and is healthy elsewhere."""

    async def serve(exchange: Exchange, request: Request) -> bool:
        if request.target != "/":
            return await healthy(exchange, request)
        await exchange.send(data)
        return True

    return serve


def never(header: str) -> Judge:
    """Return a judge who wants a request header never to be sent."""

    def judge(evidence: Evidence) -> str | None:
        sent = [seen for seen in evidence.seen if seen.request.header(header)]
        return f"{header} was sent" if sent else None

    return judge
