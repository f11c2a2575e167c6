"""The tutorial's commands are run as they stand on the page, on a fresh installation."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sdk_tests.rig.port import free_port
from tests.cli.rig import CLEAN, COMMAND
from tests.how_to.running import running

PAGE = Path(__file__).parents[3] / "docs" / "tutorial" / "drive-it-with-curl.md"
pytestmark = pytest.mark.slow
COMMANDS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl here")
def test_the_tutorial_failed_at_step_6_on_a_fresh_install(
    scratch: Path, tmp_path: Path
) -> None:
    blocks = COMMANDS.findall(PAGE.read_text())
    home = {"SCRAPERSKY_DATA_DIR": str(scratch / f"tutorial-{os.getpid()}")}
    with running("up", {**home, "WORKER_PORT": free_port()}) as server:
        script = "\n".join(blocks).replace("http://127.0.0.1:8000", server.address)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={
                **CLEAN,
                **home,
                "PATH": f"{Path(COMMAND).parent}:{os.environ['PATH']}",
                "HOME": str(tmp_path),
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    reported = f"{done.stdout}\n{done.stderr}"
    assert done.returncode == 0, reported
    assert len(blocks) == 11
    assert '"accepted":2,"duplicates":0,"refused_count":1' in done.stdout
    assert "not a domain on the public internet" in done.stdout
    assert "problems/invalid-condition" in done.stdout
    exported = (tmp_path / "hubspot.csv").read_text(encoding="utf-8-sig")
    assert "ada@example.com,Ada,First" in exported
    assert (tmp_path / "contacts.xlsx").read_bytes().startswith(b"PK")
