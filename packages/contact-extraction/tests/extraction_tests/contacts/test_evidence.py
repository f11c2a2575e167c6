"""Each value says where it came from; sightings of one value are one value."""

from contact_extraction.contact_card import cards_of
from contact_extraction.contacts import Hints, Method, PhoneKind
from contact_extraction.contacts.finder import find_contacts
from extraction_tests.business_pages import business_page

TWICE = """<html lang="en"><body>
<p>Call (206) 624-1180 or write to desk@cedarline.com.</p>
<p><a href="tel:+12066241180">Call us</a> <a href="mailto:desk@cedarline.com">Mail</a></p>
</body></html>"""


def test_a_value_found_twice_is_one_value_with_more_evidence() -> None:
    contacts = find_contacts(TWICE, "https://cedarline.com/")

    assert [phone.e164 for phone in contacts.phones] == ["+12066241180"]
    assert {e.method for e in contacts.phones[0].evidence} == {
        Method.LABELLED,
        Method.TEL,
    }
    assert {e.method for e in contacts.emails[0].evidence} == {
        Method.TEXT,
        Method.MAILTO,
    }


def test_more_evidence_gives_more_confidence() -> None:
    once = find_contacts("<p>desk@cedarline.com</p>", "https://cedarline.com/")
    twice = find_contacts(TWICE, "https://cedarline.com/")

    assert once.emails[0].confidence < twice.emails[0].confidence <= 0.99


def test_every_value_has_a_short_snippet_from_its_page() -> None:
    html, url = business_page(7)

    contacts = find_contacts(html, url)

    values = (
        *contacts.emails,
        *contacts.phones,
        *contacts.people,
        *contacts.organisations,
        *contacts.addresses,
        *contacts.hours,
        *contacts.socials,
    )
    evidence = [piece for value in values for piece in value.evidence]
    assert len(values) > 20
    assert {piece.url for piece in evidence} == {url}
    assert all(0 < len(piece.snippet) <= 200 for piece in evidence)
    assert all(value.evidence and 0 < value.confidence < 1 for value in values)


def test_a_snippet_holds_the_value_even_in_a_long_line() -> None:
    html = f"<p>{'word ' * 500} desk@cedarline.com {'word ' * 500}</p>"

    email = find_contacts(html, "https://cedarline.com/").emails[0]

    assert "desk@cedarline.com" in email.evidence[0].snippet
    assert len(email.evidence[0].snippet) <= 200


def test_a_number_is_kept_as_written_beside_its_international_form() -> None:
    contacts = find_contacts(
        "<html lang='de'><p>Fax: 0221 / 942 65 11</p></html>", "https://a.de/"
    )

    assert contacts.phones[0].e164 == "+492219426511"
    assert contacts.phones[0].written == "0221 / 942 65 11"
    assert contacts.phones[0].kind is PhoneKind.FAX
    assert contacts.phones[0].region == "DE"


def test_the_known_country_decides_how_a_number_is_read() -> None:
    html = "<p>Telephone 020 7946 0018</p>"

    assert find_contacts(html, "", hints=Hints(country="GB")).phones[0].e164 == (
        "+442079460018"
    )


def test_names_of_people_can_be_left_out() -> None:
    html, url = business_page(7)

    assert find_contacts(html, url).people != ()
    assert find_contacts(html, url, hints=Hints(people=False)).people == ()


def test_control_and_direction_characters_never_reach_a_value() -> None:
    html = "<p>Mail: de\u200bsk@cedar\u202dline.com\x00, Tel: (206)\u200e 624-1180</p>"

    contacts = find_contacts(html, "https://cedarline.com/")

    assert [e.address for e in contacts.emails] == ["desk@cedarline.com"]
    assert contacts.phones[0].written.isprintable()


def test_two_desks_behind_one_number_are_two_values() -> None:
    html = "<p>Sales: 617-536-4100 ext. 12</p><p>Service: 617-536-4100 ext. 14</p>"

    phones = find_contacts(html, "").phones

    assert sorted(p.extension or "" for p in phones) == ["12", "14"]


def test_a_role_was_said_to_be_as_sure_as_the_name_beside_it() -> None:
    """It is right less often: its words are, or end elsewhere."""
    page = "<div><h3>Martha Okelo</h3><p>Owner</p><p>martha@okelo-law.com</p></div>"
    (card,) = cards_of(find_contacts(page, "https://okelo-law.com/team"))
    sure = {field: confidence for field, _, _, confidence in card.values}
    assert sure["role"] == round(sure["name"] * 0.87, 3)
