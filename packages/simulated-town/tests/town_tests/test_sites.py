"""The truth is checked against what is really served, with decoders of our own."""

import html
import re

import pytest

from simulated_town.business import Disguise, Mailbox, PageKind, SiteKind
from simulated_town.plan import TownPlan
from simulated_town.town import Town
from town_tests.rig import Served
from town_tests.visitor import Visitor

ADDRESS = re.compile(r"[a-z0-9._-]+@[a-z0-9.-]+\.[a-z]{2,}")
READS_ALL = pytest.mark.xdist_group("town-reading")
"""With the others that read every page: they are fetched once."""
NOT_ADDRESSES = ("@2x.png", "@example.com", "@sentry.wixpress.com")


def is_written(box: Mailbox, page: str) -> bool:
    address = box.address
    local, _, domain = address.partition("@")
    match box.disguise:
        case Disguise.TEXT | Disguise.MAILTO | Disguise.IMAGE_ALT:
            return address in page
        case Disguise.ENTITIES:
            return address not in page and address in html.unescape(page)
        case Disguise.AT_DOT:
            loose = re.sub(r"\s*[\[(]\w+[\])]\s*", "~", page)
            return f"{local}~{domain}" in loose or (
                f"{local}~{domain.replace('.bv', '~bv')}" in loose
            )
        case Disguise.CLOUDFLARE:
            codes = re.findall(r'data-cfemail="([0-9a-f]+)"', page)
            return address in [decode_cloudflare(code) for code in codes]
        case Disguise.SCRIPT:
            glued = re.sub(r"'\s*[+,]\s*'", "", page)
            return f"'{local}'" in page and (domain in glued)
        case Disguise.REVERSED:
            return "direction:rtl" in page and address[::-1] in page
        case Disguise.DATA_ATTRIBUTE:
            return f'data-user="{local}" data-domain="{domain}"' in page


def decode_cloudflare(code: str) -> str:
    data = bytes.fromhex(code)
    return "".join(chr(byte ^ data[0]) for byte in data[1:])


@READS_ALL
def test_every_true_value_stands_on_its_page(plan: TownPlan, served: Served) -> None:
    for domain, pages in served.items():
        for business in plan.owners[domain]:
            for box in business.mailboxes:
                assert is_written(box, pages[box.page].text()), (domain, box)
            for line in business.lines:
                assert line.written in pages[line.page].text(), (domain, line)
            for person in business.people:
                team = html.unescape(pages[person.page].text())
                assert person.name in team, domain
                assert person.role in team, domain
            for profile in business.profiles:
                assert profile in pages[PageKind.HOME].text()
            main = pages.get(PageKind.CONTACT, pages[PageKind.HOME])
            text = html.unescape(main.text())
            assert all(part in text for part in business.address.lines), domain


@READS_ALL
@pytest.mark.slow
def test_no_page_shows_an_address_that_is_neither_true_nor_a_decoy(
    plan: TownPlan, served: Served
) -> None:
    for domain, pages in served.items():
        owners = plan.owners[domain]
        known = {box.address for owner in owners for box in owner.mailboxes}
        known |= {address[::-1] for address in known} | set(owners[0].decoys)
        for seen in pages.values():
            text = html.unescape(seen.text())
            shown = {a for a in ADDRESS.findall(text) if not a.endswith(NOT_ADDRESSES)}
            assert shown <= known, domain


@READS_ALL
def test_no_page_links_a_number_that_is_not_true(
    plan: TownPlan, served: Served
) -> None:
    for domain, pages in served.items():
        owners = plan.owners[domain]
        known = {line.e164 for owner in owners for line in owner.lines}
        for seen in pages.values():
            assert set(re.findall(r'href="tel:([^"]+)"', seen.text())) <= known, domain


async def test_bait_is_hidden_from_people(town: Town, visitor: Visitor) -> None:
    business = next(b for b in town.plan.businesses if b.kind is SiteKind.PLAIN)

    text = (await visitor.get(f"http://{business.host}/")).text()

    assert f'<span style="display:none">{business.decoys[0]}</span>' in text
    assert f'style="display:none" href="mailto:{business.decoys[1]}"' in text


