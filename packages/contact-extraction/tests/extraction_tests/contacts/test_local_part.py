"""What stands before the sign is taken as a whole or not at all.

`am&p@fern.org` was once stored as `p@fern.org`, who is somebody else.
"""

from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from contact_extraction.contacts.email import addresses_in
from contact_extraction.contacts.finder import find_contacts
from contact_extraction.email_quality import is_role

SIGNS = "!#$%&'*+-/=?^_`{|}~.\u2019\u2011"
"""What may stand inside a local part, and what typesetting makes of two of them."""


def found(html: str) -> list[str]:
    emails = find_contacts(html, "https://acme.com/").emails
    return sorted(email.address for email in emails)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("'", "&#39;")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param("<p>Write to {html} today</p>", id="text"),
        pytest.param("<p>({html})</p>", id="brackets"),
        pytest.param('<a href="mailto:{url}">Mail</a>', id="mailto"),
        pytest.param("<a href='mailto:{html}'>Mail</a>", id="mailto, not escaped"),
        pytest.param('<a href="mailto:?to={url}&subject=x">Mail</a>', id="to="),
        pytest.param("<img alt='{html}' src='a.png'>", id="image"),
        pytest.param("<a data-email='{html}'>Mail</a>", id="attribute"),
        pytest.param('<script>m = "{script}";</script>', id="script"),
        pytest.param(
            '<script type="application/ld+json">'
            '{{"@type": "Dentist", "email": "{script}"}}</script>',
            id="JSON-LD",
        ),
        pytest.param("<p>{spelt}</p>", id="bracketed sign"),
        pytest.param("<p>{worded}</p>", id="in words"),
        pytest.param("<p>{spaced}</p>", id="spaced sign"),
    ],
)
def test_the_end_of_a_longer_local_part_was_taken_for_an_address(page: str) -> None:
    assert {sign: wrong for sign in SIGNS if (wrong := parts_taken(page, sign))} == {}


def parts_taken(page: str, sign: str) -> set[str]:
    """Return what is read in a page beside the whole of an address with a sign in it."""
    whole = f"am{sign}pia@fern.org"
    html = page.format(
        html=escaped(whole),
        url=quote(whole, safe="@"),
        script=whole,
        spelt=escaped(whole.replace("@", " [at] ")),
        worded=escaped(whole.replace("@", " at ").replace(".org", " dot org")),
        spaced=escaped(whole.replace("@", " @ ")),
    )
    return {*found(html)} - {whole.replace("\u2019", "'").replace("\u2011", "-")}


