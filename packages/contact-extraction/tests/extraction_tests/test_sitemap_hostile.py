"""No bytes make the parser raise anything but its own error, hang or grow."""

import contextlib
import gzip
import itertools
import resource
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from contact_extraction.errors import BadSitemap, SitemapTooBig
from contact_extraction.sitemap import (
    Entry,
    SitemapLimits,
    SitemapReader,
    parse_sitemap,
)
from contact_extraction.sitemap.column import Items, RegularItems, read_rows
from contact_extraction.sitemap.regular import read_regular
from contact_extraction.sitemap.xml_chunk import lenient_tree
from extraction_tests.pace import takes_at_most

FIXTURES = [
    path.read_bytes()
    for path in sorted((Path(__file__).parent / "fixtures" / "sitemaps").glob("*"))
    if path.suffix != ".json"
]
MEBIBYTE = 1024 * 1024
LAUGHS = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">
<!ENTITY lol2 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;">
<!ENTITY lol3 "&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;&lol2;">]>
<urlset><url><loc>https://a.test/&lol3;</loc></url></urlset>"""


def entity(declaration: str) -> bytes:
    return (
        f'<?xml version="1.0"?><!DOCTYPE urlset [{declaration}]>'
        "<urlset><url><loc>https://a.test/&x;</loc></url></urlset>"
    ).encode()


@pytest.mark.parametrize(
    "data",
    [
        LAUGHS,
        entity('<!ENTITY x "' + "y" * 100_000 + '">'),
        entity('<!ENTITY x SYSTEM "file:///etc/passwd">'),
        entity('<!ENTITY x SYSTEM "http://169.254.169.254/latest/meta-data/">'),
        entity('<!ENTITY % p SYSTEM "http://127.0.0.1/p.dtd"> %p;'),
        b'<!DOCTYPE urlset SYSTEM "http://127.0.0.1/x.dtd"><urlset/>',
        b"<!-- c --><?pi?><!doctype urlset><urlset/>",
    ],
    ids=["laughs", "quadratic", "file", "metadata", "parameter", "external", "lower"],
)
def test_any_doctype_is_refused(data: bytes) -> None:
    with pytest.raises(BadSitemap) as caught:
        parse_sitemap(data)

    assert caught.value.outcome == "bad_xml"


