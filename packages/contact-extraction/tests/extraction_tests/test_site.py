"""What a home page says about its site, its program and its business."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_extraction.contacts.social import Profile
from contact_extraction.errors import InvalidUrl
from contact_extraction.html import parse_page
from contact_extraction.site import (
    SchemaOrganisation,
    read_page_facts,
    read_site_facts,
)
from contact_extraction.technology import Category, find_technologies, main_generator

FOLDER = Path(__file__).parent / "fixtures" / "sites"
HOME = "https://www.sonnenkorn.test/"
BAKERY = parse_page((FOLDER / "bakery.html").read_bytes())


def test_a_home_page_gives_the_facts_of_its_page() -> None:
    facts = read_page_facts(BAKERY, HOME)

    assert facts.title == "Bäckerei Sonnenkorn | Brot aus Musterstadt"
    assert facts.description == "Handgemachtes Brot seit 1921."
    assert facts.heading == "Brot, wie es sein soll"
    assert facts.language == "de"
    assert facts.canonical == "https://www.sonnenkorn.test/"
    assert facts.structured_types == ("WebSite", "Bakery", "LocalBusiness")
    assert facts.has_contact_form
    assert 25 < facts.word_count < 50
    assert not facts.robots.noindex


def test_a_home_page_gives_the_facts_of_its_site() -> None:
    facts = read_site_facts(BAKERY, HOME)

    assert (facts.generator, facts.generator_version) == ("WordPress", "6.8.1")
    assert facts.favicon == "https://www.sonnenkorn.test/favicon-32.png"
    assert facts.logo == "https://www.sonnenkorn.test/img/logo.svg"
    assert facts.site_name == "Bäckerei Sonnenkorn"
    assert facts.alternates == {"en": "https://www.sonnenkorn.test/en/"}
    versions = {one.name: one.version for one in facts.technologies}
    assert versions["Elementor"] == "3.29.2"
    assert versions["WooCommerce"] == "9.8.5"
    assert {"Astra", "Contact Form 7", "Google Tag Manager"} <= set(versions)
    assert all(one.evidence for one in facts.technologies)


def test_structured_data_describes_the_organisation() -> None:
    facts = read_site_facts(BAKERY, HOME)

    assert facts.organisation == SchemaOrganisation(
        type="Bakery",
        name="Bäckerei Sonnenkorn",
        legal_name="Sonnenkorn GmbH",
        url="https://www.sonnenkorn.test/",
        logo="https://www.sonnenkorn.test/img/logo.svg",
        email="info@sonnenkorn.test",
        telephone="+49 30 901820",
        address="Hauptstr. 1, 10115, Berlin, DE",
        profiles=(
            "https://www.facebook.com/sonnenkorn",
            "https://www.instagram.com/sonnenkorn/",
        ),
    )


def test_profiles_are_found_once_and_share_links_are_refused() -> None:
    facts = read_site_facts(BAKERY, HOME)

    assert facts.profiles == (
        Profile("instagram", "sonnenkorn", "https://www.instagram.com/sonnenkorn"),
        Profile("facebook", "sonnenkorn", "https://www.facebook.com/sonnenkorn"),
    )


def test_microdata_describes_the_organisation_too() -> None:
    page = parse_page(
        """<div itemscope itemtype="https://schema.org/Dentist">
        <span itemprop="name">Dr. Zahn</span><span itemprop="telephone">030 1234567</span>
        <div itemprop="address" itemscope itemtype="https://schema.org/PostalAddress">
        <span itemprop="streetAddress">Zahnweg 2</span>
        <span itemprop="addressLocality">Jena</span></div></div>"""
    )

    organisation = read_site_facts(page, HOME).organisation

    assert organisation is not None
    assert (organisation.type, organisation.name) == ("Dentist", "Dr. Zahn")
    assert organisation.telephone == "030 1234567"
    assert organisation.address == "Zahnweg 2, Jena"


def test_an_empty_page_says_nothing_and_invents_nothing() -> None:
    facts = read_site_facts(parse_page(b""), HOME)

    assert facts.page.title is None
    assert facts.page.language is None
    assert facts.favicon is None
    assert facts.logo is None
    assert facts.generator is None
    assert facts.technologies == ()
    assert facts.organisation is None


def test_meta_robots_is_read_in_any_spelling() -> None:
    page = parse_page('<meta name="ROBOTS" content="NoIndex, NOFOLLOW">')
    none = parse_page('<meta name="googlebot" content="none">')

    assert read_page_facts(page, HOME).robots.noindex
    assert read_page_facts(page, HOME).robots.nofollow
    assert read_page_facts(none, HOME).robots.nofollow


def test_a_language_that_nobody_declares_is_detected() -> None:
    text = "Nous fabriquons du pain tous les matins avec de la farine locale. " * 8

    assert read_page_facts(parse_page(f"<p>{text}</p>"), HOME).language == "fr"


def test_a_search_box_is_no_contact_form() -> None:
    search = '<form><input name="email" type="email"><button>Subscribe</button></form>'
    login = (
        '<form><input name="name"><input type="password"><textarea></textarea></form>'
    )

    assert not read_page_facts(parse_page(search + login), HOME).has_contact_form


def test_a_logo_of_a_payment_service_is_not_the_sites_own() -> None:
    page = parse_page(
        '<img src="/paypal-logo.png"><header><img src="/x/brand.svg" id="logo"></header>'
    )

    assert read_site_facts(page, HOME).logo == "https://www.sonnenkorn.test/x/brand.svg"


def test_an_address_that_is_no_url_is_refused() -> None:
    with pytest.raises(InvalidUrl):
        read_site_facts(BAKERY, "nowhere")


@pytest.mark.parametrize(
    ("content", "name", "version"),
    [
        ("WordPress 6.8.1", "WordPress", "6.8.1"),
        ("WordPress.com", "WordPress", None),
        ("Drupal 10 (https://www.drupal.org)", "Drupal", "10"),
        ("Joomla! - Open Source Content Management", "Joomla", None),
        ("Joomla! 1.5 - Open Source Content Management", "Joomla", "1.5"),
        ("TYPO3 CMS", "TYPO3", None),
        ("TYPO3 4.5 CMS", "TYPO3", "4.5"),
        ("Wix.com Website Builder", "Wix", None),
        ("Squarespace", "Squarespace", None),
        ("Webflow", "Webflow", None),
        ("Jimdo Creator", "Jimdo", None),
        (
            "Starfield Technologies; Go Daddy Website Builder 8.0.0000",
            "GoDaddy",
            "8.0.0000",
        ),
        ("Ghost 5.82", "Ghost", "5.82"),
        ("HubSpot", "HubSpot", None),
        ("PrestaShop", "PrestaShop", None),
        ("Contao Open Source CMS", "Contao", None),
        ("Hugo 0.128.0", "Hugo", "0.128.0"),
        ("Jekyll v4.3.2", "Jekyll", "4.3.2"),
        ("MediaWiki 1.43.0", "MediaWiki", "1.43.0"),
        ("Microsoft FrontPage 4.0", "Microsoft FrontPage", "4.0"),
        ("Framer 2f1a", "Framer", "2"),
        ("Mobirise v5.9", "MobiRise", "5.9"),
        ("concrete5 - 8.5.2", "Concrete CMS", None),
        ("blogger", "Blogger", None),
        ("JouwWeb.nl", "JouwWeb", None),
        ("Divi v.4.27.4", "Divi", "4.27.4"),
        ("Powered by Slider Revolution 6.7.15", "Slider Revolution", "6.7.15"),
        ("Elementor 3.29.2; features: x", "Elementor", "3.29.2"),
        ("WooCommerce 9.8.5", "WooCommerce", "9.8.5"),
        ("Shopware 6", "Shopware", "6"),
    ],
)
def test_a_generator_is_read_with_its_version(
    content: str, name: str, version: str | None
) -> None:
    page = parse_page(f'<meta name="generator" content="{content}">')

    (found,) = [one for one in find_technologies(page) if one.name == name]

    assert found.version == version
    assert content[:20] in found.evidence


@pytest.mark.parametrize(
    ("markup", "name"),
    [
        ('<script src="/wp-includes/js/jquery.js?ver=3.7"></script>', "WordPress"),
        (
            '<link rel="stylesheet" href="/wp-content/themes/Divi/style.css">',
            "WordPress",
        ),
        ('<img src="https://static.wixstatic.com/media/a.jpg">', "Wix"),
        (
            (
                '<img src="https://images.squarespace-cdn.com/x"><link rel="preconnect" '
                'href="https://assets.squarespace.com/u">'
            ),
            "Squarespace",
        ),
        ('<script src="//cdn.shopify.com/s/files/x.js"></script>', "Shopify"),
        ('<script>var x; Shopify.theme = {"name":"Dawn"};</script>', "Shopify"),
        (
            '<link href="https://cdn.prod.website-files.com/x.css" rel="stylesheet">',
            "Webflow",
        ),
        ('<html class="w-mod-js"><body></body></html>', "Webflow"),
        ('<img src="/sites/default/files/logo.png">', "Drupal"),
        ('<script src="/media/jui/js/jquery.min.js"></script>', "Joomla"),
        ('<link rel="stylesheet" href="/typo3conf/ext/x.css">', "TYPO3"),
        ('<script src="https://assets.jimstatic.com/web.js"></script>', "Jimdo"),
        ('<img src="//img1.wsimg.com/isteam/ip/x/logo.png">', "GoDaddy"),
        ('<script src="//cdn2.editmysite.com/js/site/main.js"></script>', "Weebly"),
        ('<img src="https://irp.cdn-website.com/abc/logo.png">', "Duda"),
        ('<link rel="stylesheet" href="/public/cards.min.css?v=1">', "Ghost"),
        ('<img src="/hs-fs/hubfs/logo.png">', "HubSpot"),
        ('<script src="/_next/static/x.js"></script>', None),
        ("<p>We love WordPress and Wix.</p>", None),
        ('<a href="/blog/wix-vs-shopify">x</a>', None),
    ],
)
def test_traces_in_a_page_name_its_program(markup: str, name: str | None) -> None:
    found = main_generator(find_technologies(parse_page(markup)))

    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("markup", "name", "category"),
    [
        ("<script>gtag('config','G-1')</script>", "Google Analytics", Category.ANALYTICS),
        ('<script src="https://www.googletagmanager.com/gtm.js"></script>',
         "Google Tag Manager", Category.TAG_MANAGER),
        ("<script>fbq('init','1')</script>", "Meta Pixel", Category.ADVERTISING),
        ('<script src="https://embed.tawk.to/1/default"></script>', "Tawk.to", Category.CHAT),
        ('<a href="https://wa.me/491701234567">x</a>', "WhatsApp button", Category.CHAT),
        ('<iframe src="https://calendly.com/dr-x"></iframe>', "Calendly", Category.BOOKING),
        ('<a href="https://www.doctolib.de/praxis/x">x</a>', "Doctolib", Category.BOOKING),
        ('<form action="https://x.us1.list-manage.com/subscribe"></form>',
         "Mailchimp", Category.MARKETING),
        ('<script src="https://consent.cookiebot.com/uc.js"></script>',
         "Cookiebot", Category.CONSENT),
        ('<iframe src="https://www.google.com/maps/embed?pb=1"></iframe>',
         "Google Maps", Category.MAPS),
        ('<script src="https://js.stripe.com/v3/"></script>', "Stripe", Category.PAYMENT),
        ('<script src="/_next/static/chunks/main.js"></script>', "Next.js", Category.FRAMEWORK),
    ],
)  # fmt: skip
def test_services_on_a_page_are_recognised(
    markup: str, name: str, category: Category
) -> None:
    found = {one.name: one.category for one in find_technologies(parse_page(markup))}

    assert found[name] is category


@given(st.binary(max_size=3_000))
def test_any_bytes_give_facts(data: bytes) -> None:
    read_site_facts(parse_page(data), HOME)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "@type",
                        "name",
                        "logo",
                        "address",
                        "sameAs",
                        "email",
                        "@graph",
                        "url",
                    ]
                ),
                inner | st.sampled_from(["LocalBusiness", "Organization"]),
                max_size=6,
            )
        ),
        max_leaves=12,
    )
)
def test_any_structured_data_is_read_without_a_crash(value: object) -> None:
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        return
    page = parse_page(f'<script type="application/ld+json">{text}</script>')

    read_site_facts(page, HOME)
