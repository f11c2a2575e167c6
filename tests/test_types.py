"""The other type checker finds the same mistakes where a stage is declared or used."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import page
from sdk_tests.test_types import DECLARED, HEAD, MISTAKES, PACKAGE, file_name

PYRIGHT = "pyright@1.1.414"
pytestmark = pytest.mark.slow


def test_pyright_finds_the_mistakes_and_nothing_in_what_is_right(
    tmp_path: Path,
) -> None:
    right = tmp_path / "declared.py"
    right.write_text(DECLARED.read_text())
    for name, (mistake, _) in MISTAKES.items():
        (tmp_path / file_name(name)).write_text(f"{HEAD}\n{mistake}\n")
    paths = [str(PACKAGE / folder) for folder in ("src", "tests")]
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": paths}))

    done = subprocess.run(
        [
            *map(str, page.npm()), "exec", "--yes", f"--package={PYRIGHT}", "--",
            "pyright", "--outputjson", "--pythonpath", sys.executable,
        ],
        cwd=tmp_path,
        env=os.environ | page.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )  # fmt: skip

    found = json.loads(done.stdout)["generalDiagnostics"]
    wrong = {Path(one["file"]).name for one in found if one["severity"] == "error"}
    assert wrong == {file_name(name) for name in MISTAKES}, done.stderr
