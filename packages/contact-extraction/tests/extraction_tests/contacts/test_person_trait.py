"""People are weighed by traits whose weights can be fitted anew."""

from contact_extraction.contacts.chance import weights_of
from contact_extraction.contacts.page_text import page_text
from contact_extraction.contacts.person import PersonClues, describe_people
from contact_extraction.contacts.person.reader import WEIGHTS
from contact_extraction.html import parse_page

PAGE = """<title>Our team</title><nav>Anna Kestrel</nav><h1>Our team</h1>
<ul><li>Dr. Paul Adler, Owner</li></ul><h3>Sam Head</h3><p>a leading dermatologist</p>
<p>Photo: Mark Lindgren</p><h3>ANNA KESTREL</h3><p>Dentist</p><p>anna@kestrel.com</p>
<footer>John P. Smith, M.D.</footer>"""


def test_every_trait_has_a_weight() -> None:
    sheet = page_text(parse_page(PAGE))
    clues = PersonClues("https://kestrel.com/blog", ("Kestrel",), ("anna@kestrel.com",))

    described = describe_people(sheet, clues)

    assert len(described) > 3
    assert {t for _, traits in described for t in traits} <= {*weights_of(WEIGHTS)}
