"""Cells: shown by a spreadsheet, never run, and read back as they were."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapersky.kit.cell import (
    FORMULA,
    LONGEST_CELL,
    csv_cell,
    harmless,
    restored,
    xlsx_cell,
)
from scrapersky.records.status import CurationStatus

SIGNS = st.sampled_from("=+-@\t\r\n'\" \ufeff\uff1d\uff0b\uff0d\uff20\u00a0a1|")
HOSTILE = st.text(SIGNS, max_size=8) | st.text(max_size=20)


@given(HOSTILE.map(lambda text: text.replace("\x00", "")))
def test_what_was_made_harmless_is_read_back_unchanged(text: str) -> None:
    assert restored(str(harmless(text))) == text


@given(HOSTILE)
def test_no_cell_begins_like_a_formula(text: str) -> None:
    cell = str(csv_cell(text) or "")
    bare = cell.lstrip(' "\u00a0\ufeff')

    is_phone = bare[:1] == "+" and bare[1:].replace(" ", "").isdecimal()
    assert is_phone or not bare.startswith(FORMULA)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, "true"),
        (0.5, 0.5),
        (Decimal("1.50"), 1.5),
        (["a", "b"], "a; b"),
        ([], None),
        ({}, None),
        ({"a": ["b"]}, '{"a":["b"]}'),
        (CurationStatus.NOT_A_FIT, "Not a Fit"),
        (datetime(2026, 11, 15, 4, 5, 6, tzinfo=UTC), "2026-11-15T04:05:06+00:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (["=1"], "'=1"),
        ("+44 20 7946 0018", "+44 20 7946 0018"),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
    ],
)
def test_every_kind_of_value_has_its_cell(value: object, written: object) -> None:
    assert csv_cell(value) == written


def test_a_workbook_keeps_texts_as_texts_and_times_without_a_zone() -> None:
    moment = datetime(2026, 11, 15, 4, 5, 6, tzinfo=UTC)

    assert xlsx_cell("=1+1") == "=1+1"
    assert xlsx_cell(moment) == moment.replace(tzinfo=None)
    assert xlsx_cell("x" * 40_000) == "x" * LONGEST_CELL
