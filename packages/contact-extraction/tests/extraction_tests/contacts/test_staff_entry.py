"""Entries of staff as pages write them: who it is, what they do, and what is theirs."""

import pytest

from contact_extraction.contact_card import cards_of
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.person_card import PersonCard, people_of
from contact_extraction.text import name_key


def read(
    html: str, language: str = "en", path: str = "team"
) -> tuple[list[PersonCard], dict[str, str | None]]:
    """Give the people of a page, who decides first, and whose each value is."""
    contacts = find_contacts(
        f"<html lang={language}><body>{html}</body></html>",
        f"https://hillbrookco.com/{path}",
    )
    cards = cards_of(contacts)
    people = people_of(contacts, cards, "hillbrookco.com")
    owned = {
        card.email.address if card.email else card.phone.e164 if card.phone else "": (
            card.name
        )
        for card in cards
    }
    return sorted(people, key=lambda one: -one.standing), owned


def keys(names: set[str]) -> set[str]:
    return {name_key(name) for name in names}


@pytest.mark.parametrize(
    ("html", "language", "names"),
    [
        # The surname first, beside a role, a number, or in the language that has it so.
        ("<p>Jednatel: Novák Petr</p>", "cs", {"Novák Petr"}),
        (
            "<h3>Dvořáková Jana</h3><p>fakturace</p><p>602 123 457</p>",
            "cs",
            {"Dvořáková Jana"},
        ),
        ("<h3>DUPONT Marie</h3><p>Gérante</p>", "fr", {"DUPONT Marie"}),
        ("<h3>Szabó Katalin</h3><p>recepció</p>", "hu", {"Szabó Katalin"}),
        # Particles, initials, double names.
        ("<h3>Willem van 't Hof</h3><p>Eigenaar</p>", "nl", {"Willem van 't Hof"}),
        ("<h3>Robert B Langholm</h3><p>Attorney</p>", "en", {"Robert B Langholm"}),
        ("<h3>Veli-Matti Hyvärinen</h3><p>Myyjä</p>", "fi", {"Veli-Matti Hyvärinen"}),
        # Two who share a surname.
        (
            "<p>Owners Karen and Dave Millbrook opened the shop in 2004.</p>",
            "en",
            {"Karen Millbrook", "Dave Millbrook"},
        ),
        (
            "<p>Ihre Gastgeber Monika und Peter Hallbach</p>",
            "de",
            {"Monika Hallbach", "Peter Hallbach"},
        ),
        # A quotation is the business's own if it is signed with a role in it.
        (
            "<p>“We treat everybody like family here.” – Petra Novak, Founder</p>",  # noqa: RUF001 - as pages sign
            "en",
            {"Petra Novak"},
        ),
        # A button beside a name is no part of it.
        ("<h3>Petra Novak Book Now</h3><p>Stylist</p>", "en", {"Petra Novak"}),
        (
            "<h4>Robert Lang<span>View Profile</span></h4><p>Plumber</p>",
            "en",
            {"Robert Lang"},
        ),
        # Other cases of a name are no other people.
        (
            "<h3>Jana Nováková</h3><p>majitelka</p><p>Objednejte se k Janě Novákové.</p>",
            "cs",
            {"Jana Nováková"},
        ),
        (
            (
                "<h3>Jan Kowalczewski</h3><p>właściciel</p>"
                "<p>Firma Jana Kowalczewskiego działa od 1990.</p>"
            ),
            "pl",
            {"Jan Kowalczewski"},
        ),
        (
            "<h3>Matti Virtanen</h3><p>yrittäjä</p><p>Matti Virtasen yritys palvelee.</p>",
            "fi",
            {"Matti Virtanen"},
        ),
    ],
)
def test_a_name_in_one_of_its_forms_was_not_read(
    html: str, language: str, names: set[str]
) -> None:
    people, _ = read(html, language)

    assert {one.key for one in people} == keys(names)


@pytest.mark.parametrize(
    ("html", "path"),
    [
        (
            (
                "<p>Margherita Rossa (GF)</p><p>Caprese Verona (GF) 12.50</p>"
                "<p>Steak Diane (GF)</p><p>Victoria Royal (GF)</p>"
            ),
            "menu",
        ),
        ("<h4>Cesar Salad</h4><p>$9</p><h4>Penne Norma</h4><p>$12</p>", "menu"),
        ("<h3>Victoria Blouse</h3><p>€49</p><h3>Ralph Lauren</h3><p>Frames</p>", ""),
        ("<h3>Bella Rose</h3><p>Female, 8 weeks</p><p>Max Junior</p>", "puppies"),
        (
            "<ul><li>St. Clair Shores</li><li>Ann Arbor</li><li>Maria Alm</li></ul>",
            "areas",
        ),
        ("<h4>Front Desk</h4><p>01584 872111</p><h4>Parts Counter</h4>", "contact"),
        (
            (
                "<h2>Our team</h2><h3>Sarah Johnson</h3><p>Designer</p>"
                "<p>Write a short bio of this team member here.</p>"
            ),
            "about",
        ),
    ],
)
def test_dishes_goods_animals_towns_and_counters_were_people(
    html: str, path: str
) -> None:
    assert read(html, path=path)[0] == []


