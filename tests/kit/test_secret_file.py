"""Secrets that are kept in a file."""

import os
from pathlib import Path

import pytest

from scrapersky.db.embedded import first_closed
from scrapersky.kit.secret_file import make_secret


@pytest.mark.skipif(os.geteuid() != 0, reason="root's PostgreSQL is another user's")
def test_a_key_made_first_closed_the_data_directory_to_the_database(
    tmp_path: Path,
) -> None:
    for directory in (tmp_path, *tmp_path.parents[:-2]):
        directory.chmod(directory.stat().st_mode | 0o011)
    key = tmp_path / "data" / "encryption.key"

    make_secret(key)

    assert first_closed(key.parent) is None
    assert key.stat().st_mode & 0o077 == 0
    assert key.parent.stat().st_mode & 0o066 == 0