@given(
    left=st.text("abxyz09._-", min_size=1, max_size=8),
    signs=st.text(SIGNS, min_size=1, max_size=3),
    right=st.text("abxyz09._-", min_size=1, max_size=8),
)
def test_no_end_of_a_legal_local_part_is_an_address(
    left: str, signs: str, right: str
) -> None:
    whole = f"q{left}k{signs}q{right}k"
    assume(not is_role(f"q{right}k"))
    typed = whole.replace("\u2019", "'").replace("\u2011", "-")

    assert {one for _, _, one in addresses_in(f"{whole}@fern.org")} <= {
        f"{typed}@fern.org"
    }


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("r&d@fern.org", "r&d@fern.org"),
        ("o'brien@fern.org", "o'brien@fern.org"),
        ("O\u2019Brien@fern.org", "o'brien@fern.org"),
        ("anna\u2011maria@fern.org", "anna-maria@fern.org"),
        ("jo+news@fern.org", "jo+news@fern.org"),
        # Signs around an address.
        ("'jo@fern.org'", "jo@fern.org"),
        ("\u2018jo@fern.org\u2019", "jo@fern.org"),
        ("*jo@fern.org*", "jo@fern.org"),
        ("|jo@fern.org|", "jo@fern.org"),
        ("Mail: /jo@fern.org", "jo@fern.org"),
        ("Tel. 040 123 / jo@fern.org", "jo@fern.org"),
        ("Contact\u2013jo@fern.org", "jo@fern.org"),
        # Labels.
        ("E-Mail/jo@fern.org", "jo@fern.org"),
        ("Telefax/E-Mail/jo@fern.org", "jo@fern.org"),
        ("e-mail:jo@fern.org", "jo@fern.org"),
        ("Mail=jo@fern.org", "jo@fern.org"),
        ("Kontakt|jo@fern.org", "jo@fern.org"),
        ("Email?jo@fern.org", "jo@fern.org"),
        ("E-Mail/r&d@fern.org", "r&d@fern.org"),
        # One function or another: what follows the slash is a shared inbox.
        ("sales/info@fern.org", "info@fern.org"),
        ("info/office@fern.org", "office@fern.org"),
        ("Questions?info@fern.org", "info@fern.org"),
        ("Hello!office@fern.org", "office@fern.org"),
        # URLs.
        ("https://fern.org/contact/jo@fern.org", "jo@fern.org"),
        ("https://fern.org/a?email=jo@fern.org&x=1", "jo@fern.org"),
        ("/send?x=1&u=jo@fern.org", "jo@fern.org"),
        ("https://fern.org/send?jo@fern.org", "jo@fern.org"),
        ("https://fern.org/#jo@fern.org", "jo@fern.org"),
        # What is left of an entity.
        ("&nbspjo@fern.org", "jo@fern.org"),
        ("Mail&nbspjo@fern.org", "jo@fern.org"),
        ("&nbsp;jo@fern.org", "jo@fern.org"),
        # Neither whole nor a part: nobody can know.
        ("a/b@fern.org", None),
        ("Anna/jo@fern.org", None),
        ("x?y@fern.org", None),
        ("a=b@fern.org", None),
        ("a&b=c@fern.org", None),
        ("prvs=0123456789=jo@fern.org", None),
        ("SRS0=a1=b2=acme.com=jo@fern.org", None),
        ("https://fern.org/a?email=am&p@fern.org", None),
        ("https://fern.org/a?email=am%26p@fern.org", None),
        ("{name}@fern.org", None),
        ("${user}.jo@fern.org", None),
        ("am\\u0026p@fern.org", None),
        ("am\\x26p@fern.org", None),
        (f"{'a' * 60}/{'b' * 10}@fern.org", None),
        (f"{'a' * 190}/jo@fern.org", None),
    ],
)
def test_what_is_read_of_a_text_with_signs_before_the_at(
    text: str, address: str | None
) -> None:
    assert [one for _, _, one in addresses_in(text)] == ([address] if address else [])


@pytest.mark.parametrize(
    ("html", "address"),
    [
        ('<a href="mailto:jo@fern.org?subject=a/b">M</a>', "jo@fern.org"),
        ('<a href="mailto:jo@fern.org?subject=am&p">M</a>', "jo@fern.org"),
        ('<a href="mailto:a/b@fern.org">M</a>', "a/b@fern.org"),
        ('<a href="mailto:a=b@fern.org">M</a>', "a=b@fern.org"),
        ('<a href="mailto:E-Mail/jo@fern.org">M</a>', "jo@fern.org"),
        ('<a href="mailto://jo@fern.org">M</a>', "jo@fern.org"),
        ('<a href="mailto:&nbspjo@fern.org">M</a>', "jo@fern.org"),
        ("<p>am&amp;p@fern.org</p>", "am&p@fern.org"),
        ("<p>am&p@fern.org</p>", "am&p@fern.org"),
        ("<p>Mail&nbspjo@fern.org</p>", "jo@fern.org"),
        ("<p>E-Mail/jo [at] fern.org</p>", "jo@fern.org"),
    ],
)
def test_what_is_read_of_markup_with_signs_before_the_at(
    html: str, address: str
) -> None:
    assert found(html) == [address]


def test_a_path_with_an_address_in_it_is_not_a_mail_link() -> None:
    assert found('<a href="/contact/jo@fern.org">Page</a>') == []
