import os
import time
from functools import cache

import pytest

from contact_extraction.contacts.email.script import written_by_script

SIZE = 60_000 if os.environ.get("TEST_WHOLE_SIZES") else 20_000
ORDINARY = "@" + "var mail = 'info' + at + 'acme.com', count = 3\n" * (SIZE // 48)


@pytest.mark.parametrize(
    "source",
    [
        "document.write(['info', 'acme.com'].join('@'));",
        "x = ['info', '@', 'acme.com'].join('');",
        "var u = 'info'; document.write(u + '@' + 'acme' + '.' + 'com');",
        "m = 'moc.emca@ofni'.split('').reverse().join('');",
    ],
)
def test_a_joined_address_is_read_without_running_the_script(source: str) -> None:
    assert "info@acme.com" in list(written_by_script(source))


def test_sums_inside_an_array_are_not_taken_apart_by_its_separator() -> None:
    written = list(written_by_script("['in' + 'fo', 'acme.com'].join('@');"))

    assert "fo@acme.com" not in " ".join(written).replace("info@acme.com", "")


def test_an_address_in_a_very_long_string_is_found() -> None:
    text = "<p>words</p>" * 400 + "info@acme.com"

    written = list(written_by_script(f'var page = "{text}";'))

    assert any(text.endswith("info@acme.com") for text in written)


@pytest.mark.parametrize(
    "unit", ["\\'", '\\"', "\\`", "/* ", "\\\n\\'", "'\\", "\\'\\\"", "'`\\\""]
)
def test_open_quotes_cost_no_more_than_an_ordinary_script(unit: str) -> None:
    ratio = _cpu(f"@'{unit * (SIZE // len(unit))}") / _cpu(ORDINARY)

    # It was above a hundred when each quote was followed for 2,000 characters.
    assert ratio < 10


@cache
def _cpu(source: str) -> float:
    """Return the least of three runs: a busy machine only adds."""
    return min(_cpu_once(source) for _ in range(3))


def _cpu_once(source: str) -> float:
    started = time.process_time()
    for _ in written_by_script(source):
        pass
    return time.process_time() - started
