"""Streets as pages set them: over lines, as headings, with the house above."""

import pytest

from scrapersky.extraction.contacts import find_contacts


@pytest.mark.parametrize(
    ("page", "street", "city"),
    [
        (
            "<h3>Millbrook House,<br>Station Road,<br>Athlone,<br>Co. Westmeath</h3>",
            "Millbrook House, Station Road",
            "Athlone",
        ),
        (
            "<p>Mill House, Station Road, Cork, Co. Cork</p>",
            "Mill House, Station Road",
            "Cork",
        ),
        (
            "<div>600 Market Street</div><div>Suite 2800 South</div><div>Denver, CO 80202</div>",
            "600 Market Street, Suite 2800 South",
            "Denver",
        ),
        ('<p lang="de">Lindenweg 12, D-50667 Köln</p>', "Lindenweg 12", "Köln"),
        ("<p>PO Box 4410<br>Reno, NV 89501</p>", "PO Box 4410", "Reno"),
        (
            "<p>Suite 306 Level 3<br>267 Mill Street<br>Reno, NV 89501</p>",
            "Suite 306 Level 3, 267 Mill Street",
            "Reno",
        ),
        (
            "<p>Harbour Tower, 4th Floor<br>Weavers Club<br>267 Mill Street<br>Reno, NV 89501</p>",
            "Harbour Tower, 4th Floor, Weavers Club, 267 Mill Street",
            "Reno",
        ),
        (
            "<p>We moved lately. 3rd Floor Weavers Club 24 Mill Street, Reno, NV 89501</p>",
            "3rd Floor Weavers Club, 24 Mill Street",
            "Reno",
        ),
    ],
)
def test_a_street_is_read_with_its_house_and_its_city(
    page: str, street: str, city: str
) -> None:
    addresses = find_contacts(page, "https://acme.com/").addresses

    assert [(a.street, a.city) for a in addresses] == [(street, city)]


def test_a_suite_that_only_the_text_tells_joins_the_street_of_structured_data() -> None:
    page = """<div itemscope itemtype="https://schema.org/PostalAddress">
    <div itemprop="streetAddress">600 Market Street</div><div>Suite 2800 South</div>
    <span itemprop="addressLocality">Denver</span>, <span itemprop="addressRegion">CO</span>
    <span itemprop="postalCode">80202</span></div>"""

    addresses = find_contacts(page, "https://acme.com/").addresses

    assert [a.street for a in addresses] == ["600 Market Street, Suite 2800 South"]


def test_a_heading_below_an_address_begins_something_else() -> None:
    page = "<p>12 Mill Lane</p><h2>Leeds</h2><p>LS1 4AP is our postcode</p>"

    addresses = find_contacts(page, "https://acme.co.uk/").addresses

    assert all(address.city != "Leeds" for address in addresses)


def test_a_street_written_with_its_postal_code_is_no_fuller_street() -> None:
    page = """<p>600 Market Street<br>Denver, CO 80202</p>
    <script type="application/ld+json">{"@type": "PostalAddress", "postalCode": "80202",
    "streetAddress": "600 Market Street Denver CO 80202"}</script>"""

    addresses = find_contacts(page, "https://acme.com/").addresses

    assert [a.street for a in addresses] == ["600 Market Street"]
