"""What a site says to machines about itself: robots.txt, sitemaps, feeds."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from simulated_town.business import Business, SiteKind
from simulated_town.sites import sitemap
from simulated_town.sites.dress import other_paths, page_paths, post_paths
from simulated_town.sites.reply import TEXT, Reply, redirect

PRIVATE_PATH: Final = "/internal/rota.html"
YOAST: Final = (
    '<?xml-stylesheet type="text/xsl" href="/wp-content/plugins/wordpress-seo/css/'
    'main-sitemap.xsl"?>'
)


def write_guide(business: Business, origin: str) -> dict[str, Reply]:
    """Write robots.txt, sitemaps and feeds as this kind of site has them."""
    pages = [origin + p for p in page_paths(business).values()]
    pages += [origin + p for p in other_paths(business).values()]
    posts = [origin + path for path in post_paths(business)]
    edited = frozenset(origin + path for path in business.edited)
    url_set = partial(sitemap.url_set, edited=edited)
    match business.kind:
        case SiteKind.WORDPRESS:
            return {
                "/robots.txt": _robots(
                    "Disallow: /wp-admin/",
                    "Allow: /wp-admin/admin-ajax.php",
                    f"Sitemap: {origin}/sitemap_index.xml",
                ),
                "/sitemap.xml": redirect(f"{origin}/sitemap_index.xml"),
                "/sitemap_index.xml": sitemap.index(
                    [
                        f"{origin}/{name}-sitemap.xml"
                        for name in ("post", "page", "category")
                    ],
                    comment=YOAST,
                ),
                "/post-sitemap.xml": url_set(posts, comment=YOAST),
                "/page-sitemap.xml": url_set(pages, comment=YOAST),
                "/category-sitemap.xml": url_set(
                    [f"{origin}/category/news/"], comment=YOAST
                ),
                "/feed/": _feed(business, origin, posts),
                "/wp-json/": Reply(b'{"name":"site"}', "application/json"),
            }
        case SiteKind.WORDPRESS_CORE:
            return {
                "/robots.txt": _robots(
                    "Disallow: /wp-admin/", f"Sitemap: {origin}/wp-sitemap.xml"
                ),
                "/wp-sitemap.xml": sitemap.index(
                    [
                        f"{origin}/wp-sitemap-posts-page-1.xml",
                        f"{origin}/wp-sitemap-posts-post-1.xml",
                    ]
                ),
                "/wp-sitemap-posts-page-1.xml": url_set(pages),
                "/wp-sitemap-posts-post-1.xml": url_set(posts),
                "/feed/": _feed(business, origin, posts),
            }
        case SiteKind.WIX:
            return {
                "/robots.txt": _robots("Allow: /", f"Sitemap: {origin}/sitemap.xml"),
                "/sitemap.xml": sitemap.index(
                    [f"{origin}/pages-sitemap.xml", f"{origin}/blog-posts-sitemap.xml"]
                ),
                "/pages-sitemap.xml": url_set(pages),
                "/blog-posts-sitemap.xml": url_set(posts),
            }
        case SiteKind.SQUARESPACE:
            return {
                "/robots.txt": _robots(
                    "Disallow: /config", f"Sitemap: {origin}/sitemap.xml"
                ),
                "/sitemap.xml": sitemap.image_url_set(
                    [*pages, *posts], "https://images.squarespace-cdn.com/content/a.jpg"
                ),
            }
        case SiteKind.SHOPIFY:
            return {
                "/robots.txt": _robots(
                    "Disallow: /cart", f"Sitemap: {origin}/sitemap.xml"
                ),
                "/sitemap.xml": sitemap.index(
                    [
                        f"{origin}/sitemap_pages_1.xml?from=1&to=99",
                        f"{origin}/sitemap_blogs_1.xml",
                    ]
                ),
                "/sitemap_pages_1.xml": url_set(pages),
                "/sitemap_blogs_1.xml": url_set(posts),
            }
        case SiteKind.PLAIN | SiteKind.ONE_PAGE | SiteKind.CALENDAR | SiteKind.SOFT_404:
            return {}
        case SiteKind.FEED_ONLY:
            return {"/feed.xml": _feed(business, origin, posts)}
        case SiteKind.LINKED_SITEMAP:
            return {"/map/pages.xml": url_set([*pages, *posts])}
        case SiteKind.ROBOTS_SITEMAP | SiteKind.CHAIN:
            return {
                "/robots.txt": _robots(
                    "Disallow: /search",
                    f"Sitemap: {origin}/maps/pages.xml",
                    f"sitemap:{origin}/maps/posts.xml",
                ),
                "/maps/pages.xml": url_set(pages),
                "/maps/posts.xml": url_set(posts),
            }
        case SiteKind.GZIP_SITEMAP:
            return {
                "/robots.txt": _robots("Allow: /", f"Sitemap: {origin}/sitemap.xml.gz"),
                "/sitemap.xml.gz": sitemap.packed(url_set([*pages, *posts])),
            }
        case SiteKind.TEXT_SITEMAP:
            return {
                "/robots.txt": _robots("Allow: /", f"Sitemap: {origin}/sitemap.txt"),
                "/sitemap.txt": sitemap.text_list([*pages, *posts]),
            }
        case SiteKind.PRIVATE_PATHS:
            return {
                "/robots.txt": _robots("Disallow: /internal/", "Crawl-delay: 1"),
                "/sitemap.xml": url_set([*pages, origin + PRIVATE_PATH]),
            }
        case _:
            return {"/sitemap.xml": url_set([*pages, *posts])}


def _robots(*lines: str) -> Reply:
    return Reply("\n".join(["User-agent: *", *lines, ""]).encode(), TEXT)


def _feed(business: Business, origin: str, posts: Sequence[str]) -> Reply:
    word = business.locale.words_for["blog"]
    named = [(f"{word} {number}", url) for number, url in enumerate(posts, 1)]
    return sitemap.feed(business.name, f"{origin}/", named)
