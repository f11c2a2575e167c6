"""What is printed about a run, and what is not."""

import json
from pathlib import Path

from contact_extraction.measuring.corpus import Part, TrueSite
from contact_extraction.measuring.outcome import Measurement, Outcome
from contact_extraction.measuring.report import figures, interval, render
from contact_extraction.measuring.site_score import SiteScore
from scrapersky.cli.score_sites import details


def a_score(right: int, total: int, miss: str = "") -> SiteScore:
    """Make the score of a site."""
    score = SiteScore()
    for number in range(total):
        score.count("phone_recall", right=number < right)
    if miss:
        score.miss("phone missed", "a site", miss)
    return score


SITES = [
    TrueSite("seen.example", Path(), None),
    TrueSite("unseen.example", Path(), None, part=Part.SCORE),
]
SCORES = {
    "seen.example": a_score(1, 2, "the seen one"),
    "unseen.example": a_score(0, 3, "the secret one"),
}
MEASURED = Measurement(
    {site.name: Outcome(site.name) for site in SITES}, 1.0, 5.0, True
)


def test_the_misses_of_a_site_that_is_only_scored_were_listed() -> None:
    """Both parts have figures; only one has misses to read."""
    report = "\n".join(render(SITES, SCORES, MEASURED, misses=9))
    assert "the seen one" in report
    assert "the secret one" not in report
    parts = figures(SITES, SCORES, MEASURED)["parts"]
    assert parts["look"]["phone_recall"] == 0.5
    assert parts["score"]["phone_recall"] == 0


def test_an_interval_was_of_values_as_if_those_of_one_site_were_independent() -> None:
    """Two sites, one all right and one all wrong, say next to nothing."""
    assert interval([a_score(50, 50), a_score(0, 50)], "phone_recall") == (0.0, 1.0)
    assert interval([a_score(5, 5)], "phone_recall") == (1.0, 1.0)


def test_details_could_not_be_written_as_json() -> None:
    """Keys of two words are no keys of JSON."""
    found = Outcome("seen.example", sureness={("email", "a@seen.example"): 0.9})
    written = json.dumps(details(found, SiteScore()))
    assert '"confidence": 0.9' in written
