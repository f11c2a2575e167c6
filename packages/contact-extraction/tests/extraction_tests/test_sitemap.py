"""What the parser promises for any sitemap: limits, forms, encodings, streams."""

import codecs
import gzip
import tracemalloc
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_extraction.errors import BadSitemap, HtmlNotSitemap, SitemapTooBig
from contact_extraction.sitemap import (
    Dialect,
    Drop,
    Precision,
    SitemapKind,
    SitemapLimits,
    SitemapReader,
    Truncation,
    parse_moment,
    parse_sitemap,
    stream_sitemap,
)
from contact_extraction.sitemap.when import parse_moments

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(*items: str, declaration: str = "") -> bytes:
    body = "\n".join(f"<url>{item}</url>" for item in items)
    return f'{declaration}<urlset xmlns="{NAMESPACE}">\n{body}\n</urlset>'.encode()


def locations(count: int, *, extra: str = "") -> bytes:
    return urlset(*(f"<loc>https://a.test/page-{n}</loc>{extra}" for n in range(count)))


def urls(data: bytes, **options: object) -> list[str]:
    return [entry.url for entry in parse_sitemap(data, **options).entries]  # type: ignore[arg-type]


def test_gzip_is_known_by_its_magic_number() -> None:
    sitemap = parse_sitemap(gzip.compress(locations(3)))

    assert sitemap.kept == 3
    assert sitemap.was_gzip


def test_gzip_in_gzip_and_several_members_are_unpacked() -> None:
    data = locations(3)
    members = gzip.compress(data[:50]) + gzip.compress(data[50:])

    assert urls(gzip.compress(gzip.compress(data))) == urls(data)
    assert urls(members) == urls(data)


def test_a_third_layer_of_gzip_is_refused() -> None:
    data = gzip.compress(gzip.compress(gzip.compress(locations(3))))

    with pytest.raises(SitemapTooBig):
        parse_sitemap(data)


