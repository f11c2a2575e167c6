"""Halves of UTF-16 pairs cost no more than other characters, wherever they stand."""

import codecs
from collections.abc import Callable

import pytest

from contact_extraction.contacts.finder import find_contacts
from contact_extraction.errors import BadSitemap
from contact_extraction.html import parse_page
from contact_extraction.sitemap import parse_sitemap
from contact_extraction.utf16 import MAX_WRONG, PIECE_BYTES
from extraction_tests.pace import takes_at_most

pytestmark = pytest.mark.slow


MEBIBYTE = 1024 * 1024
LONE = "\ud800"
JSON_LD = '<script type="application/ld+json">{"@type": "Dentist", %s}</script>'


def in_utf16(text: str, mark: bytes = codecs.BOM_UTF16_LE) -> bytes:
    codec = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
    return mark + text.encode(codec, "surrogatepass")


def addresses(page: bytes) -> list[str]:
    return [email.address for email in find_contacts(page, "https://acme.com/").emails]


@pytest.mark.parametrize(
    "read",
    [
        parse_page,
        lambda body: parse_page(body, encoding="utf-16-le"),
        lambda body: parse_page(body[2:], encoding="utf-16-le"),
    ],
    ids=["parsed by its mark", "by mark and label", "by label alone"],
)
def test_four_megabytes_of_lone_surrogates_once_took_a_second_to_decode(
    read: Callable[[bytes], object],
) -> None:
    body = in_utf16("<p>" + LONE * (2 * MEBIBYTE))

    with takes_at_most(0.1):
        read(body)


def test_a_sitemap_of_lone_surrogates_is_refused_before_all_of_it_was_decoded() -> None:
    body = in_utf16('<?xml version="1.0"?><urlset>' + LONE * (2 * MEBIBYTE))

    with (
        takes_at_most(0.1),
        pytest.raises(BadSitemap, match="not written in the encoding it says"),
    ):
        parse_sitemap(body)


def test_four_megabytes_of_escaped_surrogates_in_json_ld_are_read_in_a_moment() -> None:
    name = "\\ud800" * (MEBIBYTE // 8)
    page = (JSON_LD % f'"name": "{name}", "email": "jo@acme.com"') * 5

    with takes_at_most(0.5):
        assert addresses(page.encode()) == ["jo@acme.com"]


@pytest.mark.parametrize(
    "name",
    ["Smile \\ud83d", "\\ude00 Smile", "\\ud83d\\ud83d\\ude00", "\\uD83D\\u0041"],
)
def test_an_emoji_cut_in_half_once_cost_the_whole_json_ld(name: str) -> None:
    page = JSON_LD % f'"name": "{name}", "email": "jo@acme.com"'

    assert addresses(page.encode()) == ["jo@acme.com"]


def test_a_whole_emoji_in_broken_json_ld_is_kept() -> None:
    page = parse_page(JSON_LD % '"name": "Smile \\ud83d\\ude00",')

    assert [thing["name"] for thing in page.json_ld] == ["Smile 😀"]


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_a_page_in_utf_16_is_read_past_a_few_lone_surrogates(mark: bytes) -> None:
    text = f"<p>{LONE * 50}</p><p>{'é' * PIECE_BYTES}😀</p><p>jo@acme.com</p>"

    page = parse_page(in_utf16(text, mark))

    assert addresses(in_utf16(text, mark)) == ["jo@acme.com"]
    assert page.lines[1].text == "é" * PIECE_BYTES + "😀"


def test_what_follows_ten_thousand_lone_surrogates_is_not_text() -> None:
    text = (
        f"<p>jo@acme.com {LONE * (MAX_WRONG + 1)}</p>{' ' * PIECE_BYTES}<p>ann@acme.com"
    )

    assert addresses(in_utf16(text)) == ["jo@acme.com"]
