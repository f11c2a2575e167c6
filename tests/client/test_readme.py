"""The first program of the client's README, against a server of real processes over the town."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scrapersky_client import ScraperSky
from tests.how_to.running import running

README = Path(__file__).parents[2] / "packages/scrapersky-client/README.md"
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IN_THE_TOWN = '{"location": "Seven Quays", "source": "demo"}'
pytestmark = pytest.mark.slow


def run_program(code: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_first_program_lists_companies_and_then_only_changes(
    scratch: Path, tmp_path: Path
) -> None:
    (program,) = PROGRAM.findall(README.read_text())
    assert len(program.splitlines()) <= 20
    searched = '{"business_type": "dentists", "location": "Austin, TX"}'
    assert searched in program
    home = {"SCRAPERSKY_DATA_DIR": str(scratch / f"client-{os.getpid()}")}
    # Its code also says whether it had found everything when it was stopped.
    with running("demo", home, "--stay", "--size", "12", codes=(0, 1)) as server:
        code = (
            program.replace(searched, IN_THE_TOWN)
            .replace("http://127.0.0.1:8000", server.address)
            .replace(', key="ssk_..."', "")
        )
        first = run_program(code, tmp_path)
        with ScraperSky(server.address) as sky:
            company = next(sky.pages(sky.list_companies))
            sky.set_company_status({"ids": [company["id"]], "status": "Contacted"})
        again = run_program(code, tmp_path)

    assert any("'state': 'finished'" in line for line in first), first[-5:]
    assert any("@" in line and line[0] != "{" for line in first)
    changed = [line for line in again if company["id"] in line]
    assert len(changed) == 1
    assert "lead_status" in changed[0]
