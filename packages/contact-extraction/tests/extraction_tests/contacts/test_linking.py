"""A contact is named only where the address or number reaches that one person."""

import pytest

from contact_extraction.contact_card import cards_of
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.mailbox import spells_alone, strength
from contact_extraction.person_card import people_of

URL = "https://okelo-law.com/team"


def named(html: str) -> dict[str, str | None]:
    """Give by each address or number the name on its card."""
    contacts = find_contacts(f"<html lang=en><body>{html}</body></html>", URL)
    return {
        card.email.address if card.email else card.phone.e164 if card.phone else "": (
            card.name
        )
        for card in cards_of(contacts)
    }


def test_the_switchboard_is_nobodys() -> None:
    page = (
        "<div><h3>Martha Okelo</h3><p>Attorney</p></div>"
        "<footer><p>Call us: (212) 555-7342</p></footer>"
        "<div><h3>Peter Lindgren</h3><p>Attorney</p><p>(212) 555-7342</p></div>"
    )

    assert set(named(page).values()) == {None}


def test_a_shared_mailbox_is_nobodys_even_on_a_card() -> None:
    page = "<div><h3>Martha Okelo</h3><p>Owner</p><p>info@okelo-law.com</p></div>"

    assert named(page) == {"info@okelo-law.com": None}


def test_an_address_that_spells_a_name_is_theirs_wherever_it_stands() -> None:
    page = (
        "<h2>Our team</h2><h3>Martha Okelo</h3><p>Attorney</p>"
        "<h3>Kenneth Lindgren</h3><p>Attorney</p><hr><p>Write to us:</p>"
        "<p>kenny@okelo-law.com</p><p>mokelo@okelo-law.com</p>"
    )

    assert named(page) == {
        "kenny@okelo-law.com": "Kenneth Lindgren",
        "mokelo@okelo-law.com": "Martha Okelo",
    }


def test_each_of_several_cards_has_its_own_number() -> None:
    page = (
        "<div><h3>Martha Okelo</h3><p>Attorney</p><p>(212) 736-4401</p></div>"
        "<div><h3>Peter Lindgren</h3><p>Attorney</p><p>(212) 736-4402</p></div>"
    )

    assert named(page) == {
        "+12127364401": "Martha Okelo",
        "+12127364402": "Peter Lindgren",
    }


def test_one_number_with_an_extension_for_each_is_nobodys() -> None:
    page = (
        "<div><h3>Martha Okelo</h3><p>Attorney</p><p>(212) 736-4401 ext. 12</p></div>"
        "<div><h3>Peter Lindgren</h3><p>Attorney</p><p>(212) 736-4401 ext. 14</p></div>"
    )

    assert set(named(page).values()) == {None}


def test_a_number_called_direct_is_the_person_s_beside_it() -> None:
    page = "<div><h3>Martha Okelo</h3><p>Attorney</p><p>Cell: (212) 736-4401</p></div>"

    assert named(page) == {"+12127364401": "Martha Okelo"}


def test_the_number_of_an_office_is_not_its_manager_s() -> None:
    page = (
        "<div><h3>Martha Okelo</h3><p>Manager</p><p>12 Mill Road, Albany, NY 12207</p>"
        "<p>(518) 736-4401</p></div>"
        "<div><h3>Peter Lindgren</h3><p>Manager</p><p>4 Lake Street, Troy, NY 12180</p>"
        "<p>(518) 736-4402</p></div>"
    )

    assert set(named(page).values()) == {None}


def test_a_reviewer_is_on_no_contact_and_among_no_people() -> None:
    page = (
        "<h2>Testimonials</h2><div><h4>Susan Miller</h4><p>Great work!</p>"
        "<p>susan.miller@gmail.com</p></div>"
    )
    contacts = find_contacts(page, URL)

    assert [card.name for card in cards_of(contacts)] == [None]
    assert people_of(contacts, cards_of(contacts), "okelo-law.com") == []


@pytest.mark.parametrize(
    ("local", "name", "is_theirs"),
    [
        ("j.muller", "Jörg Müller", True),
        ("mueller", "Jörg Müller", True),
        ("kenny", "Kenneth Nguyen", True),
        ("martha", "Martha Okelo", True),
        ("office", "Martha Okelo", False),
        ("care", "Carla Reeves", False),
    ],
)
def test_what_stands_before_the_at_spells_a_name_or_not(
    local: str, name: str, *, is_theirs: bool
) -> None:
    assert (strength(local, name) > 0) is is_theirs


@pytest.mark.parametrize(
    "local",
    ["roe", "jane", "jane.roe", "roe-jane", "jroe", "j.roe", "roej", "janer", "jroe2"],
)
def test_an_address_made_of_a_name_alone_is_enough_on_another_page(local: str) -> None:
    assert spells_alone(local, "Jane Roe, DDS")


@pytest.mark.parametrize("local", ["roedental", "janes-salon", "monroe", "jr", "info"])
def test_a_name_inside_another_word_is_not_enough_on_another_page(local: str) -> None:
    assert not spells_alone(local, "Jane Roe")