SITEMAPS = {
    SiteKind.WORDPRESS: ("/sitemap_index.xml", b"<sitemapindex"),
    SiteKind.WORDPRESS_CORE: ("/wp-sitemap.xml", b"<sitemapindex"),
    SiteKind.WIX: ("/sitemap.xml", b"<sitemapindex"),
    SiteKind.SQUARESPACE: ("/sitemap.xml", b"<image:loc>"),
    SiteKind.SHOPIFY: ("/sitemap.xml", b"sitemap_pages_1.xml?from=1&amp;to=99"),
    SiteKind.ROBOTS_SITEMAP: ("/maps/pages.xml", b"<urlset"),
    SiteKind.CHAIN: ("/maps/pages.xml", b"<urlset"),
    SiteKind.GZIP_SITEMAP: ("/sitemap.xml.gz", b"\x1f\x8b"),
    SiteKind.TEXT_SITEMAP: ("/sitemap.txt", b"http://"),
    SiteKind.FEED_ONLY: ("/feed.xml", b"<rss"),
    SiteKind.LINKED_SITEMAP: ("/map/pages.xml", b"<urlset"),
    SiteKind.PRIVATE_PATHS: ("/sitemap.xml", b"/internal/rota.html"),
    SiteKind.BROKEN_HTML: ("/sitemap.xml", b"<urlset"),
}


@pytest.mark.parametrize("kind", SITEMAPS)
async def test_each_kind_has_its_own_form_of_sitemap(
    town: Town, visitor: Visitor, kind: SiteKind
) -> None:
    path, sign = SITEMAPS[kind]
    business = next(b for b in town.plan.businesses if b.kind is kind)

    seen = await visitor.get(f"http://{business.host}{path}")

    assert seen.status == 200
    assert sign in seen.body


@pytest.mark.parametrize("kind", [SiteKind.PLAIN, SiteKind.ONE_PAGE, SiteKind.CALENDAR])
@pytest.mark.parametrize("path", ["/robots.txt", "/sitemap.xml", "/sitemap_index.xml"])
async def test_plain_sites_have_neither_rules_nor_sitemaps(
    town: Town, visitor: Visitor, kind: SiteKind, path: str
) -> None:
    business = next(b for b in town.plan.businesses if b.kind is kind)

    assert (await visitor.get(f"http://{business.host}{path}")).status == 404


SIGNS = {
    SiteKind.WORDPRESS: 'content="WordPress 6.9.1"',
    SiteKind.WIX: "Wix.com Website Builder",
    SiteKind.SQUARESPACE: "This is Squarespace",
    SiteKind.SHOPIFY: "cdn.shopify.com",
    SiteKind.FEED_ONLY: "application/rss+xml",
    SiteKind.LINKED_SITEMAP: 'rel="sitemap"',
    SiteKind.PARKED: "is parked",
    SiteKind.FOR_SALE: "for sale",
    SiteKind.BROKEN_HTML: "<b><i></b></i>",
    SiteKind.OLD_CHARSET: "charset=",
    SiteKind.CALENDAR: "/calendar/2026/11/",
    SiteKind.PRIVATE_PATHS: "/internal/rota.html",
}


@pytest.mark.parametrize("kind", SIGNS)
async def test_each_kind_shows_its_sign_on_the_home_page(
    town: Town, visitor: Visitor, kind: SiteKind
) -> None:
    business = next(b for b in town.plan.businesses if b.kind is kind)

    seen = await visitor.get(f"http://{business.host}/")

    assert seen.status == 200
    assert SIGNS[kind] in seen.body.decode("latin-1")


async def test_a_calendar_has_no_end(town: Town, visitor: Visitor) -> None:
    business = next(b for b in town.plan.businesses if b.kind is SiteKind.CALENDAR)
    path = "/calendar/2026/11/"

    for _ in range(30):
        seen = await visitor.get(f"http://{business.host}{path}")
        path = re.findall(r'href="([^"]+)" rel="next"', seen.text())[0]

    assert path == "/calendar/2029/5/"