def test_a_gzip_bomb_is_refused_before_it_unfolds() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 60_000_000)

    tracemalloc.start()
    with pytest.raises(SitemapTooBig) as caught:
        parse_sitemap(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert caught.value.outcome == "too_big"
    assert peak < 8 * 1024 * 1024


def test_a_gzip_file_that_ends_early_gives_what_it_holds() -> None:
    packed = gzip.compress(locations(20_000))

    sitemap = parse_sitemap(packed[: len(packed) // 2])

    assert sitemap.cut is Truncation.ENDED_EARLY
    assert sitemap.outcome == "ok_partial"
    assert 5_000 < sitemap.kept < 20_000


def test_damaged_gzip_gives_what_came_before_the_damage() -> None:
    packed = bytearray(gzip.compress(locations(20_000)))
    packed[len(packed) // 2] ^= 0xFF

    sitemap = parse_sitemap(bytes(packed))

    assert sitemap.cut in {Truncation.DAMAGED_GZIP, Truncation.ENDED_EARLY}
    assert sitemap.kept > 100


def test_gzip_that_is_none_is_a_typed_error() -> None:
    with pytest.raises(BadSitemap):
        parse_sitemap(b"\x1f\x8b" + b"nonsense" * 10)


@pytest.mark.parametrize(
    ("mark", "name"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (b"", "utf-16-le"),
        (b"", "utf-16-be"),
    ],
)
def test_a_byte_order_mark_or_its_zeros_tell_the_encoding(
    mark: bytes, name: str
) -> None:
    text = urlset("<loc>https://a.test/é</loc>", declaration="<?xml version='1.0'?>")

    assert urls(mark + text.decode().encode(name)) == ["https://a.test/%C3%A9"]


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("ISO-8859-1", "latin-1"),
        ("windows-1251", "cp1251"),
        ("Shift_JIS", "shift_jis"),
        ("UTF-16", "utf-8"),
        ("rot13", "utf-8"),
        ("punycode", "utf-8"),
        ("no-such-thing", "utf-8"),
    ],
)
def test_the_declared_encoding_is_used_if_it_is_a_plain_one(
    declared: str, written: str
) -> None:
    letter = {"cp1251": "ж", "shift_jis": "店"}.get(written, "é")
    text = urlset(
        f"<loc>https://a.test/{letter}</loc>",
        declaration=f'<?xml version="1.0" encoding="{declared}"?>',
    )

    found = urls(text.decode().encode(written))

    assert found == urls(urlset(f"<loc>https://a.test/{letter}</loc>"))


def test_a_hidden_doctype_in_another_encoding_is_still_seen() -> None:
    text = '<?xml version="1.0"?><!DOCTYPE urlset [<!ENTITY a "b">]><urlset/>'

    with pytest.raises(BadSitemap, match="DOCTYPE"):
        parse_sitemap(text.encode("utf-16"))


def test_a_stream_gives_the_same_pages_as_the_whole() -> None:
    data = locations(3_000, extra="<lastmod>2026-11-15</lastmod>")
    reader = SitemapReader()

    chunks = (data[at : at + 777] for at in range(0, len(data), 777))
    streamed = [entry for batch in stream_sitemap(chunks, reader) for entry in batch]

    assert tuple(streamed) == parse_sitemap(data).entries
    assert reader.sitemap().kept == 3_000
    assert reader.sitemap().entries == ()


def test_one_byte_at_a_time_gives_the_same_pages() -> None:
    data = gzip.compress(locations(40))
    reader = SitemapReader()

    streamed = [
        entry
        for batch in stream_sitemap(
            (data[at : at + 1] for at in range(len(data))), reader
        )
        for entry in batch
    ]

    assert [entry.url for entry in streamed] == urls(data)


@pytest.mark.slow
def test_a_stream_of_a_large_file_keeps_memory_flat() -> None:
    item = b"<url><loc>https://a.test/%d</loc><x>%b</x></url>"
    count = 12_000

    def chunks() -> Iterator[bytes]:
        yield f'<urlset xmlns="{NAMESPACE}">'.encode()
        for number in range(count):
            yield item % (number, b"y" * 2_800)
        yield b"</urlset>"

    reader = SitemapReader()
    tracemalloc.start()
    seen = sum(len(batch) for batch in stream_sitemap(chunks(), reader))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert seen == count
    assert peak < 16 * 1024 * 1024


def test_bytes_beyond_the_limit_are_not_read() -> None:
    sitemap = parse_sitemap(locations(5_000), limits=SitemapLimits(max_bytes=50_000))

    assert sitemap.cut is Truncation.BYTES
    assert sitemap.bytes_read == 50_000
    assert 500 < sitemap.kept < 5_000


def test_urls_beyond_the_limit_are_counted_and_dropped() -> None:
    sitemap = parse_sitemap(locations(100), limits=SitemapLimits(max_urls=60))

    assert sitemap.kept == len(sitemap.entries) == 60
    assert sitemap.dropped == {Drop.OVER_LIMIT: 40}
    assert sitemap.cut is Truncation.URLS


def test_a_url_that_is_cut_off_is_never_kept_as_a_shorter_one() -> None:
    data = locations(10)
    whole = set(urls(data))

    found = {url for end in range(len(data)) for url in _urls_or_none(data[:end])}

    assert found == whole


def test_a_feed_that_is_cut_off_keeps_only_whole_urls() -> None:
    item = "<item><link>https://a.test/{}</link></item>"
    data = f"<rss><channel>{item.format('one')}{item.format('two')}".encode()

    found = {url for end in range(len(data)) for url in _urls_or_none(data[:end])}

    assert found == {"https://a.test/one", "https://a.test/two"}


def test_a_feed_larger_than_the_cap_is_cut() -> None:
    item = b"<item><link>https://a.test/%d</link><a>" + b"x" * 20_000 + b"</a></item>"
    feed = b"<rss><channel>" + b"".join(item % n for n in range(600))

    sitemap = parse_sitemap(feed)

    assert sitemap.cut is Truncation.ENDED_EARLY
    assert 400 < sitemap.kept < 600


def _urls_or_none(data: bytes) -> list[str]:
    try:
        return urls(data)
    except BadSitemap:
        return []


def test_relative_locations_are_resolved_where_the_file_is_known() -> None:
    data = urlset("<loc>/contact</loc>", "<loc>team</loc>")

    assert urls(data, url="https://a.test/sitemaps/1.xml") == [
        "https://a.test/contact",
        "https://a.test/sitemaps/team",
    ]
    assert parse_sitemap(data).dropped == {Drop.BAD_URL: 2}


def test_a_long_url_is_dropped_as_too_long() -> None:
    data = urlset(f"<loc>https://a.test/{'x' * 3000}</loc>")

    assert parse_sitemap(data).dropped == {Drop.TOO_LONG: 1}


def test_an_empty_sitemap_says_why_it_gives_nothing() -> None:
    assert parse_sitemap(b"<urlset/>").empty_because == "the sitemap names no URLs"
    other = parse_sitemap(locations(2), site="b.test")
    assert other.empty_because == "all 2 URLs were dropped: other_host 2"
    assert parse_sitemap(locations(2)).empty_because is None


def test_values_stay_with_their_page_when_tags_are_missing_or_doubled() -> None:
    data = urlset(
        "<loc>https://a.test/1</loc><loc>https://a.test/1b</loc>",
        "<lastmod>2026-01-02</lastmod><lastmod>2026-01-03</lastmod>"
        "<loc>https://a.test/2</loc>",
        "<loc>https://a.test/3</loc><priority>0.3</priority>",
    )

    entries = parse_sitemap(data).entries

    assert [(entry.url[-1], entry.priority) for entry in entries] == [
        ("1", None),
        ("2", None),
        ("3", 0.3),
        ("b", None),
    ]
    assert [entry.lastmod for entry in entries] == [
        None,
        datetime(2026, 1, 2, tzinfo=UTC),
        None,
        None,
    ]


def test_a_location_without_its_scheme_is_not_read_as_a_path() -> None:
    data = urlset(
        "<loc>www.a.test/</loc>", "<loc>a.test/team</loc>", "<loc>about.html</loc>"
    )

    entries = parse_sitemap(data, url="https://a.test/map.xml", site="a.test").entries

    assert [entry.url for entry in entries] == [
        "https://www.a.test/",
        "https://a.test/team",
        "https://a.test/about.html",
    ]


def test_an_item_without_a_location_is_read_by_its_text_or_its_link() -> None:
    data = (
        b"<urlset><url>https://a.test/1</url>"
        b"<url><link href='https://a.test/2'/></url><url><priority>1</priority></url>"
        b"<url><loc>https://a.test/3</loc></url></urlset>"
    )

    found = parse_sitemap(data)

    assert [entry.url[-1] for entry in found.entries] == ["1", "2", "3"]
    assert found.dropped == {Drop.EMPTY: 1}


def test_a_second_location_of_a_child_sitemap_is_kept() -> None:
    data = (
        b"<sitemapindex><sitemap><loc>https://a.test/1.xml</loc>"
        b"<loc>https://a.test/2.xml</loc></sitemap></sitemapindex>"
    )

    assert len(parse_sitemap(data).sitemaps) == 2


def test_lines_of_text_that_are_not_urls_are_counted_not_kept() -> None:
    data = b"https://a.test/1\nLast change: today\n<b>x</b>\nwww.a.test/2 Home\n/3\n"

    found = parse_sitemap(data, url="https://a.test/urls.txt", site="a.test")

    assert [entry.url[-1] for entry in found.entries] == ["1", "2", "3"]
    assert found.dropped == {Drop.BAD_URL: 2}


def test_an_item_of_a_feed_with_only_a_guid_is_read_if_that_is_a_url() -> None:
    data = (
        b"<rss><channel><item><guid isPermaLink='false'>https://a.test/1</guid></item>"
        b"<item><guid>post-77</guid></item></channel></rss>"
    )

    entries = parse_sitemap(data, url="https://a.test/feed").entries

    assert [entry.url for entry in entries] == ["https://a.test/1"]


def test_urls_and_child_sitemaps_may_stand_together() -> None:
    data = (
        b"<urlset><url><loc>https://a.test/1</loc></url>"
        b"<sitemap><loc>https://a.test/s.xml</loc></sitemap></urlset>"
    )

    sitemap = parse_sitemap(data)

    assert [entry.url for entry in sitemap.entries] == ["https://a.test/1"]
    assert [entry.url for entry in sitemap.sitemaps] == ["https://a.test/s.xml"]
    assert sitemap.kind is SitemapKind.STANDARD


def test_an_index_that_says_urlset_is_still_an_index() -> None:
    data = b"<urlset><sitemap><loc>https://a.test/s.xml</loc></sitemap></urlset>"

    assert parse_sitemap(data).kind is SitemapKind.INDEX


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no bytes"),
        (b"  \n ", "no bytes"),
        (b'{"urls": []}', "JSON"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"\x89PNG\r\n", "image"),
        (b"not found", "neither XML nor a list"),
        (b"<svg><rect/></svg>", "root is <svg>"),
        (b"<?xml version='1.0'?>", "neither XML nor a list"),
    ],
)
def test_what_is_no_sitemap_says_what_it_is(data: bytes, words: str) -> None:
    with pytest.raises(BadSitemap, match=words):
        parse_sitemap(data)