@pytest.mark.parametrize(
    "data",
    [
        (
            b'<?xml-stylesheet href="http://127.0.0.1:9/x.xsl" type="text/xsl"?>'
            b"<urlset><url><loc>https://a.test/</loc></url></urlset>"
        ),
        (
            b'<urlset xmlns:xi="http://www.w3.org/2001/XInclude"><url><loc>https://a.test/'
            b'</loc><xi:include href="file:///etc/passwd" parse="text"/></url></urlset>'
        ),
    ],
)
def test_style_sheets_and_inclusions_are_never_opened(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        pytest.fail("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)

    sitemap = parse_sitemap(data)

    assert [entry.url for entry in sitemap.entries] == ["https://a.test/"]
    assert "root:" not in repr(sitemap)


KILLERS: dict[str, Callable[[int], bytes]] = {
    "nested tags": lambda size: b"<urlset>" + b"<a>" * (size // 3),
    "nested urls": lambda size: b"<urlset>" + b"<url>" * (size // 5),
    "endless attributes": lambda size: b"<urlset " + b"a=1 " * (size // 4),
    "attributes in a url": lambda size: (
        b"<urlset><url "
        + b" ".join(b'a%d="1"' % n for n in range(size // 12))
        + b"><loc>https://a.test/</loc></url></urlset>"
    ),
    "one huge location": lambda size: (
        b"<urlset><url><loc>https://a.test/" + b"x" * (12 * size)
    ),
    "open cdata": lambda size: b"<urlset>" + b"<url><loc><![CDATA[" * (size // 19),
    "open comments": lambda size: b"<urlset>" + b"<!-- </url>" * (size // 11),
    "ampersands": lambda size: (
        b"<urlset><url><loc>" + b"&" * size + b"</loc></url></urlset>"
    ),
    "unknown entities": lambda size: (
        b"<urlset><url><loc>" + b"&a;" * (size // 3) + b"</loc></url>"
    ),
    "less-than signs": lambda size: b"<urlset>" + b"<" * size,
    "greater-than signs": lambda size: b"<urlset>" + b">" * size,
    "spaces": lambda size: b" " * size + b"<urlset/>",
    "open declarations": lambda size: b"<?xml " * (size // 6),
    "almost roots": lambda size: b"<urlset " * (size // 8),
    "almost items": lambda size: b"<urlset>" + b"</url" * (size // 5),
    "empty items": lambda size: b"<urlset>" + b"<url></url>" * (size // 11),
    "bytes of nothing": lambda size: b"\0" * size,
    "one long line": lambda size: b"https://a.test/" + b"a" * size,
    "many lines": lambda size: b"https://a.test/\n" * (size // 16),
    "broken everywhere": lambda size: (
        b"<urlset>" + b"<url><loc>https://a.test/&</url>" * (size // 32)
    ),
    "feed of open items": lambda size: (
        b"<rss><channel>" + b"<item><link>" * (size // 12)
    ),
    "many processing notes": lambda size: b"<urlset>" + b"<?a ?>" * (size // 6),
}


@pytest.mark.parametrize("name", KILLERS)
@pytest.mark.parametrize(
    "size", [MEBIBYTE // 4, pytest.param(4 * MEBIBYTE, marks=pytest.mark.long)]
)
def test_a_killer_costs_at_most_a_second_per_mebibyte(name: str, size: int) -> None:
    data = KILLERS[name](size)

    with (
        takes_at_most(len(data) / MEBIBYTE),
        contextlib.suppress(BadSitemap),
    ):
        parse_sitemap(data)


def test_made_up_tag_names_do_not_stay_in_memory() -> None:
    parse_sitemap(b"<urlset/>")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for turn in range(8):
        names = b"".join(b"<n%dx%d/>" % (turn, n) for n in range(60_000))
        with pytest.raises(BadSitemap, match="different tags"):
            parse_sitemap(b"<urlset>" + names + b"</urlset>")

    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20 * 1024


def test_three_hundred_megabytes_are_cut_at_the_limit_with_flat_memory() -> None:
    item = b"<url><loc>https://a.test/%07d</loc><a>" + b"z" * 12_000 + b"</a></url>"
    reader = SitemapReader(limits=SitemapLimits(max_urls=10_000_000))
    reader.feed(b"<urlset>")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    sent = 0
    while sent < 300 * MEBIBYTE and not reader.is_done:
        block = b"".join(item % (sent + n) for n in range(20))
        sent += len(block)
        reader.feed(block)
    reader.close()

    sitemap = reader.sitemap()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert sitemap.outcome == "ok_partial"
    assert sitemap.bytes_read == 50 * MEBIBYTE
    assert 4_200 < sitemap.kept < 4_400
    assert grown < 96 * 1024


@pytest.mark.parametrize("layers", [1, 2])
def test_gzip_bombs_are_too_big(layers: int) -> None:
    data = b"<urlset>" + b" " * 30_000_000
    for _ in range(layers):
        data = gzip.compress(data, compresslevel=1)

    with pytest.raises(SitemapTooBig):
        parse_sitemap(data)


@given(st.binary(max_size=2_000))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    _read_or_refuse(data)


SCRAPS = st.binary(max_size=12) | st.sampled_from(
    [b"<", b">", b"&", b"<!--", b"]]>", b"<![CDATA[", b"</url>", b"<url>", b"\0"]
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw a sitemap of ours in which one place was overwritten."""
    fixture = draw(st.sampled_from(FIXTURES))
    at = draw(st.integers(0, len(fixture)))
    gone = draw(st.integers(0, 40))
    return fixture[:at] + draw(SCRAPS) + fixture[at + gone :]


@given(mutated())
@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
def test_mutated_sitemaps_are_read_or_refused(data: bytes) -> None:
    _read_or_refuse(data)


@pytest.mark.long
@given(mutated())
@settings(max_examples=2_000, suppress_health_check=[HealthCheck.too_slow])
def test_thousands_of_mutated_sitemaps_are_read_or_refused(data: bytes) -> None:
    _read_or_refuse(data)


@given(st.sampled_from(FIXTURES), st.lists(st.integers(0, 3_000), max_size=6))
def test_where_the_chunks_end_does_not_matter(fixture: bytes, cuts: list[int]) -> None:
    edges = sorted({0, *(cut % (len(fixture) + 1) for cut in cuts), len(fixture)})
    chunks = [fixture[a:b] for a, b in itertools.pairwise(edges)]
    reader = SitemapReader()
    pages: list[Entry] = []

    try:
        for chunk in chunks:
            pages += reader.feed(chunk)
        pages += reader.close()
    except BadSitemap as error:
        with pytest.raises(type(error)):
            parse_sitemap(fixture)
        return

    assert tuple(pages) == parse_sitemap(fixture).entries


LEAVES = ["loc", "lastmod", "changefreq", "priority"]
TIDY = st.sampled_from(
    ["https://a.test/1", "https://a.test/?a=1&amp;b=2", " https://a.test/é ", "", "0.5"]
)
ODD = st.sampled_from(
    ["a&lt;b", "&#65;", "a>b", "\t", "<!-- c -->", "]]", "<x/>", "\n2026-11-15\n"]
)


@st.composite
def slabs(draw: st.DrawFn) -> str:
    """Draw items built alike, as a rule; some lack a tag, few hold something odd."""
    others = draw(st.lists(st.sampled_from(LEAVES[1:]), unique=True))
    layout = draw(st.permutations(["loc", *others]))
    space = draw(st.sampled_from(["", "\n", "  "]))
    with_images = draw(st.booleans())
    text = draw(st.sampled_from([TIDY, TIDY, TIDY, TIDY | ODD]))
    items = []
    for _ in range(draw(st.integers(1, 6))):
        tags = layout[:-1] if draw(st.integers(0, 5)) == 0 else layout
        leaves = [f"{space}<{tag}>{draw(text)}</{tag}>" for tag in tags]
        images = draw(st.lists(text, max_size=3)) if with_images else []
        leaves += [
            f"{space}<image:image><image:loc>{one}</image:loc></image:image>"
            for one in images
        ]
        items.append(f"<url>{''.join(leaves)}{space}</url>")
    return space.join(items)


@given(slabs())
@settings(max_examples=50)
def test_splitting_gives_what_the_xml_parser_gives(slab: str) -> None:
    _splits_as_parsed(slab)


@pytest.mark.long
@given(slabs())
@settings(max_examples=2_000)
def test_splitting_gives_what_the_xml_parser_gives_thousands_of_times(
    slab: str,
) -> None:
    _splits_as_parsed(slab)


def _splits_as_parsed(slab: str) -> None:
    regular = read_regular(slab.encode(), b"url")
    assume(regular is not None and "loc" in regular.columns)
    assert regular is not None
    xml = (
        '<urlset xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
        f"{slab}</urlset>"
    )
    tree, was_mended = lenient_tree(xml.encode())

    quick, slow = RegularItems(regular), Items(tree, "url")

    assert not was_mended
    assert _rows(quick) == _rows(slow)


def _rows(items: Items | RegularItems) -> list[object]:
    urls = [(text or "").strip() or "none" for text in items.locations]
    return [
        entry._replace(images=tuple(image for image in entry.images if image))
        for entry in read_rows(items, urls).entries
    ]


def _read_or_refuse(data: bytes) -> None:
    try:
        sitemap = parse_sitemap(data, url="https://a.test/sitemap.xml", site="a.test")
    except BadSitemap:
        return
    assert sitemap.seen == sitemap.kept + sum(sitemap.dropped.values())
    assert sitemap.kept == len(sitemap.entries) + len(sitemap.sitemaps)
    assert all(entry.url.startswith("http") for entry in sitemap.entries)
