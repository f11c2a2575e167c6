"""The page about proofs, followed on a town that the whole pipeline has been over."""

from pathlib import Path

import pytest

from tests.conftest import TestDatabase
from tests.how_to.guide import Shell, steps_of
from tests.proofs.conftest import copied, walked

__all__ = ["copied", "walked"]

PAGE = "prove-a-list.md"


@pytest.mark.slow
def test_the_page_about_proofs_can_be_followed(
    copied: TestDatabase, tmp_path: Path
) -> None:
    shell = Shell(tmp_path, DATABASE_URL=copied.dsn, SCRAPERSKY_DATA_DIR=tmp_path)

    steps = [(step, shell.follow(step)) for step in steps_of(PAGE)]

    assert [step.command.split()[1] for step, _ in steps] == [
        "export", "verify", "replay", "replay",
    ]  # fmt: skip
