"""Score on annotated pages how many contact pages are among the first three of their site.

Who says what a contact page is must not be who ranks. Nothing here looks into the words
that the ranking uses. There are several readings, each weaker than the one before:

`shown`   People annotated a phone number, a street, an e-mail address or hours on the
          page, and it calls itself a contact page in its title or main heading; where
          none of the site's pages does, it holds the most such values of several. Its
          address is given by the file, by `canonical` or `og:url`, or by the menu, which
          marks it.
`titled`  The same, but its address is only known from a link whose whole text is what
          the page calls itself.
`called`  The page of a site that most links call contact, whatever is on it. By address
          alone this is a fair test; with link text it only shows that nothing else
          was put before it.
`richest` The page with the most annotated values although another calls itself contact:
          a list of branches or agents. Counted apart, and not part of the sum.

The pages to rank are all pages of the site that its pages in the file link to, and those
themselves. A home page is ranked with the others but never asked for: it is read for
every site before any page is ranked.
"""

import hashlib
import html
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from contact_extraction.discovery import site_links
from contact_extraction.errors import InvalidUrl
from contact_extraction.html import HtmlPage, parse_page
from contact_extraction.measuring.pages import AnnotatedPage
from contact_extraction.page_type import rank_pages
from contact_extraction.urls import Url, canonical, parse_url, registrable_domain

FIRST_PLACES: Final = 3
READINGS: Final = ("shown", "titled", "called")
RICHEST: Final = "richest"
TOGETHER: Final = "together"


@dataclass(frozen=True, slots=True)
class RankedContactPage:
    """A contact page, why it counts as one, and where it was ranked."""

    site: str
    half: int
    """0 or 1, by a hash of the site."""
    reading: str
    url: str
    by_url: int | None
    """Its place by addresses alone, from 1; None where it was left out."""
    by_text: int | None
    """Its place by addresses and the texts of links."""
    first: tuple[str, ...]
    """What stands before it with both, or by addresses alone if it is well placed so."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A page of the file, parsed, with the address its links refer to."""

    page: AnnotatedPage
    parsed: HtmlPage
    base: Url


def score_ranking(pages: Iterable[AnnotatedPage]) -> list[RankedContactPage]:
    """Rank the pages of every site of the file and say where its contact pages are."""
    sites: dict[str, list[_Seen]] = defaultdict(list)
    for page in pages:
        parsed = parse_page(page.html)
        sites[site_of(page)].append(_Seen(page, parsed, _address(page, parsed)))
    return [found for site, seen in sites.items() for found in _score_site(site, seen)]


def site_of(page: AnnotatedPage) -> str:
    """Give the domain of a page; a page without one is a site of its own."""
    host = urlsplit(page.url).hostname or ""
    return registrable_domain(host) or host or page.id


def half_of(site: str) -> int:
    """Put a site into one of two halves, always the same."""
    return hashlib.sha256(site.encode()).digest()[0] % 2


def render_ranking(found: Sequence[RankedContactPage], *, misses: int = 50) -> str:
    """Write how many are among the first three, by reading and half, and the others."""
    rows = [
        f"contact pages among the first {FIRST_PLACES} of their site",
        f"{'reading':<10}{'ranked by':<14}{'first half':>14}{'other half':>14}{'all':>14}",
    ]
    for reading in (*READINGS, TOGETHER, RICHEST):
        asked = READINGS if reading == TOGETHER else (reading,)
        of_reading = [page for page in found if page.reading in asked]
        for label, places in (
            ("URL", [(page.half, page.by_url) for page in of_reading]),
            ("URL and text", [(page.half, page.by_text) for page in of_reading]),
        ):
            shares = "".join(
                f"{_share([place for half, place in places if half in halves]):>14}"
                for halves in ((0,), (1,), (0, 1))
            )
            rows.append(f"{reading:<10}{label:<14}{shares}")
    missed = [p for p in found if not (_is_first(p.by_url) and _is_first(p.by_text))]
    if misses and missed:
        rows += ["", f"not among them (first {misses} of {len(missed)})"]
        rows += [
            f"- {p.site:<28} {p.reading:<7} by URL {p.by_url or 'left out'},"
            f" with text {p.by_text or 'left out'}: {p.url[:100]}"
            f"  after {', '.join(_path(url) for url in p.first)}"
            for p in missed[:misses]
        ]
    return "\n".join(rows)


