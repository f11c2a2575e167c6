"""Read RSS, RDF and Atom feeds as lists of pages."""

from typing import Final, NamedTuple

from contact_extraction.sitemap.generator import named_generator
from contact_extraction.sitemap.model import Dialect, Precision
from contact_extraction.sitemap.when import Moment, parse_moment
from contact_extraction.sitemap.xml_chunk import Tree

DIALECTS: Final = {"rss": Dialect.RSS, "rdf": Dialect.RDF, "feed": Dialect.ATOM}


class Post(NamedTuple):
    """One item of a feed, before its URL is looked at."""

    url: str | None
    moment: Moment
    title: str | None


def read_feed(tree: Tree) -> tuple[list[Post], tuple[str, str | None] | None]:
    """Return the posts of a feed, and its generator if it names one."""
    posts = [
        Post(_link(item), _moment(item), _first_text(item, "title"))
        for name in ("item", "entry")
        for item in tree.iter("{*}" + name)
    ]
    generator = next((_text(element) for element in tree.iter("{*}generator")), None)
    return posts, named_generator(generator) if generator else None


_DATES: Final = ("pubDate", "updated", "modified", "published", "date", "issued")
_MAX_TEXT: Final = 2_048


def _link(item: Tree) -> str | None:
    for link in item.iterchildren("{*}link"):
        href = link.get("href")
        if href and link.get("rel", "alternate") == "alternate":
            return href
        if not href and (text := _text(link)):
            return text
    # Whether a guid is a permanent link is said wrongly as often as rightly.
    guid = _first_text(item, "guid") or ""
    if guid.startswith(("http://", "https://", "/")):
        return guid
    return next((str(value) for key, value in item.items() if "about" in key), None)


def _moment(item: Tree) -> Moment:
    for name in _DATES:
        for element in item.iterchildren("{*}" + name):
            moment = parse_moment(_text(element))
            if isinstance(moment[1], Precision):
                return moment
    return None, None


def _first_text(item: Tree, name: str) -> str | None:
    return next((_text(child) for child in item.iterchildren("{*}" + name)), None)


def _text(element: Tree) -> str | None:
    return (element.text or "").strip()[:_MAX_TEXT] or None
