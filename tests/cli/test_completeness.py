"""`scrapersky completeness`: a number where there is one, else the reason."""

import pytest

from scrapersky.cli.completeness import report
from scrapersky.reporting.capture import Overlap, estimate_total
from scrapersky.reporting.completeness import SearchCompleteness, ValueShare

BOTH = Overlap({frozenset("ab"): 60, frozenset("a"): 40, frozenset("b"): 20})
ONE = Overlap({frozenset("a"): 100})
VALUES = (ValueShare("email", 80, 0.93), ValueShare("phone", 70, None))


@pytest.mark.parametrize(
    ("overlap", "said"),
    [
        (BOTH, "120 found, 126 to 149 exist."),
        (ONE, "100 found. Only one source was asked (a)"),
    ],
)
def test_it_says_how_many_exist_or_why_nobody_can(
    overlap: Overlap, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report(SearchCompleteness(estimate_total(overlap), 100, VALUES))

    printed = capsys.readouterr().out
    assert printed.startswith(said)
    assert "80 of 100" in printed
    assert "93%" in printed