def _share(places: Sequence[int | None]) -> str:
    hits = sum(_is_first(place) for place in places)
    percent = f"{100 * hits / len(places):.0f} %" if places else "-"
    return f"{hits}/{len(places)} {percent:>5}"


def _is_first(place: int | None) -> bool:
    return place is not None and place <= FIRST_PLACES


def _path(url: str) -> str:
    return (url.split("/", 3)[-1] or "/")[:40]


def _score_site(site: str, seen: Sequence[_Seen]) -> Iterator[RankedContactPage]:
    texts: dict[str, list[str]] = {}
    for one in seen:
        for url, named in site_links(one.parsed, str(one.base)).items():
            texts.setdefault(url, []).extend(named)
    wanted = _wanted(seen)
    for url in wanted:
        texts.setdefault(url, [])
    by_url = [url for url, _ in rank_pages(texts)]
    by_text = [url for url, _ in rank_pages(texts, texts)]
    for url, reading in wanted.items():
        place, placed = _place(by_url, url), _place(by_text, url)
        order = by_url if _is_first(placed) else by_text
        first = tuple(order[:FIRST_PLACES])
        yield RankedContactPage(site, half_of(site), reading, url, place, placed, first)


def _place(order: Sequence[str], url: str) -> int | None:
    return order.index(url) + 1 if url in order else None


def _wanted(seen: Sequence[_Seen]) -> Mapping[str, str]:
    """Give the contact pages of a site by the strongest reading there is for each."""
    found: dict[str, str] = {}
    named = [
        one for one in seen if _values(one.page) and _calls_itself_contact(one.parsed)
    ]
    richest = _richest(seen)
    for one in named or filter(None, [richest]):
        url, reading = _placed(one)
        if url and found.get(url) != "shown":
            found[url] = reading
    if not found and (url := _called_address(seen)):
        found[url] = "called"
    if named and richest and richest not in named and (url := _placed(richest)[0]):
        found.setdefault(url, RICHEST)
    return {url: reading for url, reading in found.items() if not _is_home(url)}


def _placed(one: _Seen) -> tuple[str | None, str]:
    """Give the address of a page and the reading by which it is known."""
    if own := _own_address(one):
        return own, "shown"
    marked, titled = _marked_address(one), _titled_address(one)
    if marked and titled in (marked, None):
        return marked, "shown"
    return (None if marked else titled), "titled"


def _richest(seen: Sequence[_Seen]) -> _Seen | None:
    """Give the page with more contacts than any other of its site, if there are several."""
    ordered = sorted(seen, key=lambda one: -_values(one.page))
    if len(ordered) < 2 or _values(ordered[0].page) == _values(ordered[1].page):  # noqa: PLR2004
        return None
    gold = ordered[0].page.gold
    is_enough = gold.get("PHONE") and (gold.get("STREET") or gold.get("EMAIL"))
    return ordered[0] if is_enough else None


def _values(page: AnnotatedPage) -> int:
    return sum(len(page.gold.get(label, ())) for label in _CONTACTS)


def _calls_itself_contact(page: HtmlPage) -> bool:
    return any(_names_contact(text) for text in _own_names(page))


def _own_names(page: HtmlPage) -> list[str]:
    headings = [line.text for line in page.lines if line.heading == 1]
    return [part for text in (page.title, *headings) for part in _PARTS.split(text)]


def _names_contact(text: str) -> bool:
    return bool(_CONTACT.search(text)) and not _OTHER_CONTACT.search(text)


def _address(page: AnnotatedPage, parsed: HtmlPage) -> Url:
    """Give what the page's links refer to, or a stand-in where nobody says."""
    for text in (page.url, *_stated(parsed), parsed.base, _usual_origin(parsed)):
        try:
            return parse_url(html.unescape(text))
        except InvalidUrl:
            continue
    return parse_url(f"https://page-{_UNSAFE.sub('-', page.id)}.example/")


def _stated(parsed: HtmlPage) -> Iterator[str]:
    yield from (h.href for h in parsed.head_links if "canonical" in h.rel.split())
    yield parsed.meta("og:url")


def _usual_origin(parsed: HtmlPage) -> str:
    """Give the origin of most of the page's full links, if it is most of them."""
    origins = Counter(
        "/".join(link.href.split("/", 3)[:3])
        for link in parsed.links
        if link.href.startswith(("http://", "https://"))
    )
    origin, times = max(origins.items(), key=lambda pair: pair[1], default=("", 0))
    return f"{origin}/" if times * 2 > origins.total() else ""