@pytest.mark.parametrize(
    "page",
    [
        b"<!doctype html><p>404",
        b"<html><body>",
        b"<!-- saved --><HTML>",
        b"\xef\xbb\xbf<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><html>",
        b"<?xml version='1.0'?><!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'/>",
        b"<script>location='/'</script>",
    ],
)
def test_every_kind_of_web_page_is_a_soft_404(page: bytes) -> None:
    with pytest.raises(HtmlNotSitemap):
        parse_sitemap(page)


@pytest.mark.parametrize(
    ("text", "when", "precision"),
    [
        ("2026", (2026, 1, 1), Precision.YEAR),
        ("2026-11", (2026, 11, 1), Precision.MONTH),
        ("2026-11-15", (2026, 11, 15), Precision.DAY),
        ("2026/11/5", (2026, 11, 5), Precision.DAY),
        ("2026-11-15T09:30Z", (2026, 11, 15, 9, 30), Precision.MINUTE),
        ("2026-11-15T09:30:10Z", (2026, 11, 15, 9, 30, 10), Precision.SECOND),
        ("2026-11-15T09:30:10+02:00", (2026, 11, 15, 7, 30, 10), Precision.SECOND),
        ("2026-11-15T09:30:10+0200", (2026, 11, 15, 7, 30, 10), Precision.SECOND),
        ("2026-11-15 09:30:10 UTC", (2026, 11, 15, 9, 30, 10), Precision.SECOND),
        (
            "2026-11-15T09:30:10.5Z",
            (2026, 11, 15, 9, 30, 10, 500_000),
            Precision.FRACTION,
        ),
        ("Sun, 15 Nov 2026 09:30:10 GMT", (2026, 11, 15, 9, 30, 10), Precision.SECOND),
        (" 2026-11-15\n", (2026, 11, 15), Precision.DAY),
        ("2026-11-15 around noon", (2026, 11, 15), Precision.DAY),
    ],
)
def test_a_time_keeps_how_much_of_it_was_written(
    text: str, when: tuple[int, ...], precision: Precision
) -> None:
    expected = datetime(*when, tzinfo=UTC)  # type: ignore[misc, arg-type]

    assert parse_moment(text) == (expected, precision)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-13-01",
        "0000-00-00",
        "0001-01-01T00:00:00+14:00",
        "9" * 500,
        "٢٠٢٦",
    ],
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_moment(text) == (None, None)


