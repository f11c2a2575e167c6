"""Everything that was ever found by fuzzing is read again, and a minute more in long runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.target import TARGETS, run

CORPUS = Path(__file__).parent / "corpus"
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", TARGETS)
def test_no_parser_falls_over_what_is_in_its_corpus(name: str) -> None:
    files = sorted((CORPUS / name).iterdir())

    for path in files:
        run(name, path.read_bytes())

    assert files


@pytest.mark.long
def test_no_parser_falls_over_a_minute_of_rubbish() -> None:
    command = [sys.executable, "-m", "scripts.fuzz", "--seconds", "60"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