@pytest.mark.parametrize(
    ("html", "owned"),
    [
        # Two letters each.
        (
            (
                "<div><h3>Anna Berg</h3><p>Lawyer</p><p>kx@hillbrookco.com</p></div>"
                "<div><h3>Ole Lund</h3><p>Lawyer</p><p>pw@hillbrookco.com</p></div>"
            ),
            {"kx@hillbrookco.com": "Anna Berg", "pw@hillbrookco.com": "Ole Lund"},
        ),
        # "ak" is a law office's, and one pair of letters no custom.
        (
            "<div><h3>Ole Lund</h3><p>Advokát</p><p>ak@hillbrookco.com</p></div>",
            {"ak@hillbrookco.com": None},
        ),
        # Initials of three names, wherever they stand.
        (
            (
                "<h3>Anna Marie Berg</h3><p>Lawyer</p><h3>Ole Lund</h3><p>Lawyer</p><hr>"
                "<p>amb@hillbrookco.com</p>"
            ),
            {"amb@hillbrookco.com": "Anna Marie Berg"},
        ),
        # Who is called by the given name alone begins a card of their own.
        (
            (
                "<div><h3>Robert Lang</h3><p>Technician</p><h3>Maja</h3><p>Owner</p>"
                "<p>salon77@hillbrookco.com</p></div>"
            ),
            {"salon77@hillbrookco.com": None},
        ),
        (
            (
                "<h3>Petra Novak</h3><p>Owner</p><h2>Contact</h2><p>Find us.</p><p>a</p><p>b</p>"
                "<p>c</p><p>d</p><p>Call Petra: (512) 736-4401</p>"
            ),
            {"+15127364401": "Petra Novak"},
        ),
        (
            "<h3>William Lang</h3><p>Owner</p><hr><p>bill@hillbrookco.com</p>",
            {"bill@hillbrookco.com": "William Lang"},
        ),
    ],
)
def test_what_is_one_person_s_alone_was_nobody_s_or_a_neighbour_s(
    html: str, owned: dict[str, str | None]
) -> None:
    assert read(html)[1] == owned


@pytest.mark.parametrize(
    ("html", "roles"),
    [
        (
            (
                "<p>Name: Petra Novak</p><p>Title: Managing Partner</p>"
                "<p>Name: Robert Lang</p><p>Title: Associate</p>"
            ),
            {"petra novak": "Managing Partner", "robert lang": "Associate"},
        ),
        # Role, name, role, name: the end of the list says it.
        (
            "<p>Associate</p><p>Robert Lang</p><p>Managing Partner</p><p>Petra Novak</p>",
            {"petra novak": "Managing Partner", "robert lang": "Associate"},
        ),
        (
            "<p>Petra Novak (PN) : Managing director</p><p>Robert Lang (RL) : Surveyor</p>",
            {"petra novak": "Managing director", "robert lang": "Surveyor"},
        ),
        (
            "<p>Petra Novak founded the company in 1998.</p><h3>Robert Lang</h3><p>Welder</p>",
            {"petra novak": "Founder", "robert lang": "Welder"},
        ),
        (
            "<p>Hillbrook was founded by Petra Novak in 2010.</p>",
            {"petra novak": "Founder"},
        ),
        # A career is not a company.
        (
            "<h3>Petra Novak</h3><p>Petra Novak started her career in Leeds.</p>",
            {"petra novak": None},
        ),
    ],
)
def test_a_role_went_to_the_neighbour_or_was_not_read(
    html: str, roles: dict[str, str | None]
) -> None:
    assert {one.key: one.role for one in read(html)[0]} == roles


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("Managing Partner", "Partner"),
        ("Owner", "Co-Owner"),
        ("President", "Vice President"),
        ("Managing Director", "Branch Manager, Leeds"),
        ("Practice owner", "MD, FACS"),
        ("Owner", "Former owner"),
    ],
)
def test_who_leads_decides_though_who_shares_or_has_left_stands_above(
    first: str, other: str
) -> None:
    people, _ = read(
        f"<h3>Robert Lang</h3><p>{other}</p><h3>Petra Novak</h3><p>{first}</p>"
    )

    assert people[0].name == "Petra Novak"


