"""A business's own website: pages, articles, robots.txt and sitemaps."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from simulated_town.business import Business, PageKind, SiteKind
from simulated_town.sites.block import (
    contact_block,
    extra_block,
    hours_block,
    imprint_block,
    json_ld,
    press_block,
    team_block,
)
from simulated_town.sites.dress import dress_of, other_paths, page_paths, post_paths
from simulated_town.sites.guide import PRIVATE_PATH, write_guide
from simulated_town.sites.reply import Reply, Site, html, redirect

PIXEL: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc33000000"
    "0049454e44ae426082"
)
PRESS_TITLE: Final = "Press"
OLD_CHARSETS: Final = {"PL": "iso-8859-2", "JP": "shift_jis"}


@dataclass(frozen=True, slots=True)
class _Builder:
    """One site while it is written; `head` owns it, `branches` are all its owners."""

    head: Business
    branches: Sequence[Business]
    origin: str

    @property
    def words(self) -> dict[str, str]:
        return dict(self.head.locale.words_for)


def own_site(branches: Sequence[Business], origin: str) -> Site:
    """Write the whole site of a business, or of a chain of them."""
    build = _Builder(branches[0], branches, origin)
    replies = {path: html(text) for path, text in _pages(build).items()}
    replies |= _assets()
    replies |= write_guide(build.head, build.origin)
    replies |= _without_slash(replies)
    missing = html(_page(build, build.words["missing"], _missing(build)), 404)
    return Site(replies, missing)


def encode(reply: Reply, country: str) -> Reply:
    """Say a page again in the letters its country used before Unicode."""
    charset = OLD_CHARSETS.get(country, "iso-8859-1")
    text = reply.body.decode().replace('charset="utf-8"', f'charset="{charset}"')
    # What the old letters lack becomes an entity, as editors of that time did it.
    body = text.encode(charset, "xmlcharrefreplace")
    return Reply(body, "text/html", reply.status, reply.headers)


def break_up(reply: Reply) -> Reply:
    """Make the mistakes that people make by hand: unclosed, unquoted, misplaced."""
    text = reply.body.decode()
    for whole, broken in _MISTAKES:
        text = text.replace(whole, broken)
    return Reply(text.encode(), reply.type, reply.status, reply.headers)


_MISTAKES: Final = (
    ("</p>", ""),
    ("</td>", ""),
    ("</tr>", ""),
    ("</li>", ""),
    ('<div class="team-member">', "<div class=team-member><font color=navy>"),
    ("<main>", "<main><b><i></b></i><table><div>"),
    ("</main>", "</center></td>"),
    ("</body></html>", ""),
    ('<meta charset="utf-8">', "<meta charset=utf-8><body>"),
)


def _pages(build: _Builder) -> dict[str, str]:
    head, words = build.head, build.words
    paths = page_paths(head)
    bodies = {PageKind.HOME: (head.name, _home(build))}
    if PageKind.CONTACT in paths:
        bodies[PageKind.CONTACT] = (words["contact"], _contact(build))
        bodies[PageKind.ABOUT] = (words["about"], _about(build))
        bodies[PageKind.TEAM] = (words["team"], team_block(head))
    if PageKind.PRESS in paths:
        bodies[PageKind.PRESS] = (PRESS_TITLE, press_block(head))
    if PageKind.IMPRINT in paths:
        bodies[PageKind.IMPRINT] = (words["imprint"], imprint_block(head))
    pages = {}
    for kind, (title, body) in bodies.items():
        extra = ""
        if kind in {PageKind.CONTACT, PageKind.HOME}:
            extra = json_ld(build.branches, kind)
        pages[paths[kind]] = _page(build, title, body, head=extra)
    for name, path in other_paths(head).items():
        pages[path] = _page(build, words[name], _prose(build, shift=2))
    for number, path in enumerate(post_paths(head)):
        title = f"{words['blog']} {number + 1}"
        pages[path] = _page(build, title, _prose(build, shift=number))
    if head.kind is SiteKind.PRIVATE_PATHS:
        rota = f"<p>{head.decoys[-1]}</p>"
        pages[PRIVATE_PATH] = _page(build, "Rota", rota)
    return pages


def _page(build: _Builder, title: str, body: str, *, head: str = "") -> str:
    dress, business = dress_of(build.head), build.head
    language = business.locale.language
    description = business.locale.sentences[0].format(name=business.name)
    whole = title if title == business.name else f"{title} | {business.name}"
    return (
        f'<!DOCTYPE html>{dress.lead}<html lang="{language}"><head>'
        f'<meta charset="utf-8"><title>{escape(whole)}</title>'
        f'<meta name="description" content="{escape(description)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"{dress.head.format(origin=build.origin)}{_links_in_head(build)}{head}"
        f"<style>.away{{position:absolute;left:-9999px}}</style></head>"
        f'<body class="{dress.body_class}">{_header(build)}<main>'
        f"<h1>{escape(title)}</h1>{body}</main>{_footer(build)}{dress.foot}"
        "</body></html>"
    )


def _links_in_head(build: _Builder) -> str:
    if build.head.kind is SiteKind.LINKED_SITEMAP:
        return '<link rel="sitemap" type="application/xml" href="/map/pages.xml">'
    if build.head.kind is SiteKind.FEED_ONLY:
        return '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    return ""


def _header(build: _Builder) -> str:
    paths: dict[str, str] = {k.value: p for k, p in page_paths(build.head).items()}
    paths |= other_paths(build.head)
    words = {**build.words, PageKind.PRESS.value: PRESS_TITLE}
    items = "".join(
        f'<li><a href="{path}">{escape(words[name])}</a></li>'
        for name, path in paths.items()
    )
    if build.head.kind is SiteKind.PRIVATE_PATHS:
        items += f'<li><a href="{PRIVATE_PATH}">Rota</a></li>'
    if build.head.kind is SiteKind.CALENDAR:
        items += '<li><a href="/calendar/2026/11/">2026</a></li>'
    return (
        f'<header><a href="/"><img src="/assets/logo@2x.png" '
        f'alt="{escape(build.head.name)}"></a><nav><ul>{items}</ul></nav></header>'
    )


def _footer(build: _Builder) -> str:
    profiles = "".join(
        f'<a href="{profile}" rel="noopener">{profile.split("/")[2]}</a> '
        for profile in build.head.profiles
    )
    return f"<footer>{profiles}<p>© 2026 {escape(build.head.name)}</p>{_bait(build)}</footer>"


def _bait(build: _Builder) -> str:
    """Hide addresses from people, so that only machines take them."""
    first, second, *_ = build.head.decoys
    return (
        f'<span style="display:none">{first}</span>'
        f'<a class="away" style="display:none" href="mailto:{second}">.</a>'
    )


def _home(build: _Builder) -> str:
    body = _prose(build, shift=0)
    if build.head.is_closed:
        body = f"<p>{escape(build.words['gone_for_good'])}</p>{body}"
    if build.head.kind is SiteKind.ONE_PAGE:
        body += contact_block(build.head, PageKind.HOME) + hours_block(build.head)
        body += _form(build)
    return body


def _contact(build: _Builder) -> str:
    blocks = "".join(contact_block(b, PageKind.CONTACT) for b in build.branches)
    order = f"<p>{build.words['order']} 4711-2026-{build.head.number:04d}</p>"
    return f"{blocks}{hours_block(build.head)}{_form(build)}{order}"


def _about(build: _Builder) -> str:
    return _prose(build, shift=1) + extra_block(build.head)


def _form(build: _Builder) -> str:
    words = build.words
    return (
        f'<form method="post" action="/send"><h3>{words["write"]}</h3>'
        f'<input name="name" placeholder="{words["name_field"]}">'
        '<input type="email" name="email" placeholder="example@example.com">'
        '<textarea name="message"></textarea><button>OK</button></form>'
    )


def _missing(build: _Builder) -> str:
    return f"<p>{build.words['missing']}</p>"


def _prose(build: _Builder, *, shift: int) -> str:
    sentences = build.head.locale.sentences
    turned = [*sentences[shift:], *sentences[:shift]]
    named = [s.format(name=escape(build.head.name)) for s in turned]
    half = len(named) // 2
    return f"<p>{' '.join(named[:half])}</p><p>{' '.join(named[half:])}</p>"


def _assets() -> dict[str, Reply]:
    picture = Reply(PIXEL, "image/png")
    return {"/assets/logo@2x.png": picture, "/assets/mail.png": picture}


def _without_slash(replies: dict[str, Reply]) -> dict[str, Reply]:
    """Send `/contact` to `/contact/`, as sites with tidy addresses do."""
    return {
        path.rstrip("/"): redirect(path)
        for path in replies
        if path.endswith("/") and path != "/"
    }
