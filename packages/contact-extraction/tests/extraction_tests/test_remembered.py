"""Readers remember what pages share; that must not show in what they read."""

from contact_extraction.contact_page import read_contact_page
from extraction_tests.business_pages import business_page

STYLED = """<html><head><style>.{hidden} {{display: none}}</style></head><body>
<h1>Lindqvist Barlow</h1>
<p class="old">Old office: <a href="tel:+16174392210">(617) 439-2210</a></p>
<p class="new">Office: <a href="tel:+16174392299">(617) 439-2299</a></p></body></html>"""


def test_a_page_was_read_by_what_was_remembered_of_others() -> None:
    pages = [(html.encode(), url) for html, url in map(business_page, range(6))]
    # Alike but for their styles, which are remembered by what they say.
    pages += [
        (STYLED.format(hidden=name).encode(), "https://lindqvistbarlow.com/contact")
        for name in ("old", "new")
    ]

    forwards = [read_contact_page(*page, None, None) for page in pages]
    backwards = [read_contact_page(*page, None, None) for page in reversed(pages)]

    assert forwards == backwards[::-1]
    assert [
        {phone.e164 for phone in one.contacts.phones if phone.is_seen}
        for one in forwards[-2:]
    ] == [{"+16174392299"}, {"+16174392210"}]