def test_whom_the_law_makes_a_notice_name_decides_though_others_have_a_role() -> None:
    people, _ = read(
        "<h1>Impressum</h1><p>Angaben gemäß § 9 XYG</p><p>Petra Hallbach</p>"
        "<p>Lange Str. 5, 59368 Werne</p><h3>Robert Lang</h3><p>Steuerberater</p>",
        "de",
        "impressum",
    )

    assert (people[0].name, people[0].reason) == (
        "Petra Hallbach",
        "the legal notice names them alone",
    )


def test_two_letters_are_a_role_in_their_language_only() -> None:
    page = "<p>Petra Hallbach (GF)</p>"

    assert [one.role for one in read(page, "de")[0]] == ["GF"]
    assert [one.role for one in read(page, "en")[0]] in ([], [None])


def test_whose_an_address_is_is_less_sure_than_who_stands_beside_it() -> None:
    contacts = find_contacts(
        "<div><h3>Petra Novak</h3><p>Owner</p><p>x77@hillbrookco.com</p></div>",
        "https://hillbrookco.com/team",
    )
    (card,) = cards_of(contacts)
    (sure,) = (one for field, _, _, one in card.values if field == "name")

    assert card.name == "Petra Novak"
    assert sure < contacts.people[0].confidence


def test_a_role_follows_a_name_with_nothing_between() -> None:
    people, _ = read("<p>Nagy Zoltán ügyvezető</p>", "hu")

    assert [(one.name, one.role) for one in people] == [("Nagy Zoltán", "ügyvezető")]


def test_a_mobile_beside_a_name_is_theirs_though_the_office_is_near() -> None:
    _, owned = read(
        "<p>Bayside Plumbing<br>Oak Street 3<br>20457 Hamburg</p>"
        "<p>Owner Petra Novak +49 171 5550123</p>"
    )

    assert owned["+491715550123"] == "Petra Novak"


@pytest.mark.parametrize(
    ("language", "roles"),
    [
        ("fi", ["psykoterapeutti", "sähköasentaja", "puheenjohtaja"]),
        ("hu", ["fogszakorvos", "irodavezető", "könyvvizsgáló"]),
        ("cs", ["primář", "fakturantka", "vedoucí výroby"]),
        ("pl", ["pielęgniarka", "hydraulik", "biegły rewident"]),
        ("de", ["ZFA", "Versicherungsmakler", "Schriftführerin"]),
        ("fr", ["chauffagiste", "trésorière", "auxiliaire vétérinaire"]),
        ("nl", ["doktersassistente", "werkvoorbereider", "leerkracht"]),
        ("sv", ["platschef", "hudterapeut", "ledamot"]),
        ("da", ["sygeplejerske", "værkfører", "bestyrelsesmedlem"]),
        ("no", ["regnskapsfører", "anleggsleder", "nestleder"]),
        ("it", ["idraulico", "carrozziere", "tesoriere"]),
        ("es", ["fontanero", "aparejador", "auxiliar dental"]),
        ("pt", ["canalizador", "rececionista", "farmacêutica"]),
        ("ro", ["consilier juridic", "asistentă medicală", "contabil"]),
    ],
)
def test_what_somebody_does_is_read_in_their_language(
    language: str, roles: list[str]
) -> None:
    names = ["Anna Berg", "Petra Novak", "Maria Lund"]
    entries = zip(names, roles, strict=True)
    people, _ = read(
        "".join(f"<h3>{name}</h3><p>{role}</p>" for name, role in entries), language
    )

    assert {one.name: one.role for one in people} == dict(
        zip(names, roles, strict=True)
    )


@pytest.mark.parametrize(
    ("html", "language", "decider", "role"),
    [
        ("<h3>ANNA BERG</h3><p>OWNER</p>", "en", "ANNA BERG", "OWNER"),
        ("<p>Regina Berg Inhaberin</p>", "de", "Regina Berg", "Inhaberin"),
        (
            "<p>Virtanen Matti, toimitusjohtaja, 040 123 4567</p>",
            "fi",
            "Virtanen Matti",
            "toimitusjohtaja",
        ),
        ("<p>Today Anna Berg is the owner.</p>", "en", "Anna Berg", "owner"),
        ("<p>Anna Berg ist die Inhaberin.</p>", "de", "Anna Berg", "Inhaberin"),
    ],
)
def test_a_role_is_read_wherever_it_stands(
    html: str, language: str, decider: str, role: str
) -> None:
    people, _ = read(html, language)

    assert [(one.name, one.role) for one in people] == [(decider, role)]


