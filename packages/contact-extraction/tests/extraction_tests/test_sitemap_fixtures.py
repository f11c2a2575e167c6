"""Each file of fixtures/sitemaps beside what must be read from it."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from contact_extraction.errors import BadSitemap, HtmlNotSitemap
from contact_extraction.sitemap import Entry, Sitemap, parse_sitemap

FOLDER = Path(__file__).parent / "fixtures" / "sitemaps"
FILES = sorted(path for path in FOLDER.glob("*") if path.suffix in {".xml", ".txt"})


def as_json(value: object) -> Any:
    """Write what was read in plain JSON, without what is empty."""
    if isinstance(value, Sitemap):
        names = Sitemap.__dataclass_fields__
        value = {name: getattr(value, name) for name in names if name != "bytes_read"}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        pairs = ((str(key), as_json(inner)) for key, inner in value.items())
        return {key: inner for key, inner in pairs if inner not in (None, [], {}, 0)}
    if isinstance(value, tuple):
        return [as_json(inner) for inner in value]
    if value is None or (
        isinstance(value, int | float | str) and not isinstance(value, StrEnum)
    ):
        return value
    return str(value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_says_what_stands_beside_it(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())

    sitemap = parse_sitemap(path.read_bytes(), site=expected.get("site"))

    assert as_json(sitemap) == expected["sitemap"]


def test_every_form_of_sitemap_has_a_file() -> None:
    expected = [json.loads(path.with_suffix(".json").read_text()) for path in FILES]

    kinds = {(one["sitemap"]["kind"], one["sitemap"]["dialect"]) for one in expected}

    assert kinds >= {
        ("index", "sitemap"),
        ("standard", "sitemap"),
        ("image", "sitemap"),
        ("video", "sitemap"),
        ("news", "sitemap"),
        ("feed", "rss"),
        ("feed", "rdf"),
        ("feed", "atom"),
        ("text", "text"),
    }


def test_a_web_page_in_place_of_a_sitemap_is_a_soft_404() -> None:
    with pytest.raises(HtmlNotSitemap) as caught:
        parse_sitemap((FOLDER / "soft404.html").read_bytes())

    assert caught.value.outcome == "bad_xml"
    assert isinstance(caught.value, BadSitemap)


def test_an_entry_is_a_plain_tuple() -> None:
    entry = Entry("https://a.test/")

    assert entry.images == ()
    assert entry == ("https://a.test/", None, None, None, None, (), (), None, (), None)
