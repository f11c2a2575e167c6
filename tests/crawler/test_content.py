"""What a body is, in which characters, and what its meta tags ask of us."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extraction_tests.pace import takes_at_most
from scrapersky.crawler.charset import CharsetSource, decide_charset, decode
from scrapersky.crawler.encoding import CODECS
from scrapersky.crawler.head import read_hints
from scrapersky.crawler.sniff import ContentKind, sniff


@pytest.mark.parametrize(
    ("body", "header", "name", "source"),
    [
        (b"\xef\xbb\xbfx", "text/html; charset=latin-1", "utf-8", "bom"),
        ("\ufeffx".encode("utf-16-le"), "text/html", "utf-16-le", "bom"),
        (b"<meta charset=gb18030>", "text/html; charset=utf-8", "utf-8", "header"),
        (b"<meta charset=gb2312>", "text/html", "gb18030", "meta"),
        (b'<META Charset="Shift_JIS">', "text/html", "cp932", "meta"),
        (
            b'<meta http-equiv=content-type content="text/html; charset=windows-1251">',
            "text/html",
            "cp1251",
            "meta",
        ),
        (b"<?xml version='1.0' encoding='iso-8859-1'?>", "", "cp1252", "meta"),
        (b"<meta charset=utf-16>", "text/html", "utf-8", "meta"),
        (b"hello", "text/html", "utf-8", "default"),
        (b"hello", 'text/html; charset="ISO-8859-1"', "cp1252", "header"),
        (b"hello", "text/html; charset=nonsense", "utf-8", "default"),
        (b"hello", "text/html; charset=zlib", "utf-8", "default"),
        (b"hello", "text/html; charset=rot13", "utf-8", "default"),
        (b"hello", "text/html; charset=utf-7", "utf-8", "default"),
        (b"hello", "text/html; charset=unicode_escape", "utf-8", "default"),
        (b"hello", "text/html; charset=idna", "utf-8", "default"),
        (b"<meta charset=nonsense><meta charset=big5>", "", "big5hkscs", "meta"),
        (b"<!-- <meta charset=big5> --><p>", "", "utf-8", "default"),
        (b"<!-- x --><meta charset=big5>", "", "big5hkscs", "meta"),
        (b"<script>'<meta charset=big5>'</script>", "", "utf-8", "default"),
        (b" " * 9000 + b"<meta charset=koi8-r>", "", "koi8-r", "meta"),
        ("Käse".encode("cp1252"), "text/html", "cp1252", "default"),
        ("Käse".encode()[:2], "text/html", "utf-8", "default"),
    ],
)
def test_the_charset_is_decided_in_one_order(
    body: bytes, header: str, name: str, source: str
) -> None:
    found = decide_charset(body, header)

    assert (found.name, found.source) == (name, CharsetSource(source))


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("windows-874", "cp874"),
        ("x-sjis", "cp932"),
        ("Windows-31J", "cp932"),
        ("iso-8859-8-i", "iso8859-8"),
        ("x-gbk", "gb18030"),
        ("windows-949", "cp949"),
        ("ks_c_5601-1987", "cp949"),
        ("x-x-big5", "big5hkscs"),
        ("x-mac-cyrillic", "mac-cyrillic"),
        ("iso_8859-9:1989", "cp1254"),
    ],
)
def test_the_labels_of_the_web_are_known(label: str, name: str) -> None:
    assert decide_charset(b"", f"text/html; charset={label}").name == name


def test_every_known_label_can_be_decoded() -> None:
    for codec in set(CODECS.values()):
        assert b"a".decode(codec, "replace") is not None


@given(st.binary(max_size=300), st.text(max_size=60))
def test_any_bytes_become_text_a_database_takes(body: bytes, header: str) -> None:
    text = decode(body, decide_charset(body, f"text/html; charset={header}"))

    assert "\0" not in text
    text.encode()


@pytest.mark.parametrize(
    ("body", "header", "kind"),
    [
        (b"", "text/html", ContentKind.EMPTY),
        (b"<!DOCTYPE html><p>", "", ContentKind.HTML),
        (b"  \n<HTML>", "text/plain", ContentKind.HTML),
        (b"hello", "text/html", ContentKind.HTML),
        (b"hello", "text/plain", ContentKind.TEXT),
        (b"<?xml version='1.0'?><urlset>", "", ContentKind.XML),
        (b"<urlset>", "text/plain", ContentKind.XML),
        (b"<rss>", "", ContentKind.XML),
        (b"<?xml version='1.0'?><!DOCTYPE html><html>", "", ContentKind.HTML),
        (b"{}", "application/json", ContentKind.JSON),
        (b"\xff\xd8\xff\xe0JFIF", "text/html", ContentKind.IMAGE),
        (b"\x89PNG\r\n\x1a\n", "text/html", ContentKind.IMAGE),
        (b"RIFF0000WEBPVP8 ", "text/html", ContentKind.IMAGE),
        (b"%PDF-1.7", "text/html", ContentKind.DOCUMENT),
        (b"PK\x03\x04....", "text/html", ContentKind.ARCHIVE),
        (b"\x7fELF\x02\x01", "text/html", ContentKind.PROGRAM),
        (b"\x1f\x8b\x08", "application/xml", ContentKind.GZIP),
        (b"\x00\x00\x00\x18ftypmp42", "text/html", ContentKind.MEDIA),
        (bytes(range(256)), "text/html", ContentKind.BINARY),
        ("<html>é".encode("utf-16"), "text/html", ContentKind.HTML),
        (
            "<html>é".encode("utf-16-le"),
            "text/html; charset=utf-16le",
            ContentKind.HTML,
        ),
        (b"<html>a\0b" + b"text " * 20, "text/html", ContentKind.HTML),
    ],
)
def test_the_bytes_say_what_they_are(
    body: bytes, header: str, kind: ContentKind
) -> None:
    assert sniff(body, header) is kind


@pytest.mark.parametrize(
    ("page", "target"),
    [
        (b'<meta http-equiv="refresh" content="0; url=/next">', "/next"),
        (
            b"<META HTTP-EQUIV=Refresh CONTENT='3;URL=\"http://b.example/\"'>",
            "http://b.example/",
        ),
        (b'<meta content="0,url=next" http-equiv="refresh">', "next"),
        (b'<meta http-equiv="refresh" content="30; url=/later">', None),
        (b'<meta http-equiv="refresh" content="30">', None),
        (b'<!-- <meta http-equiv="refresh" content="0; url=/x"> -->', None),
        (b'<noscript><meta http-equiv="refresh" content="0; url=/x"></noscript>', None),
        (b'<script>"<meta http-equiv=refresh content=0;url=/x>"</script>', None),
        (b'<body><meta http-equiv="refresh" content="0; url=/x">', None),
        (b"<meta http-equiv=refresh content=", None),
    ],
)
def test_a_refresh_is_found_where_a_browser_would(
    page: bytes, target: str | None
) -> None:
    assert read_hints(page).refresh == target


def test_robots_meta_tags_are_recorded() -> None:
    page = b'<meta name="robots" content="noindex, nofollow"><meta name=ROBOTS content=none>'

    assert read_hints(page).robots == ("robots: noindex, nofollow", "robots: none")


@pytest.mark.parametrize(
    "page",
    [
        b"<meta " * 100_000,
        b"<!--" * 100_000,
        b"<script>" * 100_000,
        b"<meta " + b"a" * 1_000_000,
        b"<meta robots " + b"a=" * 500_000,
        b'<meta robots content="' * 50_000,
        b"<meta robots" + b" " * 1_000_000,
    ],
)
def test_no_page_keeps_us_looking(page: bytes) -> None:
    with takes_at_most(0.5):
        read_hints(page)
        decide_charset(page, "text/html")
        sniff(page, "text/html")


def test_four_megabytes_of_lone_surrogates_once_took_a_second_to_decode() -> None:
    body = ("\ufeff<p>" + "\ud800" * 2**21).encode("utf-16-le", "surrogatepass")

    with takes_at_most(0.1):
        decode(body, decide_charset(body, "text/html"))
