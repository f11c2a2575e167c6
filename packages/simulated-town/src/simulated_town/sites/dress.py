"""What distinguishes one way of building websites from another: paths, heads, bodies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from simulated_town.business import Business, PageKind, SiteKind


@dataclass(frozen=True, slots=True)
class Dress:
    """The marks a site builder leaves on every page."""

    path: str
    """How a page's address is made from its slug."""
    post: str
    head: str = ""
    body_class: str = "site"
    foot: str = ""
    lead: str = ""
    """What stands before everything else, like a comment."""


_PLAIN: Final = Dress(path="/{slug}.html", post="/{blog}/{slug}.html")
_WORDPRESS: Final = Dress(
    path="/{slug}/",
    post="/2026/0{month}/{slug}/",
    head=(
        '<meta name="generator" content="WordPress 6.9.1">'
        '<meta name="generator" content="Elementor 3.33.2; features: e_font_icon_svg">'
        '<link rel="https://api.w.org/" href="{origin}/wp-json/">'
        '<link rel="EditURI" type="application/rsd+xml" href="{origin}/xmlrpc.php?rsd">'
        '<link rel="stylesheet" href="/wp-content/themes/hello-elementor/style.min.css">'
        '<link rel="alternate" type="application/rss+xml" href="{origin}/feed/">'
    ),
    body_class="wp-singular page-template-default page elementor-default",
    foot='<script src="/wp-includes/js/jquery/jquery.min.js?ver=3.7.1"></script>',
)
DRESSES: Final[Mapping[SiteKind, Dress]] = {
    SiteKind.WORDPRESS: _WORDPRESS,
    SiteKind.WORDPRESS_CORE: _WORDPRESS,
    SiteKind.WIX: Dress(
        path="/{slug}",
        post="/post/{slug}",
        head=(
            '<meta name="generator" content="Wix.com Website Builder">'
            '<link rel="preconnect" href="https://static.parastorage.com">'
            '<link rel="icon" href="https://static.wixstatic.com/media/icon.png">'
        ),
        body_class="responsive",
        foot=(
            '<script id="sentry" data-dsn='
            '"https://605a7baede844d278b89dc95ae0a9123@sentry.wixpress.com/68"></script>'
        ),
    ),
    SiteKind.SQUARESPACE: Dress(
        path="/{slug}",
        post="/blog/{slug}",
        head=(
            '<link rel="stylesheet" href="https://static1.squarespace.com/static/site.css">'
            "<script>Static.SQUARESPACE_CONTEXT = {{}};</script>"
        ),
        body_class="tweak-site sqs-seven-one",
        lead="<!-- This is Squarespace. -->",
    ),
    SiteKind.SHOPIFY: Dress(
        path="/pages/{slug}",
        post="/blogs/news/{slug}",
        head=(
            '<link rel="preconnect" href="https://cdn.shopify.com">'
            "<script>var Shopify = Shopify || {{}}; Shopify.theme = "
            '{{"name":"Dawn","id":1}};</script>'
        ),
        body_class="template-page",
    ),
}


def dress_of(business: Business) -> Dress:
    """Return how the business's site is built."""
    return DRESSES.get(business.kind, _PLAIN)


def page_paths(business: Business) -> Mapping[PageKind, str]:
    """Return where the pages stand that say how to reach someone."""
    if business.kind is SiteKind.ONE_PAGE:
        return {PageKind.HOME: "/"}
    dress = dress_of(business)
    paths = {PageKind.HOME: "/"}
    for kind in (PageKind.CONTACT, PageKind.ABOUT, PageKind.TEAM, PageKind.IMPRINT):
        if slug := business.locale.paths.get(kind.value):
            paths[kind] = dress.path.format(slug=slug)
    if any(box.page is PageKind.PRESS for box in business.mailboxes):
        slug = f"{business.locale.paths['contact']}-press"
        paths[PageKind.PRESS] = dress.path.format(slug=slug)
    return paths


def other_paths(business: Business) -> Mapping[str, str]:
    """Return where the pages stand on which nobody can be reached, by what they are."""
    if business.kind is SiteKind.ONE_PAGE:
        return {}
    dress, paths = dress_of(business), business.locale.paths
    return {
        "offer": dress.path.format(slug=paths["offer"]),
        "blog": dress.path.format(slug=paths["blog"]),
        "privacy": dress.path.format(slug=paths["privacy"]),
    }


def post_paths(business: Business) -> tuple[str, ...]:
    """Return the addresses of the business's few articles."""
    if business.kind is SiteKind.ONE_PAGE:
        return ()
    dress, blog = dress_of(business), business.locale.paths["blog"]
    return tuple(
        dress.post.format(slug=slug, month=month, blog=blog)
        for month, slug in enumerate(("spring-news", "summer-break", "new-rooms"), 3)
    )
