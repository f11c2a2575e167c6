"""One cell of a table: shown by a spreadsheet, never run, and read back unchanged."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from uuid import UUID

import orjson

LONGEST_CELL = 32_767
"""Letters that a cell of Excel holds."""
QUOTE = "'"
BEFORE_FORMULA = " \"'\u00a0\ufeff\x00"
"""What a spreadsheet, or a person, may take away before it looks for a formula."""
FORMULA = (*"=+-@\t\r\n\x0b\x0c\x00", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What makes a spreadsheet take a cell for a formula, full-width forms too."""

Cell = str | float | bool | datetime | date | None


def cell_of(value: object) -> Cell:
    """Write any value of a record as one cell."""
    match value:
        case None | bool() | int() | float() | datetime():
            return value
        case Enum():
            return str(value.value)
        case str():
            return value
        case Decimal():
            return float(value)
        case UUID() | date():
            return str(value)
        case list() | tuple():
            return "; ".join(map(str, value)) or None
        case Mapping():
            return orjson.dumps(value, default=str).decode() if value else None
    return str(value)


def csv_cell(value: object) -> object:
    """Write a value for a CSV file: times in one form, and nothing that runs."""
    # Most cells by far are nothing, a number, or begin with a letter: a million rows
    # have thirty million of them.
    if value is None or type(value) is float:
        return value
    if type(value) is str and value[:1].isalnum():
        return value
    cell = cell_of(value)
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).isoformat(timespec="seconds")
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return harmless(cell)


def xlsx_cell(value: object) -> Cell:
    """Write a value for a workbook, where a text stays a text whatever it begins with."""
    if value is None or type(value) is float:
        return value
    if type(value) is str and len(value) <= LONGEST_CELL:
        return value
    if type(value) is date:
        return value
    cell = cell_of(value)
    if isinstance(cell, datetime):
        # Excel knows no time zones; all of ours are UTC.
        return cell.astimezone(UTC).replace(tzinfo=None)
    return cell[:LONGEST_CELL] if isinstance(cell, str) else cell


def harmless(value: object) -> object:
    """Write a value so that a spreadsheet shows it and never runs it.

    A phone number keeps its plus: digits after it are not a formula.
    """
    if not isinstance(value, str):
        return value
    cleaned = value.replace("\x00", "")
    return f"{QUOTE}{cleaned}" if is_dangerous(cleaned) else cleaned


def restored(value: str) -> str:
    """Return what was written before `harmless` made it so."""
    bare = value[1:]
    return bare if value.startswith(QUOTE) and is_dangerous(bare) else value


def is_dangerous(text: str) -> bool:
    """Say whether a spreadsheet might take a text for a formula."""
    bare = text.lstrip(BEFORE_FORMULA)
    if bare.startswith("+") and bare[1:].replace(" ", "").isdecimal():
        return False
    return bare.startswith(FORMULA) or text.startswith(FORMULA)
