"""Exports as a spreadsheet program shows them: LibreOffice opens them, where it is installed."""

import shutil
import subprocess
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from scrapersky.export.table import csv_bytes, xlsx_bytes

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("soffice") is None, reason="LibreOffice is not installed"
    ),
]

TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
COLUMNS = ("Company", "Phone", "Postal code", "First seen", "Call on", "Rating")
COMPANIES = (
    "Bäckerei Müller", "日本の会社 🍞", '"Quoted", with; signs', "two\nlines",
    "=1+1", "+1+1", "-2+3", "@SUM(1,1)", "=cmd|' /C calc'!A0", "'=1+1", "\t=1+1",
    '=HYPERLINK("http://evil.example","x")', "\uff1d1+1", " =1+1", "1/2", "1E5",
)  # fmt: skip


async def companies() -> AsyncGenerator[Sequence[Any], None]:
    yield [
        {
            "Company": company,
            "Phone": "+442079460018",
            "Postal code": "01067",
            "First seen": datetime(2026, 11, 1, 9, 30, 5, tzinfo=UTC),
            "Call on": date(2026, 11, 20),
            "Rating": 4.5,
        }
        for company in COMPANIES
    ]


COMMA_UTF8 = "--infilter=CSV:44,34,76,1"
"""What its dialog for text files offers for a file with our mark of UTF-8."""


def opened(file: Path, *options: str) -> ET.Element:
    """Let the program read a file, and write what it has understood."""
    subprocess.run(
        [
            "soffice",
            f"-env:UserInstallation=file://{file.parent}/profile",
            "--headless",
            *options,
            "--convert-to",
            "fods",
            "--outdir",
            file.parent,
            file,
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return ET.parse(file.with_suffix(".fods")).getroot()


def cells(document: ET.Element) -> list[dict[str, tuple[str | None, str]]]:
    """Return kind and text of every cell, by its heading."""
    heading, *rows = (
        [
            (cell.get(f"{OFFICE}value-type"), "".join(cell.itertext()).strip())
            for cell in row.iter(f"{TABLE}table-cell")
        ]
        for row in document.iter(f"{TABLE}table-row")
    )
    names = [text for _, text in heading]
    return [dict(zip(names, row, strict=False)) for row in rows if len(row) > 1]


def formulas(document: ET.Element) -> list[str]:
    return [found for cell in document.iter() if (found := cell.get(f"{TABLE}formula"))]


async def test_a_workbook_has_dates_texts_and_a_filter_and_runs_nothing(
    tmp_path: Path,
) -> None:
    file = tmp_path / "leads.xlsx"
    parts = xlsx_bytes(COLUMNS, companies(), title="leads", days=["Call on"])
    file.write_bytes(b"".join([part async for part in parts]))

    document = opened(file)

    rows = cells(document)
    assert formulas(document) == []
    assert {row["Company"][0] for row in rows} == {"string"}
    assert [row["Company"][1].replace("\n", "") for row in rows] == [
        name.replace("\n", "").strip() for name in COMPANIES
    ]
    assert {name: rows[0][name] for name in COLUMNS[1:]} == {
        "Phone": ("string", "+442079460018"),
        "Postal code": ("string", "01067"),
        "First seen": ("date", "2026-11-01 09:30:05"),
        "Call on": ("date", "2026-11-20"),
        "Rating": ("float", "4.5"),
    }
    (filtered,) = document.iter(f"{TABLE}database-range")
    assert filtered.get(f"{TABLE}display-filter-buttons") == "true"


async def test_a_csv_file_runs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "leads.csv"
    parts = csv_bytes(COLUMNS, companies())
    file.write_bytes(b"".join([part async for part in parts]))

    document = opened(file, COMMA_UTF8)

    rows = cells(document)
    assert formulas(document) == []
    assert [row["Company"] for row in rows[:2]] == [
        ("string", "Bäckerei Müller"),
        ("string", "日本の会社 🍞"),
    ]
    assert len(rows) == len(COMPANIES)