def _own_address(one: _Seen) -> str | None:
    if urlsplit(one.page.url).path.strip("/"):
        return _resolved(one.page.url, one)
    for text in _stated(one.parsed):
        if text and (url := _resolved(text, one)):
            return url
    return None


def _marked_address(one: _Seen) -> str | None:
    marked = {url for href in _marked(one.page.html) if (url := _resolved(href, one))}
    return marked.pop() if len(marked) == 1 else None


def _marked(markup: str) -> Iterator[str]:
    """Yield where the links lead that a menu marks as the page a visitor is on."""
    in_marked = False
    for tag in _TAG.finditer(markup):
        name, attributes = tag[1].lower(), tag[2]
        is_marked = _is_marked(attributes)
        if name == "li":
            in_marked = is_marked
        elif href := _HREF.search(attributes):
            if is_marked or in_marked:
                yield html.unescape(href[1].strip("\"'"))
            in_marked = False


def _is_marked(attributes: str) -> bool:
    if "aria-current" in attributes:
        return True
    named = _CLASS.search(attributes)
    return named is not None and not _MARKS.isdisjoint(named[1].lower().split())


def _titled_address(one: _Seen) -> str | None:
    names = {_plain(name) for name in _own_names(one.parsed)} - {""}
    targets = {
        url
        for link in one.parsed.links
        if _plain(link.text or link.title) in names
        and (url := _resolved(link.href, one))
        and not _is_home(url)
    }
    return targets.pop() if len(targets) == 1 else None


def _called_address(seen: Sequence[_Seen]) -> str | None:
    called = Counter(
        url
        for one in seen
        for link in one.parsed.links
        if _names_contact(text := link.text or link.title)
        and len(text.split()) <= _FEW_WORDS
        and (url := _resolved(link.href, one))
        and not _is_home(url)
    )
    return max(called, key=lambda url: called[url], default=None)


def _resolved(href: str, one: _Seen) -> str | None:
    if href.startswith("#"):
        return None
    try:
        base = parse_url(one.parsed.base, one.base) if one.parsed.base else one.base
        target = parse_url(href, base if base.site == one.base.site else one.base)
    except InvalidUrl:
        return None
    return str(canonical(target)) if target.site == one.base.site else None


def _is_home(url: str) -> bool:
    parts = urlsplit(url)
    name = parts.path.strip("/").partition(".")[0].lower()
    return name in _HOMES and not parts.query


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


_CONTACTS: Final = ("PHONE", "STREET", "EMAIL", "HOURS")
_FEW_WORDS: Final = 4
_HOMES: Final = frozenset(("", "index", "home", "default"))
_MARKS: Final = frozenset(
    (
        *("current", "active", "selected", "activelink", "active-link", "is-active"),
        *("current_page_item", "current-menu-item", "current-page"),
    )
)
# On purpose no part of the ranking's own lists: a few stems, in the languages we rank.
_CONTACT: Final = re.compile(
    r"contact|kontak|contatt|contat[oe]|iletişim|iletisim|ulaş|yhteys|kapcsolat"
    r"|get in touch|reach us|write to us|問い合わせ|問合せ|連絡先|联系|聯絡|문의|연락처"
    r"|контакт|связ|επικοινων|צור קשר|اتصل|liên hệ",
    re.IGNORECASE,
)
_OTHER_CONTACT: Final = re.compile(
    r"lens|lenz|linse|linze|lente|lenti|less|soczew|čočk|sport|allerg", re.IGNORECASE
)
_PARTS: Final = re.compile(r"\s+[-\u2013\u2014]\s+|[|«»]|:+(?:\s|$)")
_TAG: Final = re.compile(r"<(a|li)\b([^<>]{0,2000})>", re.IGNORECASE)
_HREF: Final = re.compile(
    r"\bhref\s{0,9}=\s{0,9}(\"[^\"]*|'[^']*|[^\s>\"']+)", re.IGNORECASE
)
_CLASS: Final = re.compile(r"\bclass\s{0,9}=\s{0,9}[\"']?([^\"'>]*)", re.IGNORECASE)
_WORD: Final = re.compile(r"\w+")
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")
