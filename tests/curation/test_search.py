"""Which part of a word an index is asked for."""

import pytest

from scrapersky.curation.search import rarest_part


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("smiles", "smiles"),
        ("smiles.dental", "smiles."),
        ("abc.photography", "abc."),
        ("www.smiles.com", ".smiles."),
        ("info@site77.example", "@site77."),
        ("page-c4ca", "-c4ca"),
        ("2024-smiles", "-smiles"),
        ("team.html", "team."),
        ("ab.example", ".example"),
        ("e2-smiles", "-smiles"),
        ("...", ""),
    ],
)
def test_the_index_is_asked_for_the_part_that_is_probably_rare(
    word: str, part: str
) -> None:
    assert rarest_part(word) == part
