"""One parser decides what a URL means, for the check and for the connection alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_extraction.errors import InvalidUrl, UnsupportedScheme
from contact_extraction.urls import (
    MAX_LENGTH,
    Url,
    canonical,
    canonical_url,
    parse_url,
    registrable_domain,
)

BASE = parse_url("https://shop.example/a/b?q=1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://Example.COM", "https://example.com/"),
        ("  https://example.com/a b\n", "https://example.com/a%20b"),
        ("https://example.com:443/", "https://example.com/"),
        ("http://example.com:8080", "http://example.com:8080/"),
        ("http://example.com:/x", "http://example.com/x"),
        ("https://user:secret@example.com/", "https://example.com/"),
        ("https://good.example@evil.example/", "https://evil.example/"),
        ("http://evil.example\\@good.example/", "http://evil.example/@good.example/"),
        ("http:///evil.example/x", "http://evil.example/x"),
        ("http:\\\\evil.example\\x", "http://evil.example/x"),
        ("https://example.com./", "https://example.com/"),
        ("https://example.com/#top", "https://example.com/"),
        ("https://example.com?x=1", "https://example.com/?x=1"),
        ("https://example.com/?", "https://example.com/"),
        ("https://example.com/a/./b/../c", "https://example.com/a/c"),
        ("https://example.com/%2e%2E/../x", "https://example.com/x"),
        ("https://example.com/a/..", "https://example.com/"),
        ("https://example.com/..", "https://example.com/"),
        ("https://example.com/%7euser/%c3%bc", "https://example.com/~user/%C3%BC"),
        ("https://example.com/ü?ü", "https://example.com/%C3%BC?%C3%BC"),
        ("https://example.com/100%", "https://example.com/100%25"),
        ("https://example.com/a%2Fb", "https://example.com/a%2Fb"),
        ("ht\ntps://exam\tple.com/", "https://example.com/"),
        ("https://Bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://a_b.example/", "https://a_b.example/"),
        ("https://ex%61mple.com/", "https://example.com/"),
        ("http://[2001:DB8:0::1]:8080/", "http://[2001:db8::1]:8080/"),
        ("http://[fe80::1%25eth0]/", "http://[fe80::1]/"),
    ],
)
def test_a_url_has_one_normal_form(text: str, expected: str) -> None:
    assert str(parse_url(text)) == expected


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "①②⑦.⓪.⓪.①",
        "\uff11\uff12\uff17.0.0.1",
        "127。0。0。1",
        "127.0.0.1.",
        "%31%32%37.1",
    ],
)
def test_every_notation_of_an_address_is_that_address(host: str) -> None:
    assert parse_url(f"http://{host}/").host == "127.0.0.1"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("", "https://shop.example/a/b?q=1"),
        ("#x", "https://shop.example/a/b?q=1"),
        ("?z", "https://shop.example/a/b?z"),
        ("c", "https://shop.example/a/c"),
        ("../c?d", "https://shop.example/c?d"),
        ("/c", "https://shop.example/c"),
        ("\\c", "https://shop.example/c"),
        ("//evil.example/x", "https://evil.example/x"),
        ("/\\evil.example/x", "https://evil.example/x"),
        ("\\\\evil.example", "https://evil.example/"),
        ("https:c", "https://shop.example/a/c"),
        ("https:/c", "https://shop.example/c"),
        ("http:c.example", "http://c.example/"),
        ("a:b/../c", None),
    ],
)
def test_a_reference_is_read_like_a_browser_reads_it(
    reference: str, expected: str | None
) -> None:
    if expected is None:
        with pytest.raises(UnsupportedScheme):
            parse_url(reference, BASE)
    else:
        assert str(parse_url(reference, BASE)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
        "data:text/html,x",
        "javascript:alert(1)",
        "s3://bucket/key",
        "ws://example.com/",
        "mailto:" + "a" * 5000 + "@example.com",
        "FILE:/etc/passwd",
        "view-source:http://example.com/",
    ],
)
def test_only_http_and_https_are_fetched(text: str) -> None:
    with pytest.raises(UnsupportedScheme):
        parse_url(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.com",
        "http://",
        "http://@/",
        "http://:80/",
        "http://example.com:0/",
        "http://example.com:65536/",
        "http://example.com:80x/",
        "http://example.com:\uff18\uff10/",
        "http://exa mple.com/",
        "http://example..com/",
        "http://.example.com/",
        f"http://{'a' * 64}.com/",
        f"http://{'a.' * 130}com/",
        "http://xn--a.com/",
        "http://999.1.1.1/",
        "http://1.2.3.4.5/",
        "http://example.com/\x00x",
        "http://[::1/",
        "http://[::1]x/",
        "http://[nonsense]/",
        "http://08.0.0.1/",
        "http://%ff%fe/",
        "http://exa%00mple.com/",
        "http://example.com/%00",
        "http://example.com/\x1b[31m",
        "http://example.com/\ud800",
        f"http://example.com/{'a' * MAX_LENGTH}",
        f"http://example.com/{'ü' * 400}",
        "http://example.com/" + " " * 200_000 + "x",
    ],
)
def test_what_is_no_url_is_refused(text: str) -> None:
    with pytest.raises(InvalidUrl):
        parse_url(text)


def test_the_message_of_a_refusal_is_short_and_printable() -> None:
    with pytest.raises(InvalidUrl) as refused:
        parse_url("http://example.com/\x1b[31m\r\nforged" + "x" * 1000)

    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a.example/?utm_source=x&id=7", "https://a.example/?id=7"),
        ("https://a.example/?gclid=1&fbclid=2", "https://a.example/"),
        ("https://a.example/p;jsessionid=AB12?x=1", "https://a.example/p?x=1"),
        ("https://a.example/?PHPSESSID=abcdef0123&p=2", "https://a.example/?p=2"),
        ("https://a.example/?sid=9f8e7d6c5b", "https://a.example/"),
        ("https://a.example/?sid=12", "https://a.example/?sid=12"),
        ("https://a.example/(S(lit3py55t21z5v55vlm25s55))/x", "https://a.example/x"),
        ("https://a.example/?b=2&a=1", "https://a.example/?b=2&a=1"),
        ("https://a.example/?a&&b", "https://a.example/?a&b"),
    ],
)
def test_tracking_and_session_ids_do_not_make_another_page(
    text: str, expected: str
) -> None:
    assert canonical_url(text) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.shop.co.uk", "shop.co.uk"),
        ("shop.example", "shop.example"),
        ("a.b.joe.github.io", "joe.github.io"),
        ("co.uk", None),
        ("localhost", None),
        ("93.184.216.34", None),
        ("2606:2800::1", None),
        ("www.xn--bcher-kva.de", "xn--bcher-kva.de"),
    ],
)
def test_the_registrable_domain_follows_the_public_suffix_list(
    host: str, expected: str | None
) -> None:
    assert registrable_domain(host) == expected


def test_an_address_is_its_own_site() -> None:
    assert parse_url("http://93.184.216.34/").site == "93.184.216.34"
    assert parse_url("http://[2606::1]/").authority == "[2606::1]"


def test_the_parts_are_those_of_a_request() -> None:
    url = parse_url("https://www.shop.co.uk:8443/a?b=c#d")

    assert url == Url("https", "www.shop.co.uk", 8443, "/a", "b=c")
    assert url.authority == "www.shop.co.uk:8443"
    assert url.origin == "https://www.shop.co.uk:8443"
    assert url.target == "/a?b=c"
    assert url.site == "shop.co.uk"


hostile = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="ahtps:/\\.@?#%[]0127x①。\t ﹒", max_size=40).map(
        "http:{}".format
    ),
    st.text(alphabet="abc./\\%2e;:=&?", max_size=40).map("http://a.example/{}".format),
)


@given(hostile, st.one_of(st.none(), st.just(BASE)))
def test_any_text_is_a_stable_url_or_refused(text: str, base: Url | None) -> None:
    try:
        url = parse_url(text, base)
    except InvalidUrl:
        return

    assert parse_url(str(url)) == url
    assert canonical(canonical(url)) == canonical(url)
    assert str(url).isascii()
    assert str(url).isprintable()
    assert " " not in str(url)
    assert len(str(url)) <= MAX_LENGTH
    assert url.site
