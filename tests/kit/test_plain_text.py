"""What strangers write is shown as text, whatever a terminal would make of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.kit.plain_text import plain_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Café Ø 東京 🦷", "Café Ø 東京 🦷"),
        ("a\x1b[31mb\x1b[0m", "ab"),
        ("a\x9b31mb", "ab"),
        ("\x1b]8;;https://evil.example\x1b\\Dentist\x1b]8;;\x1b\\", "Dentist"),
        ("\x1b]0;title\x07Dentist", "Dentist"),
        ("\x1bP+q544e\x1b\\Dentist", "Dentist"),
        ("\x1bcDentist", "Dentist"),
        ("Dentist\x1b", "Dentist"),
        ("a\r\nb\tc\x85d", "a  b c d"),
        ("a\u202egnp.exe\u200b", "agnp.exe"),
        ("a\x00\x07\x08\x7fb", "ab"),
        ("[bold]b[/bold]", "[bold]b[/bold]"),
    ],
)
def test_a_text_is_left_and_nothing_else(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@given(st.text())
def test_what_is_left_can_be_printed_and_is_left_as_it_is(text: str) -> None:
    plain = plain_text(text)

    assert plain.isprintable()
    assert plain_text(plain) == plain
