"""Distinguish which program wrote a sitemap from what it says about itself."""

import re
from typing import Final


def find_generator(xml: bytes) -> tuple[str, str | None] | None:
    """Return name and version of the program that comments or style sheets name."""
    if b"<!--" not in xml and b"<?" not in xml:
        return None
    for note in _NOTE.findall(xml)[:_MAX_NOTES]:
        text = note.decode("utf-8", "replace")
        for name, pattern in _PROGRAMS:
            if found := pattern.search(text):
                return name, _version(found)
    return None


def named_generator(text: str) -> tuple[str, str | None]:
    """Split what a feed's `<generator>` says into name and version."""
    if found := re.search(r"wordpress\.(?:org|com)(?:/\?v=([\d.]{1,20}))?", text):
        return "WordPress", found[1]
    if found := re.fullmatch(r"(.{1,60}?)[\s/]+v?(\d[\w.]{0,20})\W*", text.strip()):
        return found[1], found[2]
    return text.strip()[:60], None


def _version(found: re.Match[str]) -> str | None:
    version = found.groupdict().get("version")
    return version.rstrip(".") if version else None


_MAX_NOTES: Final = 20
# A note never holds another one, so an unclosed one cannot make the search go square.
_NOTE: Final = re.compile(rb"<(?:!--|\?)[^<]{1,1000}?(?:--|\?)>")
_V: Final = r"[\s/-]*v?(?P<version>\d[\d.]{0,20})?"
_PROGRAMS: Final = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("Yoast SEO", r"yoast(?:\s+(?:wordpress\s+)?seo)?" + _V),
        ("Yoast SEO", r"plugins/wordpress-seo"),
        ("Rank Math", r"rank\s?math|/main-sitemap\.xsl"),
        ("All in One SEO", r"all in one seo(?: pack)?" + _V),
        ("All in One SEO", r"/default-sitemap\.xsl|aioseo"),
        ("SEOPress", r"seopress|sitemaps(?:-|_)xsl\.xsl"),
        ("The SEO Framework", r"the seo framework|autodescription"),
        ("Squirrly SEO", r"squirrly"),
        ("Slim SEO", r"slim[- ]seo"),
        ("Google XML Sitemaps", r'arnebrachhold.*?version="(?P<version>[\d.]{1,20})"'),
        ("Google XML Sitemaps", r"arnebrachhold|google-sitemap-generator"),
        ("Jetpack", r"jetpack" + _V),
        ("Simple XML Sitemap (Drupal)", r"simple xml sitemap|simple_sitemap"),
        ("XML Sitemap (Drupal)", r"xmlsitemap"),
        ("TYPO3", r"typo3"),
        ("OSMap (Joomla)", r"osmap"),
        ("JSitemap (Joomla)", r"jsitemap|jmap"),
        ("PrestaShop", r"prestashop"),
        ("Magento", r"magento"),
        ("Shopify", r"shopify|parent sitemap linking to additional sitemaps"),
        ("Wix", r"\bwix\b"),
        ("Squarespace", r"squarespace"),
        ("Webflow", r"webflow"),
        ("Duda", r"\bduda\b"),
        ("Ghost", r"\bghost\b|/sitemap\.xsl.*ghost"),
        ("Hugo", r"\bhugo\b" + _V),
        ("Jekyll", r"jekyll" + _V),
        ("Gatsby", r"gatsby"),
        ("Next.js", r"next-sitemap"),
        ("Screaming Frog", r"screaming\s?frog(?: seo spider)?" + _V),
        ("XML-Sitemaps.com", r"xml-sitemaps\.com"),
        ("WordPress", r'generator=["\']wordpress' + _V),
        ("WordPress", r"wp-sitemap(?:-index)?\.xsl|wp-(?:content|includes)/"),
    )
)