def test_names_and_numbers_in_turn_are_each_other_s_without_a_block_of_their_own() -> (
    None
):
    page = (
        "<h1>Welcome</h1><footer><div><h4>Contact</h4><p>Martha Okelo</p><p>+49 177 1907103</p>"
        "<p>Peter Lindgren</p><p>+49 172 9682752</p></div></footer>"
    )

    assert named(page) == {
        "+491771907103": "Martha Okelo",
        "+491729682752": "Peter Lindgren",
    }


def test_numbers_above_the_names_are_nobody_s() -> None:
    page = (
        "<div><p>+49 177 1907103</p><p>Martha Okelo</p><p>+49 172 9682752</p>"
        "<p>Peter Lindgren</p></div>"
    )

    assert set(named(page).values()) == {None}


def test_the_boss_s_number_in_the_header_was_nobodys_though_a_list_gives_it_to_him() -> (
    None
):
    """Each of the two has one; that the firm is called by his changes nothing."""
    page = (
        "<header><p>Call us: (212) 736-4401</p></header><p>Welcome to our firm.</p>"
        "<div><p>Martha Okelo</p><p>(212) 736-4401</p>"
        "<p>Peter Lindgren</p><p>(212) 736-4402</p></div>"
    )

    assert named(page) == {
        "+12127364401": "Martha Okelo",
        "+12127364402": "Peter Lindgren",
    }


NOTICE = "https://praxis-okelo.de/impressum.html"


def named_in_notice(html: str, url: str = NOTICE) -> dict[str, str | None]:
    """Give the same of a legal notice in German."""
    contacts = find_contacts(f"<html lang=de><body>{html}</body></html>", url)
    return {
        card.email.address if card.email else card.phone.e164 if card.phone else "": (
            card.name
        )
        for card in cards_of(contacts)
    }


SOLE = (
    "<h1>Impressum</h1><p>Angaben gemäß § 5 DDG</p><p>Zahnärztin Martha Okelo</p>"
    "<p>Werner Straße 84</p><p>59368 Werne</p><p>Telefon: 02389 475411</p>"
    "<p>Telefax: 02389 475412</p>"
)


def test_the_number_of_a_sole_proprietor_s_legal_notice_was_nobodys() -> None:
    """She is the practice: nobody else answers."""
    assert named_in_notice(SOLE) == {"+492389475411": "Martha Okelo"}
    mail = SOLE + "<p>E-Mail: zahnfee@praxis-okelo.de</p>"
    assert named_in_notice(mail)["zahnfee@praxis-okelo.de"] == "Martha Okelo"


@pytest.mark.parametrize("local", ["info", "empfang", "mail.1", "praxis-okelo"])
def test_the_firm_s_mailbox_in_a_legal_notice_was_its_owner_s_own(local: str) -> None:
    """Whoever writes there reaches the owner, and writes to the practice."""
    mail = SOLE + f"<p>E-Mail: {local}@praxis-okelo.de</p>"
    contacts = find_contacts(f"<html lang=de><body>{mail}</body></html>", NOTICE)
    (card, *_) = cards = cards_of(contacts)
    (owner,) = people_of(contacts, cards, "praxis-okelo.de")

    assert (card.name, card.is_shared) == ("Martha Okelo", True)
    assert owner.email is None


def test_a_mailbox_named_after_the_firm_was_the_person_s_whose_name_it_bears() -> None:
    """Okelo is the firm here; m.okelo would be hers."""
    card = "<div><p>Martha Okelo</p><p>Dentist</p><p>{}@okelo.de</p></div>"

    assert named_in_notice(card.format("okelo"), "https://okelo.de/team") == {
        "okelo@okelo.de": None
    }
    assert named_in_notice(card.format("m.okelo"), "https://okelo.de/team") == {
        "m.okelo@okelo.de": "Martha Okelo"
    }


@pytest.mark.parametrize(
    ("instead", "by"),
    [
        ("Zahnärztin Martha Okelo", "Okelo GmbH, Geschäftsführerin: Martha Okelo"),
        ("Zahnärztin Martha Okelo", "Zahnärzte Martha Okelo und Peter Lindgren"),
        ("Telefon: 02389 475411", "Telefon: 02389 475411</p><p>Telefon: 02389 475499"),
    ],
)
def test_what_a_legal_notice_gives_of_several_or_of_a_company_is_nobodys(
    instead: str, by: str
) -> None:
    """A director is not the company, and of two numbers one may be a colleague's."""
    page = SOLE.replace(instead, by)
    assert set(named_in_notice(page).values()) == {None}


def test_a_practice_s_number_on_any_other_page_stays_nobodys() -> None:
    """Only the notice says who the provider is."""
    page = SOLE.replace("Impressum", "Praxis")
    assert set(named_in_notice(page, "https://praxis-okelo.de/praxis").values()) == {
        None
    }