def test_a_sentence_about_another_firm_makes_nobody_the_owner() -> None:
    people, _ = read("<p>Anna Berg is the owner of Stone Bank.</p>")

    assert not any(one.role for one in people)


def test_two_who_share_a_surname_share_what_stands_before_them() -> None:
    people, _ = read("<p>Owners Karen & Dave Millbrook</p>")

    assert {(one.name, one.role) for one in people} == {
        ("Karen Millbrook", "Owners"),
        ("Dave Millbrook", "Owners"),
    }


def test_the_address_below_a_name_nobody_could_read_is_not_of_who_stands_above() -> (
    None
):
    _, owned = read(
        "<div><h3>Anna Berg</h3><p>Partner</p><p>xb@hillbrookco.com</p></div>"
        "<div><h3>Petra Lund</h3><p>Partner</p><p>ql@hillbrookco.com</p>"
        "<h4>Karen Holm Krag</h4><p>zv@hillbrookco.com</p></div>"
    )

    assert owned["zv@hillbrookco.com"] != "Petra Lund"


def test_a_middle_surname_is_read_where_most_people_have_one() -> None:
    people, owned = read("<h3>Karen Holm Krag</h3><p>khk@hillbrookco.com</p>", "da")

    assert [one.name for one in people] == ["Karen Holm Krag"]
    assert owned["khk@hillbrookco.com"] == "Karen Holm Krag"


def test_who_is_only_mentioned_has_no_contact() -> None:
    people, owned = read(
        "<h2>Guests</h2><p>City of Waco - Dan Foster - 254-736-4401</p>"
        "<p>Baylor Hotel - Amy Ruiz - 254-736-4402</p>"
        "<p>Rio Homes - Joe Kern - 254-736-4403</p>",
        path="about",
    )

    assert people == []
    assert set(owned.values()) <= {None}


def test_a_craft_before_a_surname_is_a_firm() -> None:
    people, _ = read("<p>Jana Nováková</p><p>Kovářství Novák</p>", "cs")

    assert [one.name for one in people] == ["Jana Nováková"]


@pytest.mark.parametrize(
    "html",
    [
        (
            "<table><tr><th>Chair</th><td>Anna Berg</td></tr><tr><th>Treasurer</th>"
            "<td>Petra Lund</td></tr><tr><th>Secretary</th><td>Maria Holm</td></tr></table>"
        ),
        (
            "<table><tr><td>Anna Berg</td><td>Chair</td></tr><tr><td>Petra Lund</td>"
            "<td>Treasurer</td></tr><tr><td>Maria Holm</td><td>Secretary</td></tr></table>"
        ),
        (
            "<div><p>Chair</p><h3>Anna Berg</h3></div><div><p>Treasurer</p><h3>Petra Lund</h3>"
            "</div><div><p>Secretary</p><h3>Maria Holm</h3></div>"
        ),
    ],
)
def test_a_role_is_that_of_whoever_shares_its_row_or_card(html: str) -> None:
    people, _ = read(html)

    assert {one.name: one.role for one in people} == {
        "Anna Berg": "Chair",
        "Petra Lund": "Treasurer",
        "Maria Holm": "Secretary",
    }


def test_the_role_of_the_card_above_is_not_taken() -> None:
    people, _ = read(
        "<div><h3>Anna Berg</h3><p>solicitor</p></div>"
        "<div><h3>Petra Lund</h3><p>makes the tea</p></div>"
    )

    assert {one.name: one.role for one in people}["Petra Lund"] is None


@pytest.mark.parametrize(
    ("language", "html"),
    [
        ("cs", "<p>Majitelem firmy je Jiří Novák.</p>"),
        ("pl", "<p>Właścicielem firmy jest Jan Nowak.</p>"),
        ("nl", "<p>De eigenaar is Pieter de Vries.</p>"),
    ],
)
def test_a_sentence_that_begins_with_the_owner_makes_them_it(
    language: str, html: str
) -> None:
    people, _ = read(html, language)

    assert [one.role for one in people] == ["Owner"]


def test_the_team_that_a_design_kit_comes_with_is_nobody() -> None:
    people, _ = read(
        "<h3>Wade Warren</h3><p>CTO</p><h3>Jane Cooper</h3><p>CEO</p>"
        "<h3>Petra Lund</h3><p>Owner</p>"
    )

    assert [one.name for one in people] == ["Petra Lund"]
