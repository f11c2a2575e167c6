"""Excel workbooks as CSV: one sheet, its values, within bounds.

A workbook is a packed folder of XML, which is easily made to fill a machine. It is read in
a process of its own (`workbook_reader.py`), which may take neither more memory nor more time
than a large list needs.
"""

import subprocess
import sys
from pathlib import Path
from typing import Final
from zipfile import is_zipfile

from scrapersky.errors import InvalidImport

ZIP_MAGIC: Final = b"PK\x03\x04"
MAX_BYTES: Final = 50 * 1024**2
"""Bytes of a workbook."""
MAX_ROWS: Final = 1_048_576
"""What a sheet of Excel holds."""
READER: Final = "scrapersky.kit.workbook_reader"
NOT_READABLE: Final = 3
"""The exit status for a file that is not a workbook, or is hostile."""
NO_WORKBOOK: Final = "The file is a zip archive or a damaged workbook, not a list."
HINT: Final = "Save it as CSV (UTF-8)."


def as_table(book: Path, table: Path, rows: int = MAX_ROWS) -> None:
    """Write the first rows of a workbook's first sheet as CSV, each on the line of its number.

    Raises InvalidImport for a file that is not a workbook, or is hostile.
    """
    if not is_zipfile(book):
        raise InvalidImport(NO_WORKBOOK, hint=HINT)
    made = subprocess.run(
        [sys.executable, "-m", READER, str(book), str(table), str(rows)],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if made.returncode == NOT_READABLE:
        raise InvalidImport(NO_WORKBOOK, hint=HINT)
    if made.returncode:
        raise InvalidImport("The workbook takes too much memory or time.", hint=HINT)
