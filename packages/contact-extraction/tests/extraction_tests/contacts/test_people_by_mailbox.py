from contact_extraction.contacts.finder import find_contacts

CARD = (
    "<html lang='en'><body><h1>Our team</h1><div><h3>{name}</h3><p>Office Manager</p>"
    "<p>{mail}</p></div></body></html>"
)


def test_an_address_made_of_a_name_does_not_make_the_name_a_word() -> None:
    page = CARD.format(name="Grace Lockhart", mail="grace.lockhart@acme.com")

    people = find_contacts(page, "https://acme.com/team").people

    assert [(person.name, person.role) for person in people] == [
        ("Grace Lockhart", "Office Manager")
    ]


def test_the_label_of_an_italian_tax_number_is_nobody() -> None:
    page = (
        "<html lang='it'><body><h1>Note legali</h1><p>Titolare: Giulia Donati</p>"
        "<p>P. IVA: IT01234567890</p></body></html>"
    )

    people = find_contacts(page, "https://acme.it/note-legali").people

    assert [person.name for person in people] == ["Giulia Donati"]


def test_the_and_between_two_partners_begins_no_name() -> None:
    page = (
        "<html lang='es'><body><h1>Restaurante Galindo y Duarte</h1>"
        "<p>© 2026 Restaurante Galindo y Duarte</p></body></html>"
    )

    people = find_contacts(page, "https://acme.es/").people

    assert people == ()
