"""Our own extraction reads the town: pages are found, contacts too, and none invented."""

import asyncio
from collections.abc import Iterator

import pytest

from contact_extraction.contacts.finder import find_contacts
from contact_extraction.discovery import page_links, sitemap_candidates
from contact_extraction.errors import BadSitemap
from contact_extraction.html import HtmlPage, parse_page
from contact_extraction.page_type import rate_page
from contact_extraction.site import read_site_facts
from contact_extraction.sitemap import parse_sitemap
from contact_extraction.verdict import judge_site, verdict_of_url
from simulated_town.business import Business, ExpectedVerdict, SiteKind
from simulated_town.invent import NOTHING_TO_READ
from simulated_town.plan import TownPlan, plan_town
from simulated_town.sites.dress import page_paths
from simulated_town.sites.render import render_site
from simulated_town.sites.reply import Site
from simulated_town.truth import (
    FactKind,
    SiteFact,
    TruthComparison,
    truth_of,
    verdict_of,
)
from town_tests.rig import READ, Served, fetch_all

LIKELY = 0.5
pytestmark = pytest.mark.xdist_group("town-reading")  # all read one report


@pytest.fixture(scope="module")
def read_plan() -> TownPlan:
    return plan_town(READ)


@pytest.fixture(scope="module")
def comparison(read_plan: TownPlan) -> TruthComparison:
    served = asyncio.run(fetch_all(read_plan))
    return truth_of(read_plan).compare(read_town(read_plan, served))


def read_town(plan: TownPlan, served: Served) -> Iterator[SiteFact]:
    for domain, pages in served.items():
        paths = page_paths(plan.owners[domain][0])
        for kind, seen in pages.items():
            url = f"http://{plan.owners[domain][0].host}{paths[kind]}"
            found = find_contacts(seen.body, url)
            for email in found.emails:
                yield SiteFact(domain, FactKind.EMAIL, email.address)
            for phone in found.phones:
                yield SiteFact(domain, FactKind.PHONE, phone.e164)
            for person in found.people:
                yield SiteFact(domain, FactKind.PERSON, person.name)
            for social in found.socials:
                yield SiteFact(domain, FactKind.PROFILE, social.url)
            for address in found.addresses:
                code = address.postal_code or ""
                yield SiteFact(domain, FactKind.ADDRESS, code)


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        (FactKind.EMAIL, 0.99),
        (FactKind.PHONE, 0.99),
        (FactKind.PROFILE, 0.99),
        (FactKind.PERSON, 0.93),
        (FactKind.ADDRESS, 0.93),
    ],
)
def test_what_is_true_is_found(
    comparison: TruthComparison, kind: FactKind, share: float
) -> None:
    score = comparison.of(kind)

    assert score.share >= share, score.missed


@pytest.mark.parametrize("kind", [FactKind.EMAIL, FactKind.PHONE, FactKind.PROFILE])
def test_nothing_is_invented(comparison: TruthComparison, kind: FactKind) -> None:
    assert comparison.of(kind).wrong == ()


def own_sites(plan: TownPlan) -> list[Business]:
    heads = [owners[0] for owners in plan.owners.values()]
    return [head for head in heads if head.kind not in NOTHING_TO_READ]


def discovered(business: Business, site: Site) -> set[str]:
    """Every page that robots.txt, sitemaps and the home page lead to."""
    home = f"http://{business.host}/"
    page = parse_page(site.replies["/"].body)
    robots = site.replies.get("/robots.txt")
    waiting = [
        candidate.url
        for candidate in sitemap_candidates(
            home, robots=robots.body.decode() if robots else "", page=page
        )
    ]
    urls = {home, *(link.url for link in page_links(page, home))}
    read: set[str] = set()
    while waiting:
        url = waiting.pop()
        path = url.removeprefix(home[:-1]).partition("?")[0]
        if url in read or path not in site.replies:
            continue
        read.add(url)
        try:
            found = parse_sitemap(
                site.replies[path].body, url=url, site=business.domain
            )
        except BadSitemap:
            continue
        urls |= {entry.url for entry in found.entries}
        waiting += [child.url for child in found.sitemaps]
    return urls


def test_every_page_with_contacts_is_discovered(read_plan: TownPlan) -> None:
    for business in own_sites(read_plan):
        owners = read_plan.owners[business.domain or ""]
        found = discovered(business, render_site(owners))

        paths = page_paths(business).values()
        assert {f"http://{business.host}{path}" for path in paths} <= found, business


def test_sitemaps_alone_lead_to_the_contact_page_where_there_are_any(
    plan: TownPlan,
) -> None:
    business = next(b for b in plan.businesses if b.kind is SiteKind.SHOPIFY)
    found = discovered(business, render_site([business]))

    assert any("/blogs/news/" in url for url in found)


def test_every_page_with_contacts_looks_worth_reading(plan: TownPlan) -> None:
    for business in own_sites(plan):
        for path in page_paths(business).values():
            rating = rate_page(f"http://{business.host}{path}")
            assert rating.score >= LIKELY, path
            assert rating.filtered is None


def home_page(plan: TownPlan, host: str) -> HtmlPage:
    site = render_site(plan.owners[host.removeprefix("www.")])
    return parse_page((site.replies.get("/") or site.missing).body)


def given_verdict(plan: TownPlan, business: Business) -> str | None:
    if business.domain is None:
        judged = verdict_of_url(business.website or "")
        return judged.kind.value if judged else None
    host = business.other_brand or business.host or ""
    asked, final = f"http://{business.domain}/", f"http://{host}/"
    return judge_site(asked, final, home_page(plan, host)).kind.value


def test_every_website_that_answers_gets_its_true_verdict(plan: TownPlan) -> None:
    unseen = {ExpectedVerdict.NO_WEBSITE, ExpectedVerdict.UNREACHABLE}
    seen = [b for b in plan.businesses if verdict_of(b) not in unseen]

    wrong = [
        (business.domain, business.kind, given)
        for business in seen
        if (given := given_verdict(plan, business)) != verdict_of(business).value
    ]

    assert len(seen) > 250
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "generator"),
    [
        (SiteKind.WORDPRESS, "WordPress"),
        (SiteKind.WORDPRESS_CORE, "WordPress"),
        (SiteKind.WIX, "Wix"),
        (SiteKind.SQUARESPACE, "Squarespace"),
        (SiteKind.SHOPIFY, "Shopify"),
        (SiteKind.PLAIN, None),
    ],
)
def test_the_builder_of_a_site_is_recognised(
    plan: TownPlan, kind: SiteKind, generator: str | None
) -> None:
    business = next(b for b in plan.businesses if b.kind is kind)

    facts = read_site_facts(home_page(plan, business.host or ""), "http://a.bv/")

    assert facts.generator == generator
    assert facts.page.title == business.name
