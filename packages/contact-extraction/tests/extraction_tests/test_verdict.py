"""What stands at an address: the business's own site, or something else, and why."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact_extraction.errors import InvalidUrl
from contact_extraction.host_kind import (
    HostKind,
    kind_of_host,
    kind_of_url,
    site_name,
)
from contact_extraction.html import parse_page
from contact_extraction.soft_404 import says_not_found
from contact_extraction.verdict import VerdictKind, judge_site, verdict_of_url
from extraction_tests.pace import takes_at_most

FOLDER = Path(__file__).parent / "fixtures" / "sites"
BAKERY = parse_page((FOLDER / "bakery.html").read_bytes())
HOME = "https://www.sonnenkorn.test/"
STORY = "We repair bicycles of every kind in our workshop behind the old station. " * 30


def judged(
    markup: str | bytes, *, url: str = HOME, asked: str = "", status: int = 200
) -> VerdictKind:
    return judge_site(asked or url, url, parse_page(markup), status=status).kind


def test_a_page_of_its_own_is_an_own_site_with_evidence() -> None:
    verdict = judge_site(HOME, HOME, BAKERY)

    assert verdict.kind is VerdictKind.OWN_SITE
    assert verdict.evidence[0].startswith("a page of ")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("bakery", VerdictKind.OWN_SITE),
        ("for_sale", VerdictKind.FOR_SALE),
        ("parked", VerdictKind.PARKED),
        ("challenge", VerdictKind.CHALLENGE_WALL),
        ("login", VerdictKind.LOGIN_WALL),
        ("links", VerdictKind.LINK_PAGE),
    ],
)
def test_a_page_is_judged_by_what_it_shows(name: str, kind: VerdictKind) -> None:
    page = parse_page((FOLDER / f"{name}.html").read_bytes())

    verdict = judge_site(HOME, HOME, page)

    assert verdict.kind is kind
    assert verdict.evidence


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.facebook.com/bakery", VerdictKind.SOCIAL_PROFILE),
        ("https://m.facebook.com/bakery", VerdictKind.SOCIAL_PROFILE),
        ("https://de-de.facebook.com/bakery", VerdictKind.SOCIAL_PROFILE),
        ("http://instagram.com/bakery", VerdictKind.SOCIAL_PROFILE),
        ("https://www.linkedin.com/company/x", VerdictKind.SOCIAL_PROFILE),
        ("https://www.pinterest.co.uk/x", VerdictKind.SOCIAL_PROFILE),
        ("https://wa.me/4930123", VerdictKind.SOCIAL_PROFILE),
        ("https://www.yelp.com/biz/x", VerdictKind.DIRECTORY),
        ("https://www.yelp.de/biz/x", VerdictKind.DIRECTORY),
        ("https://www.tripadvisor.co.uk/x", VerdictKind.DIRECTORY),
        ("https://www.gelbeseiten.de/gsbiz/x", VerdictKind.DIRECTORY),
        ("https://www.pagesjaunes.fr/pros/1", VerdictKind.DIRECTORY),
        ("https://maps.google.com/?cid=1", VerdictKind.DIRECTORY),
        ("https://goo.gl/maps/x", VerdictKind.DIRECTORY),
        ("https://www.lieferando.de/speisekarte/x", VerdictKind.DIRECTORY),
        ("https://www.booking.com/hotel/x", VerdictKind.BOOKING_PAGE),
        ("https://www.opentable.co.uk/r/x", VerdictKind.BOOKING_PAGE),
        ("https://calendly.com/x", VerdictKind.BOOKING_PAGE),
        ("https://www.doctolib.fr/x", VerdictKind.BOOKING_PAGE),
        ("https://rosa.booksy.com/", VerdictKind.BOOKING_PAGE),
        ("https://linktr.ee/rosa", VerdictKind.LINK_PAGE),
        ("https://beacons.ai/rosa", VerdictKind.LINK_PAGE),
        ("https://bit.ly/3x", VerdictKind.LINK_PAGE),
        ("https://www.hugedomains.com/domain_profile.cfm?d=x", VerdictKind.FOR_SALE),
    ],
)
def test_a_listed_host_is_judged_without_a_fetch(url: str, kind: VerdictKind) -> None:
    verdict = verdict_of_url(url)

    assert verdict is not None
    assert verdict.kind is kind
    assert "on our list" in verdict.evidence[0]


@pytest.mark.parametrize(
    "url",
    [
        "https://www.sonnenkorn.test/",
        "https://rosa.wixsite.com/nails",
        "https://sites.google.com/view/rosa",
        "https://rosa.github.io/",
        "https://notfacebook.com/",
        "https://facebook.com.evil.test/",
        "https://yelpers.test/",
    ],
)
def test_any_other_host_has_to_be_seen(url: str) -> None:
    assert verdict_of_url(url) is None


def test_a_name_on_a_builders_host_is_an_own_site() -> None:
    verdict = judge_site(
        "https://rosa-nails.test/", "https://rosa.wixsite.com/nails", BAKERY
    )

    assert verdict.kind is VerdictKind.OWN_SITE
    assert any("rosa.wixsite.com" in said for said in verdict.evidence)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.sonnenkorn.test/kontakt", "sonnenkorn.test"),
        ("https://shop.bakery.co.uk/", "bakery.co.uk"),
        ("https://rosa.wixsite.com/nails", "rosa.wixsite.com"),
        ("https://www.facebook.com/rosa", None),
        ("https://linktr.ee/rosa", None),
        ("nonsense", None),
    ],
)
def test_what_names_a_business_on_the_web(url: str, name: str | None) -> None:
    assert site_name(url) == name


def test_each_list_of_hosts_is_used() -> None:
    assert {kind_of_host(host).kind for host in (
        "facebook.com", "yelp.com", "calendly.com", "linktr.ee", "a.wixsite.com",
        "sedoparking.com", "example.test",
    )} == set(HostKind)  # fmt: skip


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidUrl):
        kind_of_url("::")


@pytest.mark.parametrize(
    ("asked", "final", "kind"),
    [
        ("https://old-mill.test/", "https://globex.test/", VerdictKind.OTHER_BRAND),
        (
            "https://sonnenkorn.de/",
            "https://www.sonnenkorn.test/",
            VerdictKind.OWN_SITE,
        ),
        (
            "https://sonnenkorn-berlin.de/",
            "https://sonnenkorn.test/",
            VerdictKind.OWN_SITE,
        ),
        ("https://sonnenkom.de/", "https://sonnenkorn.test/", VerdictKind.OWN_SITE),
        ("https://a.test/", "https://www.facebook.com/a", VerdictKind.SOCIAL_PROFILE),
        ("https://a.test/", "https://linktr.ee/a", VerdictKind.LINK_PAGE),
        ("https://a.test/", "https://www.hugedomains.com/x", VerdictKind.FOR_SALE),
        ("https://a.test/", "https://www.treatwell.de/ort/a", VerdictKind.BOOKING_PAGE),
    ],
)
def test_a_redirect_is_judged_by_whose_name_it_leads_to(
    asked: str, final: str, kind: VerdictKind
) -> None:
    assert judge_site(asked, final, BAKERY).kind is kind


def test_a_known_name_says_a_new_address_from_a_stranger() -> None:
    asked, final = "https://old-mill.test/", "https://bread.test/"

    stranger = judge_site(asked, final, BAKERY, name="The Old Mill")
    renamed = judge_site(asked, final, BAKERY, name="Bäckerei Sonnenkorn")

    assert stranger.kind is VerdictKind.OTHER_BRAND
    assert stranger.evidence[0] == "old-mill.test leads to bread.test"
    assert (stranger.candidate, renamed.candidate) == (None, "bread.test")


def test_a_page_elsewhere_was_taken_for_ones_own_because_its_title_said_so() -> None:
    claimed = judge_site("https://sonnenkorn.de/", "https://korn-group.test/", BAKERY)

    assert claimed.kind is VerdictKind.OTHER_BRAND
    assert claimed.candidate == "korn-group.test"
    assert "a person decides" in claimed.evidence[1]


@pytest.mark.parametrize(
    "words",
    [
        "The domain lamps.test is for sale",
        "lamps.test is for sale. Make an offer on this domain",
        "Diese Domain steht zum Verkauf",
        "Die Domain lamps.test steht zum Verkauf",
        "Le domaine lamps.test est à vendre",
        "El dominio lamps.test está en venta",
        "Il dominio lamps.test è in vendita",
        "De domeinnaam lamps.test is te koop",
        "O domínio lamps.test está à venda",
        "Domena lamps.test jest na sprzedaż",
        "Domänen lamps.test är till salu",
        "Domænet lamps.test er til salg",
        "Doména lamps.test je na prodej",
        "このドメインは現在販売中です",
    ],
)
def test_a_domain_for_sale_says_so_in_many_languages(words: str) -> None:
    assert judged(f"<title>lamps.test</title><h1>{words}</h1>") is VerdictKind.FOR_SALE


@pytest.mark.parametrize(
    "markup",
    [
        "<p>This domain is parked free, courtesy of the registrar.</p>",
        "<h1>Welcome to nginx!</h1><p>Further configuration is required.</p>",
        "<title>Apache2 Debian Default Page: It works</title>",
        "<h1>This Account has been suspended.</h1>",
        "<p>Diese Domain wurde soeben registriert.</p><p>Hier entsteht in Kürze mehr.</p>",
        "<p>Ce nom de domaine a été enregistré par un client.</p>",
        "<p>Future home of something quite cool.</p>",
        '<script src="https://img1.wsimg.com/parking-lander/static/js/main.js"></script>',
        '<iframe src="https://www.sedoparking.com/x"></iframe>',
    ],
)
def test_a_parked_domain_is_known_by_words_and_scripts(markup: str) -> None:
    assert judged(markup) is VerdictKind.PARKED


@pytest.mark.parametrize(
    ("markup", "status"),
    [
        (
            "<title>Attention Required! | Cloudflare</title><p>You have been blocked</p>",
            403,
        ),
        ("<title>Just a moment...</title>", 503),
        ("<title>Einen Moment, bitte ...</title>", 403),
        ("<p>Request unsuccessful. Incapsula incident ID: 1</p>", 403),
        ('<script src="https://geo.captcha-delivery.com/captcha/"></script>', 403),
        ("<title>Pardon Our Interruption</title><p>...</p>", 200),
        ("<title>Access Denied</title><p>You don't have permission to access</p>", 403),
        ("<title>Making sure you're not a bot!</title>", 200),
        ("<title>Vercel Security Checkpoint</title>", 429),
    ],
)
def test_a_challenge_is_known_and_never_taken_for_a_site(
    markup: str, status: int
) -> None:
    assert judged(markup, status=status) is VerdictKind.CHALLENGE_WALL


@pytest.mark.parametrize(
    "markup",
    [
        f"<title>Access denied? We open doors</title><p>{STORY}</p>",
        f"<p>{STORY}</p><script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>",
        f"<p>{STORY}</p><script src='https://www.google.com/recaptcha/api.js'></script>",
        f"<p>{STORY} Buy this domain, said the stranger.</p>",
        f"<p>{STORY}</p><form><input type=password><button>Log in</button></form>",
        (
            f"<p>{STORY}</p><a href='https://facebook.com/a'>f</a>"
            "<a href='https://x.com/a'>x</a><a href='https://instagram.com/a'>i</a>"
        ),
        "<p>Contact us</p><script src='https://www.google.com/recaptcha/api.js'></script>",
        "<h1>Joe's Garage</h1><p>Coming soon</p>",
    ],
)
def test_signs_on_a_real_page_do_not_make_a_wall(markup: str) -> None:
    assert judged(markup) is VerdictKind.OWN_SITE


def test_a_site_under_construction_is_own_but_little_trusted() -> None:
    verdict = judge_site(HOME, HOME, parse_page("<h1>Coming soon</h1>"))

    assert verdict.kind is VerdictKind.OWN_SITE
    assert verdict.confidence < 0.7
    assert "not finished yet: it says 'coming soon'" in verdict.evidence


def test_a_401_is_a_login_wall() -> None:
    assert judged("<h1>Authorization</h1>", status=401) is VerdictKind.LOGIN_WALL


NOT_FOUND = (FOLDER / "not_found.html").read_text()


@pytest.mark.parametrize(
    "markup",
    [
        "<title>404 - Page</title>",
        "<h1>Page not found</h1>",
        "<h1>Oops! That page can&rsquo;t be found.</h1><title>Nothing found</title>",
        "<h2>Cette page n&rsquo;existe pas</h2><title>Page introuvable</title>",
        "<title>Página no encontrada</title>",
        "<title>Nie znaleziono strony</title>",
        "<title>Sayfa bulunamad\u0131</title>",
        "<h1>お探しのページが見つかりませんでした</h1>",
    ],
)
def test_a_page_that_says_it_is_missing_is_believed(markup: str) -> None:
    assert says_not_found(parse_page(markup)) is not None


def test_an_article_about_errors_is_not_an_error() -> None:
    page = parse_page(f"<h1>Why 404 pages matter</h1><p>{STORY * 3}</p>")

    assert says_not_found(page) is None


@given(st.binary(max_size=2_000), st.integers(100, 599))
def test_any_bytes_are_judged(data: bytes, status: int) -> None:
    page = parse_page(data)

    assert judge_site(HOME, HOME, page, status=status).evidence
    says_not_found(page)


@pytest.mark.parametrize(
    "markup",
    [
        "domain " * 100_000,
        "<p>" + "a" * 1_000_000 + ".com is for</p>",
        "<br>".join(["x" * 19_000] * 100),
        "<title>" + "this domain is " * 50_000 + "</title>",
        "<a href='https://facebook.com/" + "a" * 500_000 + "'>x</a>",
        "<p>" + "domain \u00a0" * 20_000,
        "".join(f"<h1>404{n}</h1>" for n in range(20_000)),
    ],
)
def test_killers_are_judged_in_time(markup: str) -> None:
    page = parse_page(markup)

    with takes_at_most(1.0):
        judge_site(HOME, "https://x.test/", page)
        says_not_found(page)
