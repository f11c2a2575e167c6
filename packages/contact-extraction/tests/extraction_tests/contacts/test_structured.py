import pytest

from contact_extraction.contacts.finder import find_contacts


@pytest.mark.parametrize(
    "kind",
    ["Physiotherapy", "TattooParlor", "TireShop", "ExerciseGym", "PostOffice", "Hotel"],
)
def test_every_kind_of_local_business_gives_its_mail_and_hours(kind: str) -> None:
    data = (
        f'{{"@type": "{kind}", "name": "Acme", "email": "jo@acme.com",'
        ' "openingHours": "Mo-Fr 09:00-17:00"}'
    )
    html = f'<script type="application/ld+json">{data}</script>'
    contacts = find_contacts(html, "https://acme.com/")

    assert [email.address for email in contacts.emails] == ["jo@acme.com"]
    assert len(contacts.hours) == 1


def test_a_product_is_not_a_business() -> None:
    data = '{"@type": "Product", "name": "Saw", "email": "jo@acme.com"}'
    html = f'<script type="application/ld+json">{data}</script>'

    assert find_contacts(html, "https://acme.com/").emails == ()