@given(
    st.lists(
        st.none()
        | st.sampled_from(
            ["2026-11-15T09:30:10Z", "2026-11-14T09:30:10Z", "2026-11-15", "2026-11"]
        )
        | st.text("0123456789-T:Z+ ", max_size=26),
        max_size=8,
    )
)
def test_a_column_of_times_is_read_like_its_times_one_by_one(
    texts: list[str | None],
) -> None:
    times, precisions = parse_moments(texts)

    one_by_one = [parse_moment(text) for text in texts]

    assert list(zip(times, precisions, strict=True)) == one_by_one


@pytest.mark.parametrize(
    ("note", "name", "version"),
    [
        ("XML Sitemap generated by Yoast SEO", "Yoast SEO", None),
        (
            "XML Sitemap generated by Rank Math SEO Plugin (c) Rank Math",
            "Rank Math",
            None,
        ),
        (
            (
                "This sitemap was dynamically generated on November 1, 2026 by "
                "All in One SEO v4.8.1 - the original SEO plugin"
            ),
            "All in One SEO",
            "4.8.1",
        ),
        (
            (
                'sitemap-generator-url="http://www.arnebrachhold.de" '
                'sitemap-generator-version="4.1.21"'
            ),
            "Google XML Sitemaps",
            "4.1.21",
        ),
        ("generator='jetpack-13.2'", "Jetpack", "13.2"),
        (
            "Generated by the Simple XML Sitemap Drupal module",
            "Simple XML Sitemap (Drupal)",
            None,
        ),
        ('generator="WordPress/6.8"', "WordPress", "6.8"),
        ("created with www.xml-sitemaps.com", "XML-Sitemaps.com", None),
    ],
)
def test_a_comment_names_the_generator(
    note: str, name: str, version: str | None
) -> None:
    before = parse_sitemap(f"<!-- {note} -->".encode() + locations(2))
    after = parse_sitemap(locations(2) + f"\n<!-- {note} -->".encode())

    assert (before.generator, before.generator_version) == (name, version)
    assert (after.generator, after.generator_version) == (name, version)


def test_a_text_file_longer_than_one_piece_is_read_whole() -> None:
    data = "\n".join(f"https://a.test/{n}" for n in range(20_000)).encode()

    sitemap = parse_sitemap(data)

    assert (sitemap.kind, sitemap.dialect) == (SitemapKind.TEXT, Dialect.TEXT)
    assert sitemap.kept == 20_000


def test_a_slab_boundary_inside_a_comment_brings_nothing_back_to_life() -> None:
    hidden = b"".join(
        b"<url><loc>https://a.test/hidden-%d</loc></url>" % n for n in range(4_000)
    )
    shown = b"<url><loc>https://a.test/shown</loc></url>"

    assert urls(b"<urlset>" + shown + b"<!--" + hidden + b"--></urlset>") == [
        "https://a.test/shown"
    ]


def test_raw_deflate_is_not_taken_for_a_sitemap() -> None:
    with pytest.raises(BadSitemap):
        parse_sitemap(zlib.compress(locations(3)))
