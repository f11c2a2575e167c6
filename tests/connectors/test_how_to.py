"""The how-to of connectors, word by word: its file passes the conformance suite."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "how-to" / "add-a-connector.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
CONNECTOR = ROOT / "src" / "scrapersky" / "connectors" / "notebook.py"


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """Write the files of the how-to, beside the sources and not among them."""
    connector, suite = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    (tmp_path / "notebook.py").write_text(connector, encoding="utf-8")
    loaded = (
        "import importlib.util, sys\n"
        f"place = {str(tmp_path / 'notebook.py')!r}\n"
        f"made = importlib.util.spec_from_file_location('{NAME}', place)\n"
        f"sys.modules['{NAME}'] = module = importlib.util.module_from_spec(made)\n"
        "made.loader.exec_module(module)\n"
    )
    (tmp_path / "test_notebook.py").write_text(loaded + suite, encoding="utf-8")
    return tmp_path


NAME = "scrapersky.connectors.notebook"


def test_the_connector_of_the_how_to_passes_the_conformance_suite(
    written: Path,
) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"),
         str(written / "test_notebook.py")],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert re.search(r"2[0-9] passed", done.stdout), done.stdout[-500:]


def test_the_connector_of_the_how_to_is_clean_and_short(written: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--config",
        str(ROOT / "pyproject.toml"),
    ]
    where = ["--stdin-filename", str(CONNECTOR), "-"]
    source = (written / "notebook.py").read_text(encoding="utf-8")

    done = subprocess.run(
        [*command, *where],
        input=source,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    assert len(source.splitlines()) < 250


@pytest.mark.parametrize("has_keys", [False, True])
def test_the_tests_of_a_real_account_are_there_only_where_its_keys_are(
    *, has_keys: bool
) -> None:
    keys = {*re.findall(r"LIVE_[A-Z]+_[A-Z]+", GUIDE.read_text(encoding="utf-8"))}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"]

    done = subprocess.run(
        [*command, "--collect-only", "tests/connectors/live"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
        env=dict(os.environ) | (dict.fromkeys(keys, "1") if has_keys else {}),
    )  # fmt: skip

    suites = Counter(re.findall(r"::(TestLive\w+)::", done.stdout))
    named = {key.split("_")[1].capitalize() for key in keys} if has_keys else set()
    assert {*suites} == {f"TestLive{one}" for one in named}
    assert len({*suites.values()}) <= 1
    assert "skipped" not in done.stdout
