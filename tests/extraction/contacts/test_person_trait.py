"""People are weighed by traits whose weights can be fitted anew."""

from pathlib import Path

import pytest

from scrapersky.extraction.contacts.chance import weights_of
from scrapersky.extraction.contacts.person import Clues, describe_people
from scrapersky.extraction.contacts.person.reader import WEIGHTS
from scrapersky.extraction.contacts.sheet import sheet_of
from scrapersky.extraction.html import parse_page
from scripts import fit_people

SITES = Path(__file__).parents[2] / "measuring" / "sites"
PAGE = """<title>Our team</title><nav>Anna Kestrel</nav><h1>Our team</h1>
<ul><li>Dr. Paul Adler, Owner</li></ul><h3>Sam Head</h3><p>a leading dermatologist</p>
<p>Photo: Mark Lindgren</p><h3>ANNA KESTREL</h3><p>Dentist</p><p>anna@kestrel.com</p>
<footer>John P. Smith, M.D.</footer>"""


def test_every_trait_has_a_weight() -> None:
    sheet = sheet_of(parse_page(PAGE))
    clues = Clues("https://kestrel.com/blog", ("Kestrel",), ("anna@kestrel.com",))

    described = describe_people(sheet, clues)

    assert len(described) > 3
    assert {t for _, traits in described for t in traits} <= {*weights_of(WEIGHTS)}


def test_the_weights_can_be_fitted_on_any_directory_of_annotated_sites(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fit_people", str(SITES)])

    fit_people.main()

    reported = capsys.readouterr().out
    assert "left out in turn, whole sites" in reported
    assert "confidence from" in reported
