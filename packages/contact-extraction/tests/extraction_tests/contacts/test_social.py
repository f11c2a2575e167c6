from pathlib import Path

import pytest

from contact_extraction.contacts import Profile, read_profile
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.measuring.pages import AnnotatedPage, read_pages, score_pages

# Pages written by us: profiles among share buttons, intents, widgets, posts, policies
# and leftovers of templates.
PAGES = list(
    read_pages(Path(__file__).parents[1] / "fixtures" / "contacts" / "socials.jsonl")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.id)
def test_the_profiles_of_a_page_are_found_and_nothing_else(page: AnnotatedPage) -> None:
    contacts = find_contacts(page.html, page.url)

    assert {social.url for social in contacts.socials} == page.gold.get("SOCIAL", set())


def test_the_annotated_profiles_are_many_and_of_many_networks() -> None:
    report = score_pages(PAGES)
    found = [s for page in PAGES for s in find_contacts(page.html, page.url).socials]

    assert report.tallies["SOCIAL"].gold >= 180
    assert report.tallies["SOCIAL"].f1 == 1.0
    assert len({social.network for social in found}) >= 25


@pytest.mark.parametrize(
    ("href", "network", "handle", "url"),
    [
        ("https://www.facebook.com/acme/", "facebook", "acme", "https://www.facebook.com/acme"),
        ("https://de-de.facebook.com/acme", "facebook", "acme", "https://www.facebook.com/acme"),
        ("https://facebook.com/profile.php?id=10001", "facebook", "10001", "https://www.facebook.com/10001"),
        ("http://www.facebook.com/pages/Acme/123", "facebook", "123", "https://www.facebook.com/pages/Acme/123"),
        ("https://instagram.com/acme.bikes?hl=de", "instagram", "acme.bikes", "https://www.instagram.com/acme.bikes"),
        ("http://twitter.com/#!/acme", None, None, None),
        ("https://mobile.twitter.com/acme", "x", "acme", "https://x.com/acme"),
        ("//x.com/acme", "x", "acme", "https://x.com/acme"),
        ("https://www.linkedin.com/company/acme-inc/about/", "linkedin", "acme-inc", "https://www.linkedin.com/company/acme-inc"),
        ("https://uk.linkedin.com/in/ann-lee", "linkedin", "ann-lee", "https://www.linkedin.com/in/ann-lee"),
        ("https://www.youtube.com/@acme", "youtube", "acme", "https://www.youtube.com/@acme"),
        ("https://youtube.com/channel/UCabc", "youtube", "UCabc", "https://www.youtube.com/channel/UCabc"),
        ("https://www.tiktok.com/@acme", "tiktok", "acme", "https://www.tiktok.com/@acme"),
        ("https://www.pinterest.de/acme/", "pinterest", "acme", "https://www.pinterest.com/acme"),
        ("https://wa.me/4930901820", "whatsapp", "4930901820", "https://wa.me/4930901820"),
        ("https://www.yelp.com/biz/acme-austin", "yelp", "acme-austin", "https://www.yelp.com/biz/acme-austin"),
    ],
)  # fmt: skip
def test_a_profile_is_read_with_its_handle(
    href: str, network: str | None, handle: str | None, url: str | None
) -> None:
    expected = Profile(network, handle, url) if network and handle and url else None

    assert read_profile(href) == expected


@pytest.mark.parametrize(
    "href",
    [
        "https://www.facebook.com/sharer/sharer.php?u=https://acme.com",
        "https://www.facebook.com/share.php?u=x",
        "https://www.facebook.com/dialog/share?href=x",
        "https://www.facebook.com/plugins/like.php?href=x",
        "https://www.facebook.com/",
        "https://www.facebook.com/yourpage",
        "https://twitter.com/intent/tweet?text=x",
        "https://twitter.com/share?url=x",
        "https://x.com/acme/status/123",
        "https://www.linkedin.com/shareArticle?url=x",
        "https://www.linkedin.com/sharing/share-offsite/?url=x",
        "https://www.youtube.com/watch?v=abc",
        "https://youtu.be/abc",
        "https://www.instagram.com/p/Cx1/",
        "https://www.instagram.com/explore/tags/bikes/",
        "https://pinterest.com/pin/create/button/?url=x",
        "https://wa.me/?text=x",
        "https://t.me/share/url?url=x",
        "https://acme.com/facebook.com/acme",
        "javascript:void('facebook.com/acme')",
        "mailto:facebook.com@acme.com",
        "https://[facebook.com/acme",
        "",
    ],
)
def test_shares_posts_and_the_networks_own_pages_are_refused(href: str) -> None:
    assert read_profile(href) is None
