"""Every way a fetch can end has a word, and every word is explained."""

from pathlib import Path

import pytest

from scrapersky.errors import FetchError

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "outcomes.md"
WORDS = (
    "too_slow too_big bad_http bad_tls blocked_addr blocked_scheme redirect_limit robots_denied "
    "trap not_html bad_xml backoff ok_partial ok dns_error connect_error bad_url unforeseen "
    "render_failed"
)


def all_errors(kind: type[FetchError] = FetchError) -> list[type[FetchError]]:
    return [
        one for child in kind.__subclasses__() for one in (child, *all_errors(child))
    ]


def rows() -> dict[str, list[str]]:
    """Return the table of the reference page, by error."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    cells = [
        [cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in lines
    ]
    return {row[1]: row for row in cells}


@pytest.mark.parametrize("error", all_errors(), ids=lambda error: error.__name__)
def test_the_reference_says_what_the_code_does(error: type[FetchError]) -> None:
    outcome, _, _, scope, retried = rows()[error.__name__]

    assert (outcome, scope, retried == "yes") == (
        error.outcome,
        error.scope,
        error.retryable,
    )


def test_the_words_are_those_agreed_on() -> None:
    found = {error.outcome for error in all_errors()} | {"ok", "ok_partial"}

    assert found == set(WORDS.split())
