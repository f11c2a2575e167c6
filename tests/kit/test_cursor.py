"""Cursors: only ours, only of the same list, and nothing else opens them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.errors import InvalidCursor
from scrapersky.kit.cursor import read_cursor, write_cursor

KEY = b"k" * 32
SCOPE: list[Any] = ["tenant", "places", [], None, "name"]
VALUES = st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.text()


@given(st.lists(VALUES | st.floats(allow_nan=False, allow_infinity=False)))
def test_a_cursor_brings_back_what_was_put_in(place: list[Any]) -> None:
    assert read_cursor(KEY, SCOPE, write_cursor(KEY, SCOPE, place)) == place


@pytest.mark.parametrize(
    ("key", "scope"),
    [
        (b"x" * 32, SCOPE),
        (KEY, ["other", *SCOPE[1:]]),
        (KEY, [*SCOPE[:-1], "-name"]),
        (KEY, SCOPE[:-1]),
        (KEY, [SCOPE]),
    ],
)
def test_a_cursor_opens_no_other_list(key: bytes, scope: Any) -> None:
    cursor = write_cursor(KEY, SCOPE, ["Ada", "id"])

    with pytest.raises(InvalidCursor):
        read_cursor(key, scope, cursor)


@given(st.text(max_size=200) | st.binary(max_size=200).map(bytes.hex))
def test_nothing_made_elsewhere_is_a_cursor(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        read_cursor(KEY, SCOPE, cursor)


@given(st.integers(0, 60), st.characters(codec="ascii"))
def test_a_changed_cursor_is_none(at: int, letter: str) -> None:
    cursor = write_cursor(KEY, SCOPE, ["Ada", "0b6c", 17, True])
    changed = cursor[:at] + letter + cursor[at + 1 :]
    if changed.rstrip("=") == cursor:
        return

    try:
        found = read_cursor(KEY, SCOPE, changed)
    except InvalidCursor:
        return
    # The last letter of base64 has bits that mean nothing.
    assert found == ["Ada", "0b6c", 17, True]
