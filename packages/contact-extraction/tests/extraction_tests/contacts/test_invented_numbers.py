"""Numbers of registers, goods and banks are none to call, whatever layout they stand in."""

from collections import Counter

import pytest

from contact_extraction.contacts import Hints
from contact_extraction.contacts.finder import find_contacts
from extraction_tests.invented_numbers import KINDS, invented

HOSTS = {"US": "acme.com", "GB": "acme.co.uk", "AU": "acme.com.au"}


@pytest.mark.parametrize(
    "count",
    [len(KINDS) * 15, pytest.param(24_012, marks=pytest.mark.long)],
    ids=["some hundred", "24,012"],
)
def test_a_number_that_nobody_answers_is_none_to_call(count: int) -> None:
    read: Counter[str] = Counter()
    for kind, page in invented(count):
        host = HOSTS.get(kind.country, f"acme.{kind.country.lower()}")
        hints = Hints(country=kind.country, people=False)
        found = find_contacts(page, f"https://{host}/", hints=hints)
        read[kind.name] += bool(found.phones)

    assert read.total() == 0, read.most_common(5)


def test_a_number_under_the_heading_of_a_column_of_phones_is_read() -> None:
    page = """<table><tr><th>Name</th><th>Org.nr.</th><th>Telefon</th></tr>
    <tr><td>Acme</td><td>963 45 691</td><td>22 41 26 71</td></tr></table>"""

    found = find_contacts(page, "https://acme.no/", hints=Hints(country="NO"))

    assert [phone.e164 for phone in found.phones] == ["+4722412671"]


def test_a_number_behind_that_of_a_register_is_still_read() -> None:
    page = (
        "<p>HRB 12345 Ulm, Telefon 0731 9876540</p><p>HVAC &amp; A/C 512-472-1788</p>"
    )

    found = find_contacts(page, "https://acme.com/", hints=Hints(country="DE"))

    assert "+497319876540" in {phone.e164 for phone in found.phones}
